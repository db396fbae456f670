"""How soon a blocked waiter goes on after a release, and whether a wake-up is ever lost.

Two processes hand one claim to and fro. Each holds it until the other stands in line, pauses for a
random moment (so that rings also hit the gap between looking and sleeping), and releases; then it
writes nothing until the other has the claim, for any commit would ring and make up for a lost ring.
"""

from __future__ import annotations

import os
import random
import time
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING

from benchmarks.crowd import Start, run_together
from benchmarks.harness import Report, at_most, quantile, scratch
from lineclear.app import claims
from lineclear.app.ports import Caller, NobodyDies
from lineclear.app.waiting_in_line import claim_or_wait
from lineclear.core.claims.granting import EXCLUSIVE, Request
from lineclear.core.claims.resources import parse_resource
from lineclear.core.log.tables import CLAIM, WAIT
from lineclear.host.bell import PipeBell
from lineclear.host.clock import HostClock
from lineclear.store.copies import new_sqlite
from lineclear.store.sqlite.engine import SqliteStore

if TYPE_CHECKING:
    from collections.abc import Callable

    from lineclear.app.ports import Listener, View

TITLE = "waiting: one claim handed to and fro between two processes, SQLite"
# Beneath the bell every waiter looks for itself each 250 ms: who is that late was not woken.
LOST_AFTER_MS = 240.0
RESOURCE = "src/contended.py"
LONGEST_PAUSE_S = 0.002
GIVE_UP_S = 1.0


