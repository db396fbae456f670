"""`kill -9` at every step of every writing command: nothing acknowledged is lost, nothing is half done,
and the same command sent again has its effect exactly once.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.crash.commands import OPEN, commands
from tests.crash.deaths import ways_to_die
from tests.crash.grounds import Ground, Inspector, kinds
from tests.crash.jobs import Workshop
from tests.sampling import some_of

pytestmark = pytest.mark.slow
# A test that found fewer would not look where it should.
LEAST_POINTS = {"sqlite": 12, "postgres": 3}


@pytest.mark.parametrize("name", commands(0))
def test_a_command_killed_at_any_step_is_whole_or_not_there(
    ground: Ground, workshop: Workshop, name: str, record_property: Callable[[str, object], None]
) -> None:
    engine, command = ground.place.engine, commands(ground.proposal)[name]
    clean = ground.copy()
    whole = workshop.run(clean, command)
    assert (whole.exit_code, len(whole.answers)) == (0, 1)
    assert "answer" in whole.answers[0], whole.answers
    assert len(whole.points) >= LEAST_POINTS[engine], whole.points
    with Inspector(clean) as inspector:
        expected = kinds(inspector.log()[len(ground.log) :])

    # All commands open the store alike: one of them is enough to die in the middle of that.
    first = 1 if name == "claim" else len(workshop.run(clean, OPEN).points)
    ways = some_of(ways_to_die(engine, whole.points, first))
    tally = {"before the commit": 0, "after it": 0, "after the answer": 0}
    for at, how in ways:
        place = ground.copy()
        outcome = workshop.run(place, command, at=at, how=how)
        # Who does not wait for the server (to ring, to say goodbye) may be gone before it can be killed.
        is_too_quick = engine == "postgres" and bool(outcome.answers)
        assert outcome.was_killed or is_too_quick, f"passed point {at} of {whole.points} ({how})"
        is_done = survey(
            ground, place, command, expected, bool(outcome.answers), f"{how} {at}: {whole.points}"
        )
        tally["after the answer" if outcome.answers else "after it" if is_done else "before the commit"] += 1
    assert tally["before the commit"]
    assert tally["after it"] + tally["after the answer"]
    counts = ", ".join(f"{count} {when}" for when, count in tally.items())
    record_property(
        "told", f"{engine} {name}: {len(whole.points)} fault points; {len(ways)} deaths: {counts}"
    )


def survey(
    ground: Ground, place: Any, command: Any, expected: list[str], was_answered: bool, where: str
) -> bool:
    """Check what a death has left, and that a repeat completes it; True if the command had been done."""
    with Inspector(place) as inspector:
        log = inspector.log()
        assert log[: len(ground.log)] == ground.log
        found = kinds(log[len(ground.log) :])
        assert found in ([], expected), f"half done after {where}"
        is_done = inspector.has_operation() if "op" in command[2] else bool(found)
        assert found == (expected if is_done else []), f"an effect without its stored answer after {where}"
        assert is_done or not was_answered, f"acknowledged and lost after {where}"

        again = inspector.repeat(command)
        if "op" in command[2]:
            assert again.get("replayed", False) == is_done
        assert kinds(inspector.log()[len(ground.log) :]) == expected, f"not exactly once after {where}"
    return is_done
