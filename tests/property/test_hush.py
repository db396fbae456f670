"""The stub never lets an edit pass where lineclear would say a word, or do a thing, whatever others do.

lineclear itself is the oracle: where the stub was silent, it is asked the same, in the same situation. Others
act between two calls, and in the middle of one: after each of its looks at the store, and while somebody who
has lifted hushes has not committed yet.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lineclear.core.claims import EXCLUSIVE, INTENT, SHARED
from lineclear.core.refusals import Refusal
from lineclear.process.hush import Hushes
from lineclear.store.sqlite.engine import SqliteStore
from tests.hushing import TwoWays, settle_at_once
from tests.repository import TemporaryRepo, clean_environment
from tests.sampling import some

pytestmark = pytest.mark.slow

PATHS = ("a.py", "src/b.py")
RESOURCES = ("file:a.py", "file:src/b.py", "file:src/", "file:./", "file:**/*.py", "symbol:a.py#f", "value:K")
OTHERS = ("eve", "adam")

claiming = st.tuples(
    st.just("claim"),
    st.sampled_from(OTHERS),
    st.sampled_from(RESOURCES),
    st.sampled_from((SHARED, INTENT, EXCLUSIVE)),
    st.sampled_from((25_000, 45_000, 1_800_000)),
)
acting = st.one_of(
    claiming,
    st.tuples(st.just("release"), st.sampled_from(OTHERS)),
    st.tuples(st.just("say"), st.sampled_from(("claude-1", "", "adam"))),
    st.tuples(st.just("join")),
    st.tuples(st.just("time"), st.sampled_from((3, 15, 40, 700))),
    st.tuples(st.just("strategy"), st.sampled_from(("isolated", "read-only", "optimistic"))),
)
editing = st.tuples(st.sampled_from(("edit", "edit", "read")), st.sampled_from(PATHS))
during = st.tuples(
    st.just("during"), st.sampled_from(PATHS), st.integers(0, 9), claiming | st.just(("say", "claude-1"))
)
within = st.tuples(st.just("within"), st.sampled_from(PATHS), claiming | st.just(("say", "claude-1")))
STEPS = st.lists(st.one_of(editing, editing, acting, during, within), min_size=2, max_size=10)


def act(ways: TwoWays, step: tuple[Any, ...]) -> None:
    kind, given = step[0], step[1:]
    try:
        if kind == "edit":
            ways.pre(given[0])
        elif kind == "read":
            ways.ask("PostToolUse", ways.said("PostToolUse", ways.tree / given[0], tool="Read"))
        elif kind == "claim":
            ways.claim(given[0], given[1], given[2], given[3])
        elif kind == "release":
            ways.release(given[0])
        elif kind == "say":
            ways.say(given[0])
        elif kind == "join":
            ways.start("s2")
        elif kind == "time":
            ways.time_passes(given[0])
        elif kind == "strategy":
            text = f'[[strategy]]\nmatch = "a.py"\nstrategy = "{given[0]}"\n'
            (ways.repo.path / "lineclear.toml").write_text(text)
        elif kind == "during":
            with after_look(given[1], lambda: act(ways, given[2])):
                ways.pre(given[0])
        elif kind == "within":
            with before_commit(lambda: ways.pre(given[0])):
                act(ways, given[1])
    except Refusal:
        pass  # held by another: nothing happened


@contextmanager
def after_look(number: int, other: Callable[[], None]) -> Iterator[None]:
    """Somebody else acts right after this call's `number`th look at the store."""
    looks, plain = [0], SqliteStore.read

    def read(self: SqliteStore, work: Any, /) -> Any:
        result = plain(self, work)
        looks[0] += 1
        if looks[0] == number + 1:
            SqliteStore.read = plain  # type: ignore[method-assign]
            other()
        return result

    SqliteStore.read = read  # type: ignore[method-assign]
    try:
        yield
    finally:
        SqliteStore.read = plain  # type: ignore[method-assign]


class CannotWrite(Exception):
    """The hook would have had to wait for the writer in whose middle it runs."""


@contextmanager
def before_commit(hook: Callable[[], object]) -> Iterator[None]:
    """The hook runs when a writer has lifted hushes and has not committed yet."""
    lift, transact = Hushes.lift, SqliteStore.transact

    def refuse(_self: object, _caller: object, _work: object, _near: object = (), /) -> Any:
        raise CannotWrite

    def lift_and_wait(self: Hushes, whom: Any) -> None:
        lift(self, whom)
        Hushes.lift = lift  # type: ignore[method-assign]
        SqliteStore.transact = refuse  # type: ignore[method-assign]
        try:
            hook()
        except CannotWrite:
            pass
        finally:
            SqliteStore.transact = transact  # type: ignore[method-assign]

    Hushes.lift = lift_and_wait  # type: ignore[method-assign]
    try:
        yield
    finally:
        Hushes.lift = lift  # type: ignore[method-assign]


def check(ways: TwoWays) -> int:
    """How many calls the stub let pass, each of them rightly."""
    calls = (("PreToolUse", "Edit"), ("PostToolUse", "Edit"), ("PostToolUse", "Read"))
    return sum(ways.agrees(event, path, tool) for path in PATHS for event, tool in calls)


@settings(max_examples=some(25, share=2))
@given(STEPS)
def test_where_the_stub_is_silent_lineclear_has_nothing_to_say(steps: list[tuple[Any, ...]]) -> None:
    with pytest.MonkeyPatch.context() as patch, tempfile.TemporaryDirectory(prefix="lineclear-") as scratch:
        settle_at_once(patch)
        home = Path(scratch, "home")
        home.mkdir()
        ways = TwoWays(TemporaryRepo.create(Path(scratch, "repo"), clean_environment(home)))
        for step in steps:
            act(ways, step)
            check(ways)


def test_the_steps_do_lead_to_silence(repo: TemporaryRepo) -> None:
    """Else the test above could not fail."""
    ways = TwoWays(repo)
    for path in PATHS:
        act(ways, ("edit", path))
    assert check(ways) == 4
    act(ways, ("read", "a.py"))
    assert check(ways) == 6
    act(ways, ("during", "a.py", 3, ("claim", "eve", "file:a.py", INTENT, 1_800_000)))
    assert check(ways) == 4
