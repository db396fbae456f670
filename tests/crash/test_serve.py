"""A server killed again and again amid the calls of many: nobody fails, and nothing is done twice."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable

import pytest

from lineclear.core.log.codec import decode_body
from lineclear.core.log.tables import LOG
from lineclear.wiring.repo import open_repo
from tests.crash.callers import PATIENCE_S, Caller, Hook, Model, Shell
from tests.e2e.commandline import CommandLine
from tests.e2e.mcp_peer import NEW, OLD
from tests.e2e.serve_peer import token_for
from tests.e2e.serving import ServeProcess
from tests.repository import TemporaryRepo
from tests.sampling import some
from tests.waiting import until

CALLS, KILLS = some(1_000), some(20, share=2)


def begin_callers(repo: TemporaryRepo, line: CommandLine, served: ServeProcess) -> list[Caller]:
    repo.commit("Begin", {"src/begin.py": "x = 1\n"})
    callers: list[Caller] = [Hook(f"hook{number}", line) for number in range(2)]
    callers += [Shell(f"shell{number}", line) for number in range(2)]
    for name, version in (("old", OLD), ("new", NEW)):
        callers.append(Model(name, served, version, token_for(line, name)))
    for caller in callers:
        caller.start()
    return callers


def faults_of(callers: list[Caller]) -> list[str]:
    return [fault for caller in callers for fault in caller.faults]


def count_calls(callers: list[Caller]) -> int:
    return sum(caller.calls for caller in callers)


def has_come(callers: list[Caller], wanted: int) -> Callable[[], bool]:
    """Have so many calls been answered? True as well when one went wrong: then no more may come."""
    return lambda: count_calls(callers) >= wanted or bool(faults_of(callers))


def what_was_made(line: CommandLine) -> tuple[Counter[tuple[str, str]], int]:
    """(kind of event, what it is about) and how often; and how many events a server made for a command."""
    repo = open_repo(str(line.place), line.environment)
    try:
        entries = repo.store.read(lambda view: list(view.scan(LOG, "key")))
    finally:
        repo.close()
    made: Counter[tuple[str, str]] = Counter()
    for entry in entries:
        body = decode_body(entry.body)
        thing = body.get("title") or body.get("text") or entry.subject.removeprefix("value:")
        made[entry.kind, thing.removeprefix("row:")] += 1
    return made, sum(entry.op.startswith("own:") for entry in entries)


@pytest.mark.slow
@pytest.mark.serial
@pytest.mark.timeout(1200)
def test_kill_9_of_serve_amid_mixed_calls_fails_nobody_and_does_nothing_twice(
    repo: TemporaryRepo, record_property: Callable[[str, object], None]
) -> None:
    line = CommandLine(repo.path, repo.environment)
    line.ok("init")
    served, kills, chance = ServeProcess(line, patience_s=PATIENCE_S), 0, random.Random(5)
    port = served.door.port
    callers = begin_callers(repo, line, served)
    try:
        while not faults_of(callers) and (kills < KILLS or count_calls(callers) < CALLS):
            until(has_come(callers, count_calls(callers) + chance.randint(5, 40)))
            served.kill()
            kills += 1
            served = ServeProcess(line, patience_s=PATIENCE_S)
            assert served.door.port == port
    finally:
        for caller in callers:
            caller.end()
        line.end_all()
    assert faults_of(callers) == []
    made, done_by_server = what_was_made(line)
    asked = [thing for caller in callers for thing in caller.made]
    assert len(asked) == len(set(asked)) >= CALLS
    assert {thing: made[thing] for thing in asked if made[thing] != 1} == {}
    assert done_by_server > 0
    assert line.json("audit")["findings"] == []
    replays = sum(caller.replays for caller in callers)
    assert replays > 0, "no answer was ever lost after its commit"
    each = ", ".join(f"{caller.name} {caller.calls}" for caller in callers)
    told = f"serve killed {kills} times amid {len(asked)} calls ({each}); {replays} replayed"
    record_property("told", told)
