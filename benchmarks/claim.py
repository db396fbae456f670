"""What one durable claim costs, beside the cheapest durable write that the same disk offers."""

from __future__ import annotations

import os
import resource
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from benchmarks.harness import Report, at_most, at_most_x, median, quantile, scratch, take_turns, timed_us
from lineclear.app import claims
from lineclear.app.ports import Caller, NobodyDies
from lineclear.core.claims.granting import EXCLUSIVE, Request
from lineclear.core.claims.resources import Resource, parse_resource
from lineclear.store.copies import new_sqlite

if TYPE_CHECKING:
    from lineclear.app.ports import Store

TITLE = "claim: a durable exclusive claim with its event, in process, SQLite, synchronous=FULL"
BLOCK = 10
LIVE_CLAIMS = 500
PAGE = b"x" * 4096
TTL_MS = 30 * 60_000


def _kernel_s() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_stime


class Times:
    """Wall time of every call, and CPU time per call of every block."""

    def __init__(self) -> None:
        self.wall_us: list[float] = []
        self.cpu_us: list[float] = []
        self.kernel_us = 0.0

    def block(self, calls: list[Callable[[], object]]) -> None:
        began_ns, kernel_s = time.process_time_ns(), _kernel_s()
        self.wall_us += [timed_us(call) for call in calls]
        self.cpu_us.append((time.process_time_ns() - began_ns) / 1_000 / len(calls))
        self.kernel_us += (_kernel_s() - kernel_s) * 1e6

    def kernel_share(self) -> float:
        return self.kernel_us / (sum(self.cpu_us) * BLOCK)


def run(quick: bool) -> Report:
    rounds = 30 if quick else 300
    claimed, released, floor = Times(), Times(), Times()
    with scratch() as directory:
        store = new_sqlite(os.path.join(directory, "store"))
        file = os.open(os.path.join(directory, "floor"), os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        try:
            _measure(store, file, rounds, claimed, released, floor)
        finally:
            os.close(file)
            store.close()
    return _report(claimed, released, floor)


def _measure(store: Store, file: int, rounds: int, claimed: Times, released: Times, floor: Times) -> None:
    caller, others = Caller("bench", seen=1), [Caller(f"other-{n}") for n in range(10)]
    for n in range(LIVE_CLAIMS):
        _ask(store, others[n % len(others)], parse_resource(f"lib/part{n % 20}/held{n}.py"))
    resources = [
        [parse_resource(f"src/app{turn % 7}/file{n}.py") for n in range(BLOCK)] for turn in range(rounds)
    ]
    take_turns(
        rounds,
        lambda turn: claimed.block([_asking(store, caller, resource) for resource in resources[turn]]),
        lambda _turn: floor.block([lambda: _append(file)] * BLOCK),
        lambda turn: released.block([_releasing(store, caller, resource) for resource in resources[turn]]),
        lambda _turn: floor.block([lambda: _append(file)] * BLOCK),
    )


def _append(file: int) -> None:
    os.write(file, PAGE)
    os.fdatasync(file) if hasattr(os, "fdatasync") else os.fsync(file)


def _ask(store: Store, caller: Caller, resource: Resource) -> object:
    request = Request(caller.name, caller.tree, EXCLUSIVE, [resource], ttl_ms=TTL_MS)
    return claims.ask(store, NobodyDies(), caller, request)


def _asking(store: Store, caller: Caller, resource: Resource) -> Callable[[], object]:
    return lambda: _ask(store, caller, resource)


def _releasing(store: Store, caller: Caller, resource: Resource) -> Callable[[], object]:
    return lambda: claims.release(store, caller, [resource])


def _report(claimed: Times, released: Times, floor: Times) -> Report:
    report = Report()
    for name, times in (("claim", claimed), ("release", released)):
        report.add(
            f"{name}, p50",
            median(times.wall_us),
            "us",
            beside=(median(floor.wall_us), "append 4 KiB + fdatasync, p50"),
            target=at_most_x(1.3),
        )
        report.add(
            f"{name}, p99",
            quantile(times.wall_us, 0.99),
            "us",
            beside=(quantile(floor.wall_us, 0.99), "the same, p99"),
        )
        report.add(
            f"{name}, CPU (user + system), median of blocks",
            median(times.cpu_us),
            "us",
            beside=(median(floor.cpu_us), "the same, CPU"),
            target=at_most(300),
        )
    report.note(f"The kernel (write and sync) has {claimed.kernel_share():.0%} of the CPU of a claim.")
    report.note(
        f"{len(claimed.wall_us)} claims in blocks of {BLOCK}, beside {LIVE_CLAIMS} live claims of others."
    )
    return report
