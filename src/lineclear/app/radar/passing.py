"""One pass of the radar: compare everybody's work as it is now, and keep the findings in the log."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lineclear.app.radar.comparing import PassReport, compare_sides
from lineclear.app.radar.findings import record
from lineclear.core.log.tables import CANDIDATE
from lineclear.core.queue.candidates import LANDED

if TYPE_CHECKING:
    from lineclear.app.ports import Store, View
    from lineclear.app.radar.ports import RadarPorts

# Older landings are too old for anybody's base.
_MOST_LANDED = 500


def run_pass(ports: RadarPorts) -> PassReport:
    """Compare everybody's work as it is now, and keep what was found in the log."""
    report = compare_sides(
        ports.git,
        ports.cache,
        ports.rules,
        ports.git.sides(),
        main=ports.git.main(),
        task_of=lambda commit: _task_of(ports.store, commit),
    )
    if ports.git.left_out:
        report.skipped.append(f"{ports.git.left_out} older worktrees and branches")
    record(ports.store, ports.caller, report.findings)
    return report


def _task_of(store: Store, commit: str) -> int:
    """The task whose work landed with this commit; 0 if there is none."""

    def look(view: View) -> int:
        landed = view.scan(CANDIDATE, "state", (LANDED,), limit=_MOST_LANDED, reverse=True)
        return next((row.task for row in landed if commit in (row.commit, row.tip)), 0)

    return store.read(look)
