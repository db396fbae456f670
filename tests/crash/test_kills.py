"""`kill -9` at every step of every writing command: nothing acknowledged is lost, nothing is half done,
and the same command sent again has its effect exactly once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from lineclear.core.tables import OPERATION
from tests.crash import proxy
from tests.crash.commands import OP, Command, commands
from tests.crash.faults import AFTER, BEFORE, TORN
from tests.crash.grounds import Entry, Ground, log_of
from tests.crash.jobs import Workshop, working
from tests.engines import ENGINES, Place, new_place
from tests.verbs import Desk

pytestmark = pytest.mark.slow
# A test that found fewer would not look where it should.
LEAST_POINTS = {"sqlite": 12, "postgres": 3}


@pytest.fixture(
    scope="module",
    params=[pytest.param(name, marks=pytest.mark.postgres if name == "postgres" else ()) for name in ENGINES],
)
def ground(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ground]:
    path: Path = tmp_path_factory.mktemp("ground")
    ground = Ground(new_place(request, path))
    yield ground
    ground.drop()


@pytest.fixture(scope="module")
def workshop(ground: Ground) -> Iterator[Workshop]:
    with working(*(["with postgres"] if ground.place.engine == "postgres" else [])) as workshop:
        yield workshop


def ways_to_die(engine: str, points: list[str]) -> list[tuple[int, str]]:
    """(point, how) of every death worth trying.

    Dying after a write and before the next step is one and the same unless an answer was given between.
    """
    ways: list[tuple[int, str]] = []
    for number, name in enumerate(points, start=1):
        ways.append((number, BEFORE))
        if engine == "postgres":
            ways += [(number, TORN), (number, proxy.UNANSWERED), (number, AFTER)]
        else:
            ways.append((number, TORN if name.startswith("write") else AFTER))
    return ways


def kinds(log: list[Entry]) -> list[Any]:
    return [entry[3] for entry in log]


@pytest.mark.parametrize("name", commands(0))
def test_a_command_killed_at_any_step_is_whole_or_not_there(
    ground: Ground, workshop: Workshop, name: str, record_property: Callable[[str, object], None]
) -> None:
    engine = ground.place.engine
    command = commands(ground.proposal)[name]
    clean = ground.copy()
    whole = workshop.run(clean, command)
    assert (whole.exit_code, len(whole.answers)) == (0, 1)
    assert "answer" in whole.answers[0], whole.answers
    expected = kinds(log_of(clean)[len(ground.log) :])
    assert len(whole.points) >= LEAST_POINTS[engine], whole.points

    ways = ways_to_die(engine, whole.points)
    tally = {"whole": 0, "not there": 0, "acknowledged": 0}
    for at, how in ways:
        place = ground.copy()
        outcome = workshop.run(place, command, at=at, how=how)
        # Who does not wait for the server (to ring, to say goodbye) may be gone before it can be killed.
        is_too_quick = engine == "postgres" and bool(outcome.answers)
        assert outcome.was_killed or is_too_quick, f"{name} passed {at} of {whole.points} ({how})"
        log = log_of(place)
        assert log[: len(ground.log)] == ground.log
        done = kinds(log[len(ground.log) :])
        assert done in ([], expected), f"{name} is half done after {how} {at} {whole.points[at - 1]}"
        if outcome.answers:
            tally["acknowledged"] += 1
            assert done == expected, f"{name} was acknowledged and is lost after {how} {at}"
        tally["whole" if done else "not there"] += 1
        is_stored = has_operation(place)
        if "op" in command[2]:
            assert is_stored or not (done or outcome.answers), "an effect without its stored answer"
        assert repeat(place, command).get("replayed", False) == is_stored
        assert kinds(log_of(place)[len(ground.log) :]) == expected
    record_property(
        "told",
        f"{engine} {name}: {len(whole.points)} fault points, {len(ways)} deaths, {tally['not there']} before the "
        f"commit, {tally['whole']} after it, {tally['acknowledged']} after the answer",
    )
    assert tally["not there"]
    assert tally["whole"] or not expected


def has_operation(place: Place) -> bool:
    """Is there a stored answer for a repeat?"""
    store = place.open()
    try:
        return store.read(lambda view: view.get(OPERATION, (OP,))) is not None
    finally:
        store.close()


def repeat(place: Place, command: Command) -> dict[str, Any]:
    """The same command again, as a caller does that never heard the answer."""
    verb, arguments, options = command
    desk = Desk(place.open(), place.liveness())
    try:
        answer: dict[str, Any] = desk.do(verb, *arguments, **options)["answer"]
        return answer
    finally:
        desk.store.close()