@dataclass(slots=True)
class Diary:
    """By fence, in seconds: when a grant's holder was awake (and whether the bell did it), when it had
    the claim, and when it rang after its release."""

    woken: dict[int, tuple[float, bool]] = field(default_factory=dict)
    granted: dict[int, float] = field(default_factory=dict)
    rung: dict[int, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Job:
    name: str
    directory: str
    handovers: int
    pings: str


class NotingBell:
    """The real bell; remembers when it was last rung, and how a listener of its own last woke up."""

    def __init__(self, directory: str) -> None:
        self._bell = PipeBell(directory)
        self.rung_at = 0.0
        self.woken = (0.0, False)

    def ring(self) -> None:
        self.rung_at = time.monotonic()
        self._bell.ring()

    def listen(self) -> Listener:
        return NotingListener(self._bell.listen(), self)


class NotingListener:
    def __init__(self, listener: Listener, bell: NotingBell) -> None:
        self._listener, self._bell = listener, bell

    def __enter__(self) -> NotingListener:
        self._listener.__enter__()
        return self

    def __exit__(self, *exc: object) -> None:
        self._listener.__exit__(*exc)

    def wait(self, timeout_s: float, /) -> bool:
        is_rung = self._listener.wait(timeout_s)
        self._bell.woken = (time.monotonic(), is_rung)
        return is_rung


def run(quick: bool) -> Report:
    handovers = 600 if quick else 10_000
    with scratch() as directory:
        new_sqlite(os.path.join(directory, "store")).close()
        pings = os.path.join(directory, "ping")
        for end in ("a", "b"):
            os.mkfifo(f"{pings}.{end}")
        jobs = [Job(name, os.path.join(directory, "store"), handovers // 2, pings) for name in ("a", "b")]
        before = run_together(ping, jobs, limit_s=60)
        diaries = run_together(hand_over, jobs, limit_s=handovers * 0.1 + 60)
        after = run_together(ping, jobs, limit_s=60)
    return _report(diaries, [one for found in (*before, *after) for one in found])


# -- two processes ----------------------------------------------------------------------------


def hand_over(start: Start, job: Job) -> Diary:
    bell, diary = NotingBell(os.path.join(job.directory, "bells")), Diary()
    store, caller = SqliteStore(job.directory, HostClock().now, bell), Caller(job.name)
    dice, resource = random.Random(job.name), parse_resource(RESOURCE)
    start.wait()
    for _ in range(job.handovers):
        request = Request(job.name, "main", EXCLUSIVE, [resource], ttl_ms=60_000)
        fence = claim_or_wait(store, NobodyDies(), caller, request, limit_ms=60_000)["fence"]
        diary.granted[fence], diary.woken[fence] = time.monotonic(), bell.woken
        _await(store, lambda view: bool(view.scan(WAIT, "key", limit=1)))
        time.sleep(dice.uniform(0, LONGEST_PAUSE_S))
        claims.release(store, caller, [resource])
        diary.rung[fence] = bell.rung_at
        _await(store, lambda view: bool(view.scan(CLAIM, "key", limit=1)))
    store.close()
    return diary


def _await(store: SqliteStore, is_so: Callable[[View], bool]) -> None:
    """Look and listen, without a write; not for ever, in case the other has had its last turn."""
    until = time.monotonic() + GIVE_UP_S
    bell = PipeBell(os.path.join(store.directory, "bells"))
    with bell.listen() as ear:
        while not store.read(is_so) and time.monotonic() < until:
            ear.wait(0.05)


def ping(start: Start, job: Job) -> list[float]:
    """The floor: how long one byte takes through a named pipe to a process that sleeps on it, in ms."""
    other = "b" if job.name == "a" else "a"
    ear = os.open(f"{job.pings}.{job.name}", os.O_RDWR)
    mouth = os.open(f"{job.pings}.{other}", os.O_RDWR)
    start.wait()
    times = []
    for _ in range(200):
        began = time.monotonic()
        if job.name == "a":
            time.sleep(LONGEST_PAUSE_S / 2)
            began = time.monotonic()
            os.write(mouth, b"!")
            os.read(ear, 1)
            times.append((time.monotonic() - began) * 1_000 / 2)
        else:
            os.read(ear, 1)
            os.write(mouth, b"!")
    return times


# -- the table --------------------------------------------------------------------------------


def _report(diaries: list[Diary], pings: list[float]) -> Report:
    found = _handovers(diaries)
    woken = [one.woken_ms for one in found if one.woken_ms >= 0]
    granted = [one.granted_ms for one in found]
    report = Report()
    for name, share, target in (("p50", 0.5, at_most(1)), ("p99", 0.99, None)):
        report.add(
            f"release to waiter awake, {name}",
            quantile(woken, share),
            "ms",
            beside=(quantile(pings, share), "one byte through a named pipe"),
            target=target,
        )
    report.add("release to waiter awake, worst", max(woken), "ms", target=at_most(300))
    report.add("release to waiter holds the claim (durable), p50", quantile(granted, 0.5), "ms")
    report.add("release to waiter holds the claim (durable), p99", quantile(granted, 0.99), "ms")
    lost = sum(one.is_lost for one in found)
    report.add(f"lost wake-ups in {len(found):,} handovers", lost, "times", target=at_most(0))
    report.note(
        "Counted from the moment after the commit at which the releasing process rings; lost is a waiter"
    )
    report.note(f"that went on by its own slow look, or later than {LOST_AFTER_MS:.0f} ms.")
    return report


@dataclass(frozen=True, slots=True)
class Handover:
    """How long after the release its heir was awake (below 0: it had not slept) and had the claim."""

    woken_ms: float
    granted_ms: float
    is_rung: bool

    @property
    def is_lost(self) -> bool:
        return (self.woken_ms >= 0 and not self.is_rung) or self.woken_ms > LOST_AFTER_MS


def _handovers(diaries: list[Diary]) -> list[Handover]:
    rung = {fence: at for diary in diaries for fence, at in diary.rung.items()}
    order = sorted((fence, place) for place, diary in enumerate(diaries) for fence in diary.granted)
    found = []
    for (before, giver), (fence, taker) in pairwise(order):
        if giver != taker:
            woken_at, is_rung = diaries[taker].woken[fence]
            woken_ms, granted_ms = (
                (at - rung[before]) * 1_000 for at in (woken_at, diaries[taker].granted[fence])
            )
            found.append(Handover(woken_ms, granted_ms, is_rung))
    return found
