"""Promises 6 and 7: main is always a tree that passed, every good candidate lands once, in order, whatever
is bad, conflicts, depends on something, or is killed meanwhile."""

from __future__ import annotations

import random
from itertools import combinations
from math import ceil, log2

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lineclear.app.log import audit
from lineclear.app.queue.candidates import check_records
from lineclear.core.log.tables import LANDING
from lineclear.core.queue.candidates import LANDED, LIVE, SENT_BACK, show_number
from tests.queueing import Killed, Scene

NAMES = "abcdefghij"


@st.composite
def plans(draw: st.DrawFn) -> dict[str, object]:
    names = NAMES[: draw(st.integers(1, len(NAMES)))]
    pairs = st.sampled_from(list(combinations(names, 2))) if len(names) > 1 else st.nothing()
    some_pairs = st.lists(pairs, max_size=2, unique=True) if len(names) > 1 else st.just([])
    return {
        "names": names,
        "bad": draw(st.sets(st.sampled_from(names), max_size=2)),
        "bad_pairs": draw(some_pairs),
        "conflicts": draw(some_pairs),
        "needs": dict(draw(some_pairs)),  # the first one of a pair is needed by the second: below
        "places": draw(st.integers(1, 4)),
        "batch": draw(st.integers(1, 8)),
        "seed": draw(st.integers(0, 1_000)),
        "flaky": draw(st.sampled_from([0, 30])),
        "kills": draw(st.sets(st.integers(0, 30), max_size=4)),
    }


class Killer:
    """Kills the runner at the instants that were drawn; each of them once."""

    def __init__(self, at: set[int]) -> None:
        self._at, self._now = set(at), 0

    def __call__(self, *_: object) -> None:
        self._now += 1
        if self._now in self._at:
            self._at.discard(self._now)
            raise Killed


@settings(max_examples=400, deadline=None)
@given(plans())
def test_main_always_passed_and_every_good_candidate_lands_once(plan: dict) -> None:  # type: ignore[type-arg]
    bad, pairs = plan["bad"], [frozenset(pair) for pair in plan["bad_pairs"]]

    def fails(tree: frozenset[str]) -> bool:
        return bool(tree & bad) or any(pair <= tree for pair in pairs)

    scene = Scene(
        fails, places=plan["places"], batch=plan["batch"], conflicts=plan["conflicts"],
        chance=random.Random(plan["seed"]),
    )  # fmt: skip
    needs = {later: earlier for earlier, later in plan["needs"].items()}
    numbers: dict[str, int] = {}
    for name in plan["names"]:
        after = [numbers[needs[name]]] if needs.get(name) in numbers else []
        numbers[name] = scene.submit(name, after=after)
    scene.checks.flaky_percent = plan["flaky"]
    killer = Killer(plan["kills"])
    scene.checks.on_wait, scene.git.on_move = killer, killer
    while True:
        try:
            scene.run()
        except Killed:
            scene.checks._running.clear()  # its checks died with it
            scene.checks._done.clear()
            continue
        break

    states, main = scene.states(), scene.git.at.split("+")
    assert all(state in (LANDED, SENT_BACK) for state in states.values()), states
    # Main passed, at each of its states; who landed is on it exactly once, and nobody else is.
    assert not fails(frozenset(main))
    assert main[0] == "main"
    assert sorted(main[1:]) == sorted(name for name, state in states.items() if state == LANDED)
    assert scene.store.read(lambda view: view.scan(LANDING, "key")) == []
    assert audit(scene.store)["findings"] == []
    if not plan["kills"]:  # a check that ended while its runner died was heard by nobody
        assert sum(record["flaky"] for record in scene.store.read(check_records)) == scene.checks.flakes
    # Who went back fails by itself, or quarrels with somebody who landed, or builds on what did not land.
    quarrels = [*plan["bad_pairs"], *plan["conflicts"]]
    for name in (name for name, state in states.items() if state == SENT_BACK):
        foes = {other for pair in quarrels if name in pair for other in pair} - {name}
        is_orphan = needs.get(name) in numbers and states[needs[name]] == SENT_BACK
        assert name in bad or foes & set(main) or is_orphan, (name, states)
    assert all(row.commit.endswith(f"+{row.branch}") for row in scene.rows() if row.state == LANDED)
    # What is needed came first.
    for later, earlier in needs.items():
        if earlier in numbers and numbers[earlier] < numbers[later] and later in main:
            assert main.index(earlier) < main.index(later)
    # Of two that do not go together at most one lands.
    for first, second in [*plan["bad_pairs"], *plan["conflicts"]]:
        assert not (first in main and second in main)


@settings(max_examples=200, deadline=None)
@given(st.integers(1, 24), st.data())
def test_the_number_of_checks_is_bounded(size: int, data: st.DataObject) -> None:
    """One worker: a search by halving for each that goes back, and one check for what is left."""
    bad = data.draw(st.sets(st.integers(0, size - 1), max_size=3))
    names = [f"n{number}" for number in range(size)]
    failing = {names[number] for number in bad}
    scene = Scene(lambda tree: bool(tree & failing), batch=32)
    for name in names:
        scene.submit(name)
    scene.run()
    halving = ceil(log2(size)) if size > 1 else 0
    assert scene.runs <= 1 + len(bad) * (2 + halving + 1) + 1
    assert {name for name, state in scene.states().items() if state == SENT_BACK} == failing


def runs_of(size: int, fails: frozenset[frozenset[str]]) -> tuple[int, Scene]:
    scene = Scene(lambda tree: any(group <= tree for group in fails))
    scene.submit("first")
    scene.run()  # main has passed its checks
    scene.runs = 0
    for number in range(1, size + 1):
        scene.submit(f"n{number}")
    scene.run()
    return scene.runs, scene


def test_sixteen_clean_candidates_need_one_check() -> None:
    runs, scene = runs_of(16, frozenset())
    assert runs == 1
    assert len(scene.landed()) == 17


@pytest.mark.parametrize("bad", range(1, 9))
def test_one_bad_of_eight_is_found_and_named(bad: int) -> None:
    runs, scene = runs_of(8, frozenset([frozenset([f"n{bad}"])]))
    row = scene.row(f"n{bad}")
    assert (row.state, row.kind, row.others) == (SENT_BACK, "check", "")
    assert "by itself" in row.reason
    assert len(scene.landed()) == 8
    assert runs <= 6


@pytest.mark.parametrize(("first", "second"), list(combinations(range(1, 9), 2)))
def test_of_a_bad_pair_the_earlier_lands_and_both_are_named(first: int, second: int) -> None:
    runs, scene = runs_of(8, frozenset([frozenset([f"n{first}", f"n{second}"])]))
    row = scene.row(f"n{second}")
    assert (row.state, row.kind) == (SENT_BACK, "check")
    assert row.others == str(scene.row(f"n{first}").id)
    assert f"{show_number(scene.row(f'n{first}').id)} (n{first})" in row.reason
    assert len(scene.landed()) == 8
    assert runs <= 9


def test_a_tree_that_passed_is_not_checked_again() -> None:
    _, scene = runs_of(3, frozenset())
    tree = scene.git.at
    scene.git.at = "main+first"  # somebody put main back, and the same branches come again
    for number in range(1, 4):
        scene.submit(f"n{number}")
    before = len(scene.checks.checked)
    scene.run()
    assert scene.git.at == tree
    assert len(scene.checks.checked) == before


def test_nothing_is_left_alive_that_could_be_decided() -> None:
    _, scene = runs_of(5, frozenset([frozenset(["n2"])]))
    assert not [row for row in scene.rows() if row.state in LIVE]
