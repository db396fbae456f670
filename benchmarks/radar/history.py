"""`python -m benchmarks.radar history`: what the radar says about the two sides of real merges.

Nearly all of these merges were fine, so nearly every notice that interrupts is a false alarm. Both sides of
a merge are branches, and an interrupting finding is told to both of them: notices per 100 branches are
therefore as many as findings per 100 merges.
"""

from __future__ import annotations

import itertools
import time
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.radar.builds import Builds
from benchmarks.radar.repositories import Merge, Repository, borrowed
from benchmarks.radar.score import describe
from lineclear.core.radar.findings import KINDS, Finding

Compare = Callable[[str, str, str], list[Finding]]


@dataclass(slots=True)
class Compared:
    """`faults`: what neither side has and the merge has; None if nobody looked."""

    repository: str
    merge: Merge
    findings: list[Finding]
    faults: set[str] | None = None

    @property
    def interrupting(self) -> list[Finding]:
        return [finding for finding in self.findings if finding.interrupts]


@dataclass(slots=True)
class Total:
    rows: list[Compared] = field(default_factory=list)
    seconds: float = 0.0

    def line(self, name: str) -> str:
        kinds = Counter(finding.kind for row in self.rows for finding in row.findings)
        notices = sum(len(row.interrupting) for row in self.rows)
        warned = sum(bool(row.interrupting) for row in self.rows)
        count = len(self.rows)
        cells = [
            *(str(kinds[kind]) for kind in KINDS), str(notices),
            f"{100 * notices / count:.1f}" if count else "-",
            f"{100 * warned / count:.1f}%" if count else "-",
            f"{1000 * self.seconds / count:.0f}" if count else "-",
        ]  # fmt: skip
        return f"{name[:26]:26}{count:>7}" + "".join(f"{cell:>12}" for cell in cells)


HEAD = f"{'':26}{'merges':>7}" + "".join(
    f"{cell:>12}" for cell in (*KINDS, "interrupting", "per 100", "of merges", "CPU ms each")
)


def run(
    compare: Compare, sources: list[tuple[str, Path]], *, count: int, seed: int, builds: int, show: bool
) -> None:
    print(HEAD)
    rows: list[Compared] = []
    seconds = 0.0
    for name, source in sources:
        with borrowed(name, source) as repository:
            total = compare_merges(
                compare, repository, itertools.islice(repository.clean_merges(seed), count)
            )
            if total.rows:
                judge_builds(repository, total.rows[:builds])
                print(total.line(name), flush=True)
        rows += total.rows
        seconds += total.seconds
    print(Total(rows, seconds).line("all"))
    print("\n".join(_about_builds(rows)))
    if show:
        print("\n".join(_interruptions(rows)))


def compare_merges(compare: Compare, repository: Repository, merges: Iterable[Merge]) -> Total:
    total = Total()
    for merge in merges:
        began = time.process_time()
        findings = compare(str(repository.path), merge.left, merge.right)
        total.seconds += time.process_time() - began
        total.rows.append(Compared(repository.name, merge, findings))
    return total


def judge_builds(repository: Repository, rows: list[Compared]) -> None:
    builds = Builds(repository)
    for row in rows:
        row.faults = builds.new_faults(row.merge)


def _about_builds(rows: list[Compared]) -> list[str]:
    judged = [row for row in rows if row.faults is not None]
    good = [row for row in judged if not row.faults]
    broken = [row for row in judged if row.faults]
    warned = sum(bool(row.interrupting) for row in good)
    lines = [
        "",
        f"{len(judged)} merges were built: {len(good)} hold together, "
        f"{len(broken)} have a fault that neither side has.",
    ]
    if good:
        lines.append(
            f"Interrupted: {warned} of the {len(good)} ({100 * warned / len(good):.1f}%, target 2%)."
        )
    seen = sum(bool(row.findings) for row in broken)
    if broken:
        lines.append(f"Of the {len(broken)} broken ones the radar has findings for {seen}:")
    for row in broken:
        mark = "seen  " if row.findings else "missed"
        lines.append(f"  {mark} {row.repository} {row.merge.commit[:10]} {min(row.faults or {''})[:150]}")
    return lines


def _interruptions(rows: list[Compared]) -> list[str]:
    lines = ["", "interrupting findings:"]
    for row in rows:
        for finding in row.interrupting:
            merge = row.merge
            sides = f"{merge.left[:9]} x {merge.right[:9]}"
            lines.append(f"  {row.repository} {merge.commit[:10]} ({sides}): {describe(finding)[:300]}")
    return lines
