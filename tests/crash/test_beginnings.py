"""`kill -9` while a store is made, brought to a newer schema, or its WAL moved into the database; and while
a file is replaced.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from lineclear.core.words.refusals import Refusal
from tests.crash.commands import OPEN, Command
from tests.crash.deaths import ways_to_die, worst_ways_to_die
from tests.crash.faults import AFTER, BEFORE, POWERLESS
from tests.crash.grounds import Ground, Inspector, kinds, new_schema
from tests.crash.jobs import Workshop
from tests.engines import Place
from tests.repository import TemporaryRepo
from tests.sampling import IS_WHOLE, some_of

pytestmark = pytest.mark.slow
Tell = Callable[[str, object], None]
CREATE: Command = ("create", (), {})
UPGRADE: Command = ("upgrade", (), {})
AUDIT: Command = ("audit", (), {})


def refusal_on_opening(place: Place) -> str:
    """How a half-made store answers; "" when it opens. Never anything but a refusal."""
    try:
        place.open().close()
    except Refusal as refusal:
        return refusal.code
    return ""


def fresh(ground: Ground, path: Path, number: int) -> Place:
    """A place where nothing is yet."""
    if ground.place.engine == "sqlite":
        directory = path / f"fresh-{number}"
        return Place(f"sqlite:{directory}", str(directory))
    url = ground.place.spec.partition("#")[0]
    new_schema(url, f"fresh_{number}")
    return Place(f"{url}&options=-csearch_path%3Dfresh_{number}#repo", str(path))


def test_a_store_whose_making_was_killed_can_be_made_again(
    ground: Ground, workshop: Workshop, tmp_path: Path, record_property: Tell
) -> None:
    engine = ground.place.engine
    whole = workshop.run(fresh(ground, tmp_path, 0), CREATE)
    assert whole.answers == [{"answer": True}]
    found: set[str] = set()
    ways = some_of(worst_ways_to_die(engine, whole.points))
    for number, (at, how) in enumerate(ways, start=1):
        place = fresh(ground, tmp_path, number)
        outcome = workshop.run(place, CREATE, at=at, how=how)
        assert outcome.was_killed or outcome.answers
        refusal = refusal_on_opening(place)
        assert not (outcome.answers and refusal), f"made, and then {refusal} after {how} {at}"
        found.add(refusal)
        assert place.create() is (refusal != "") or engine == "sqlite"
        with Inspector(place) as inspector:
            assert inspector.log() == []
    known = {"sqlite": {"", "store.older", "store.unreadable"}, "postgres": {"", "store.missing"}}
    # A death after the commit is not in every share of them, and a busy server may commit after we look.
    assert found | {""} == known[engine]
    record_property("told", f"{engine} create: {len(whole.points)} fault points; {len(ways)} deaths")


def test_a_repository_whose_init_was_killed_can_be_initialised_again(
    sqlite_workshop: Workshop, repo: TemporaryRepo, record_property: Tell
) -> None:
    workshop = sqlite_workshop
    state = repo.path / ".git" / "lineclear"
    place = Place(f"sqlite:{state}", str(state))
    init: Command = ("init", (str(repo.path),), {})
    points = workshop.run(place, init).points
    own = [number for number, name in enumerate(points, start=1) if " db" not in name]
    assert len(own) >= 3, points
    for at in own:
        for how in (BEFORE, AFTER):
            shutil.rmtree(state)
            assert workshop.run(place, init, at=at, how=how).was_killed
            assert workshop.run(place, init, OPEN).answers[1] == {"answer": "sqlite"}
    record_property("told", f"init: {len(points)} fault points, {len(own)} of them outside of SQLite")


def test_an_upgrade_that_was_killed_has_happened_or_not(
    ground: Ground, workshop: Workshop, record_property: Tell
) -> None:
    engine = ground.place.engine
    whole = workshop.run(ground.copy_alone(), UPGRADE)
    assert whole.answers == [{"answer": False}]
    ways, tally = some_of(worst_ways_to_die(engine, whole.points)), {"store.newer": 0, "": 0}
    for at, how in ways:
        place = ground.copy_alone()
        outcome = workshop.run(place, UPGRADE, at=at, how=how)
        assert outcome.was_killed or outcome.answers
        refusal = refusal_on_opening(place)
        tally[refusal] += 1
        assert refusal == "store.newer" or not outcome.answers
        if not refusal:
            with Inspector(place) as inspector:
                assert inspector.log() == ground.log
        after = workshop.run(place, UPGRADE, AUDIT).answers[1]["answer"]
        assert (after["events"], after["findings"], after["damage"]) == (len(ground.log), [], [])
    # As above: in a share of them nobody may have died after the commit.
    assert all(tally.values()) or (tally[""] and not IS_WHOLE), tally
    record_property("told", f"{engine} upgrade: {len(whole.points)} fault points; {len(ways)} deaths")


def test_a_checkpoint_that_was_killed_loses_nothing(
    sqlite_ground: Ground, sqlite_workshop: Workshop, record_property: Tell
) -> None:
    ground, workshop = sqlite_ground, sqlite_workshop
    settings = {"lineclear.store.sqlite.engine.CHECKPOINT_PAGES": 1}
    says: list[Command] = [
        ("say", ("alice", f"message {number}"), {"op": f"say-{number}"}) for number in range(3)
    ]
    whole = workshop.run(ground.copy(), *says, settings=settings)
    assert {"write db", "sync db", "truncate db-wal", "write db-wal"} <= set(whole.points)
    ways = worst_ways_to_die("sqlite", whole.points, 4)
    ways += [
        (number, POWERLESS) for number, name in enumerate(whole.points, 1) if not name.startswith("write")
    ]
    chosen = some_of(ways)
    for at, how in chosen:
        place = ground.copy()
        outcome = workshop.run(place, *says, at=at, how=how, settings=settings)
        assert outcome.was_killed
        with Inspector(place) as inspector:
            done = kinds(inspector.log()[len(ground.log) :])
            assert done in (
                ["MessageSent"] * len(outcome.answers),
                ["MessageSent"] * (len(outcome.answers) + 1),
            )
            for say in says:
                inspector.repeat(say)
            assert kinds(inspector.log()[len(ground.log) :]) == ["MessageSent"] * 3
    record_property("told", f"sqlite checkpoints: {len(whole.points)} fault points; {len(chosen)} deaths")


def test_a_file_is_whole_whenever_its_writer_is_killed(
    sqlite_workshop: Workshop, tmp_path: Path, record_property: Tell
) -> None:
    path, old, new = tmp_path / "TASKS.md", "old " * 1_000, "new " * 2_000
    place = Place(f"sqlite:{tmp_path}", str(tmp_path))
    write: Command = ("write_file", (str(path), new), {})
    path.write_text(old)
    points = sqlite_workshop.run(place, write).points
    assert {"create file", "write file", "fsync", "replace"} <= set(points)
    for at, how in ways_to_die("sqlite", points):
        path.write_text(old)
        outcome = sqlite_workshop.run(place, write, at=at, how=how)
        assert outcome.was_killed
        replaced = points.index("replace") + 1
        is_new = at > replaced or (at, how) == (replaced, AFTER)
        assert path.read_text() == (new if is_new else old), f"{how} {at} of {points}"
    assert sqlite_workshop.run(place, write).answers
    assert path.read_text() == new
    record_property("told", f"replacing a file: {len(points)} fault points")
