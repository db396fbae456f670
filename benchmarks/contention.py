"""Many processes on one store: does everybody get a turn, how long is the line, what do the rules cost.

SQLite is measured against the same rows written by plain statements under the same gate; the two
alternate in slices of time, so that the machine's noise hits both.
"""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from benchmarks import contention_postgres
from benchmarks.bare import BareStore, Marks, Recorder, Statement, as_statements, renamed
from benchmarks.crowd import Start, run_together
from benchmarks.harness import Report, at_least, at_least_x, at_most, jain, quantile, scratch
from lineclear.app import claims, tasks, values
from lineclear.app.ports import Caller, NobodyDies
from lineclear.core.claims.granting import EXCLUSIVE, Request
from lineclear.core.claims.resources import parse_resource
from lineclear.core.log.events import Draft
from lineclear.core.tasks.lists import TaskDraft
from lineclear.core.words.refusals import Refusal
from lineclear.store.copies import new_sqlite
from lineclear.wiring.repo import open_sqlite

if TYPE_CHECKING:
    from lineclear.app.ports import Store, Tx

TITLE = "contention: 32 processes on one SQLite store; 8 writers on PostgreSQL"
PROCESSES = 32
RECORDED, FILLER = "recorder", 5_000
FIRST_TASK = 7_000
# The third step adds a task, which the fourth takes and the fifth ends.
STEP_NAMES = ("claim", "put", "add", "take", "done", "release")
ADDS_TASK = STEP_NAMES.index("add")


@dataclass(slots=True)
class Job:
    index: int
    ours: str
    bare: str
    steps: list[list[Statement]]
    slices: int
    slice_s: float


@dataclass(slots=True)
class Tally:
    ours: int = 0
    bare: int = 0
    waits_ms: list[float] = field(default_factory=list)
    bare_waits_ms: list[float] = field(default_factory=list)
    refused: Counter[str] = field(default_factory=Counter)


def run(quick: bool) -> Report:
    report = Report()
    slices, slice_s = (2, 2.5) if quick else (6, 5.0)
    load = os.getloadavg()[0]
    with scratch() as directory:
        ours, bare = os.path.join(directory, "ours"), os.path.join(directory, "bare")
        steps = record(os.path.join(directory, "recording"))
        for place in (ours, bare):
            new_sqlite(place).close()
        jobs = [Job(index, ours, bare, steps, slices, slice_s) for index in range(PROCESSES)]
        tallies = run_together(compete, jobs, limit_s=4 * slices * slice_s + 60)
    _report(report, tallies, slices * slice_s, load)
    contention_postgres.measure(report, quick)
    return report


# -- the work ---------------------------------------------------------------------------------


class Worker:
    """One agent and its round of work; each step is one durable transaction."""

    def __init__(self, store: Store, name: str) -> None:
        self.store, self.caller = store, Caller(name, seen=0)
        self.rounds = 0
        self.title = ""
        self._task = 0

    def steps(self) -> list[Callable[[], object]]:
        self.rounds += 1
        self.title = f"{self.caller.name.replace('-', '')}x{self.rounds}"
        return [self._claim, self._put, self._add, self._take, self._finish, self._release]

    def _path(self) -> str:
        return f"src/{self.caller.name}/file{self.rounds % 50}.py"

    def _claim(self) -> object:
        resources = [parse_resource(self._path())]
        request = Request(self.caller.name, "main", EXCLUSIVE, resources, ttl_ms=1_800_000)
        return claims.ask(self.store, NobodyDies(), self.caller, request)

    def _release(self) -> object:
        return claims.release(self.store, self.caller, [parse_resource(self._path())])

    def _put(self) -> object:
        return values.put(
            self.store,
            NobodyDies(),
            self.caller,
            [],
            f"progress/{self.caller.name}",
            f'{{"round": {self.rounds}}}',
        )

    def _add(self) -> object:
        return tasks.add(self.store, self.caller, TaskDraft("1", self.title))

    def _take(self) -> object:
        taken = tasks.take(self.store, NobodyDies(), self.caller)
        self._task = int(taken["task"]["id"][2:])
        return taken

    def _finish(self) -> object:
        return tasks.finish(self.store, self.caller, self._task)


