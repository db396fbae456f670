"""How fast and in how much memory the audit replays a log, and where its time goes."""

from __future__ import annotations

import os
import resource
import sys
import time
from typing import TYPE_CHECKING

from benchmarks.crowd import Start, run_together
from benchmarks.harness import Report, at_least, at_most, at_most_x, scratch
from benchmarks.synthetic import make_log
from lineclear.app.log import BATCH, audit, entries_after
from lineclear.core.log.audit import Auditor
from lineclear.core.log.codec import event_of
from lineclear.core.log.fold import fold
from lineclear.core.log.state import FoldedState
from lineclear.core.log.tables import LOG, PROJECTED
from lineclear.store.copies import new_sqlite
from lineclear.wiring.repo import open_sqlite

if TYPE_CHECKING:
    from lineclear.app.ports import View

TITLE = "replay: `lineclear audit` over a long log, SQLite"


def run(quick: bool) -> Report:
    report = Report()
    speed, short, long = (50_000, 50_000, 200_000) if quick else (200_000, 100_000, 1_000_000)
    with scratch() as directory:
        _measure_speed(report, os.path.join(directory, "speed"), speed)
        _measure_memory(report, directory, short, long)
    return report


# -- speed ------------------------------------------------------------------------------------


def _measure_speed(report: Report, directory: str, count: int) -> None:
    store = new_sqlite(directory)
    began = time.perf_counter()
    events = store.load(make_log(count))
    loading_s = time.perf_counter() - began
    reading_s = store.read(_reading_s)
    began, began_cpu = time.perf_counter(), time.process_time()
    answer = audit(store)
    audit_s, cpu_s = time.perf_counter() - began, time.process_time() - began_cpu
    report.add(
        f"audit of {events:,} events",
        events / audit_s,
        "/s",
        beside=(events / reading_s, "the log only read"),
        target=at_least(50_000),
    )
    report.add("the same for each second of CPU", events / cpu_s, "/s", target=at_least(50_000))
    _report_stages(report, store.read(_stages_s), events)
    report.add("findings in a log that is sound", len(answer["findings"]), "", target=at_most(0))
    report.add("making the log and filling a store from it", events / loading_s, "/s")
    store.close()


def _reading_s(view: View) -> float:
    began = time.perf_counter()
    for _ in entries_after(view, 0):
        pass
    return time.perf_counter() - began


def _report_stages(report: Report, stages: dict[str, float], events: int) -> None:
    total = sum(stages.values())
    for name, seconds in stages.items():
        beside = f"{seconds / events * 1e6:.1f} us per event"
        report.add(f"  of it, {name}", 100 * seconds / total, "%", beside=(None, beside))


def _stages_s(view: View) -> dict[str, float]:
    """The steps of the audit one after the other, batch by batch; folding is done twice to be told apart."""
    reading = decoding = feeding = folding = 0.0
    auditor, state, position = Auditor(), FoldedState(), 0
    while True:
        began = time.perf_counter()
        batch = view.scan(LOG, "key", low=position, limit=BATCH)
        if not batch:
            break
        read = time.perf_counter()
        events = [event_of(entry) for entry in batch]
        decoded = time.perf_counter()
        for event in events:
            auditor.feed(event)
        fed = time.perf_counter()
        for event in events:
            fold(state, event)
        folding += time.perf_counter() - fed
        reading, decoding, feeding = (
            reading + read - began,
            decoding + decoded - read,
            feeding + fed - decoded,
        )
        position = batch[-1].position
    began = time.perf_counter()
    for table in PROJECTED:
        auditor.compare(table, view.scan(table, "key"))
    comparing = time.perf_counter() - began
    return {"reading": reading, "decoding": decoding, "checking": feeding - folding, "folding": folding,
            "comparing with the tables": comparing}  # fmt: skip


# -- memory -----------------------------------------------------------------------------------


def _measure_memory(report: Report, directory: str, short: int, long: int) -> None:
    peaks = []
    for count in (short, long):
        place = os.path.join(directory, f"log-{count}")
        store = new_sqlite(place)
        store.load(make_log(count))
        store.close()
        peaks += run_together(audit_alone, [place], limit_s=count / 1_000 + 60)
    report.add(
        f"peak memory of auditing {long:,} events",
        peaks[1],
        "MiB",
        beside=(peaks[0], f"{short:,} events"),
        target=at_most_x(1.1),
    )


def audit_alone(start: Start, directory: str) -> float:
    store = open_sqlite(directory)
    start.wait()
    audit(store)
    store.close()
    return peak_mib()


def peak_mib() -> float:
    """Of this program alone: Linux counts into ru_maxrss what the parent had before it became us."""
    try:
        with open("/proc/self/status", encoding="ascii") as status:
            return next(int(line.split()[1]) for line in status if line.startswith("VmHWM:")) / 1024
    except OSError:
        unit = 1 if sys.platform == "darwin" else 1024
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / (1 << 20)