def record(directory: str) -> list[list[Statement]]:
    """The statements of one round, step by step, from a real run on a store of its own."""
    with Recorder() as recorder:
        store = new_sqlite(directory)
        worker = Worker(store, RECORDED)
        store.transact(worker.caller, _fill)
        for step in worker.steps():  # the first round also registers the agent
            step()
        recorder.take()
        recorded = [_record_step(store, worker, recorder, step) for step in worker.steps()]
        store.close()
    return recorded


def _fill(tx: Tx) -> None:
    """Numbers that no other column has, so that a position or a task is recognised for what it is."""
    for _ in range(FILLER):
        tx.append(Draft("TaskNoted", "T-1", id=1, text=""))
    body = {"title": "filler", "body": "", "priority": 5, "scope": "", "labels": "", "needs": ""}
    tx.append(Draft("TaskAdded", f"T-{FIRST_TASK}", id=FIRST_TASK, attempts_max=3, after=[], **body))
    tx.append(Draft("TaskCancelled", f"T-{FIRST_TASK}", id=FIRST_TASK, reason=""))


def _record_step(
    store: Store, worker: Worker, recorder: Recorder, step: Callable[[], object]
) -> list[Statement]:
    head = store.read(lambda view: view.head)
    step()
    # The first round's task was FIRST_TASK + 1.
    return as_statements(recorder.take(), Marks(RECORDED, head, FIRST_TASK + 2, worker.title))


def compete(start: Start, job: Job) -> Tally:
    name = f"agent-{job.index:02d}"
    store, tally = open_sqlite(job.ours), Tally()
    bare = BareStore(job.bare, first_task=(job.index + 1) * 1_000_000)
    worker, steps = Worker(store, name), renamed(job.steps, RECORDED, name)
    began = start.wait()
    for place in range(job.slices):
        at = began + 2 * place * job.slice_s
        _work_ours(worker, at + job.slice_s, tally)
        _work_bare(bare, steps, at + 2 * job.slice_s, tally)
    bare.close()
    store.close()
    return tally


def _work_ours(worker: Worker, until: float, tally: Tally) -> None:
    while time.monotonic() < until:
        for step in worker.steps():
            began = time.monotonic()
            try:
                step()
            except Refusal as refusal:
                tally.refused[refusal.code] += 1
            tally.waits_ms.append((time.monotonic() - began) * 1_000)
            tally.ours += 1


def _work_bare(bare: BareStore, steps: list[list[Statement]], until: float, tally: Tally) -> None:
    while time.monotonic() < until:
        for place, statements in enumerate(steps):
            began = time.monotonic()
            bare.play(statements, is_new_task=place == ADDS_TASK)
            tally.bare_waits_ms.append((time.monotonic() - began) * 1_000)
            tally.bare += 1


# -- the table --------------------------------------------------------------------------------


def _report(report: Report, tallies: list[Tally], seconds: float, load: float) -> None:
    refused = sum((tally.refused for tally in tallies), Counter[str]())
    locked = refused.pop("store.locked", 0)
    waits = [wait for tally in tallies for wait in tally.waits_ms]
    bare_waits = [wait for tally in tallies for wait in tally.bare_waits_ms]
    report.add('"database is locked"', locked, "times", target=at_most(0))
    report.add("other refusals", sum(refused.values()), "times", target=at_most(0))
    report.add(
        "fairness over processes (Jain)",
        jain([t.ours for t in tallies]),
        beside=(jain([t.bare for t in tallies]), "bare gated loop"),
        target=at_least(0.95),
    )
    report.add(
        "transactions",
        sum(t.ours for t in tallies) / seconds,
        "/s",
        beside=(sum(t.bare for t in tallies) / seconds, "bare gated loop, same rows"),
        target=at_least_x(0.7),
    )
    report.add(
        "wait for a transaction, p50",
        quantile(waits, 0.5),
        "ms",
        beside=(quantile(bare_waits, 0.5), "bare gated loop"),
    )
    report.add(
        "wait for a transaction, worst",
        max(waits),
        "ms",
        beside=(max(bare_waits), "bare gated loop"),
        target=at_most(500),
    )
    named = ", ".join(f"{code} {count}" for code, count in refused.most_common())
    report.note(
        f"{PROCESSES} processes for {seconds:.0f} s each way; load average {load:.2f} before they started."
    )
    report.note(f"A round: {', '.join(STEP_NAMES)}.{f' Refused: {named}.' if named else ''}")
