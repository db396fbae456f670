"""What all benchmarks share: rows of the table, quantiles, taking turns, scratch space, and printing.

Nothing here judges a build: a row that misses its target says so, and that is all.
"""

from __future__ import annotations

import os
import platform
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.repository import clean_environment

ROOT = Path(__file__).parents[1]
BLOCK_BEGIN, BLOCK_END = "<!-- benchmarks: begin -->", "<!-- benchmarks: end -->"

COLUMNS = ("WHAT", "MEASURED", "BESIDE IT", "RATIO", "TARGET", "")
WIDTHS = (50, 12, 42, 7, 17, 6)


@dataclass(frozen=True, slots=True)
class Target:
    """What a row is held to: its own value, or its ratio to what was measured beside it."""

    limit: float
    of_ratio: bool = False
    at_least: bool = False

    def is_met(self, value: float, ratio: float | None) -> bool:
        found = ratio if self.of_ratio else value
        if found is None:
            return False
        return found >= self.limit if self.at_least else found <= self.limit

    def show(self, unit: str) -> str:
        sign = ">=" if self.at_least else "<="
        return f"{sign} {number(self.limit)} x" if self.of_ratio else f"{sign} {quantity(self.limit, unit)}"


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the table. `floor` is a floor or a peer, in the same unit, measured in the same run."""

    what: str
    value: float
    unit: str
    floor: float | None = None
    floor_name: str = ""
    target: Target | None = None

    @property
    def ratio(self) -> float | None:
        return self.value / self.floor if self.floor else None

    @property
    def verdict(self) -> str:
        if self.target is None:
            return ""
        return "ok" if self.target.is_met(self.value, self.ratio) else "MISSED"

    def cells(self) -> tuple[str, ...]:
        beside = (
            f"{quantity(self.floor, self.unit)} {self.floor_name}"
            if self.floor is not None
            else self.floor_name
        )
        ratio = f"{number(self.ratio)} x" if self.ratio is not None else ""
        target = self.target.show(self.unit) if self.target is not None else ""
        return (self.what, quantity(self.value, self.unit), beside, ratio, target, self.verdict)

    def as_data(self) -> dict[str, Any]:
        data: dict[str, Any] = {"what": self.what, "value": self.value, "unit": self.unit}
        if self.floor is not None:
            data |= {"beside": self.floor, "beside_name": self.floor_name, "ratio": self.ratio}
        if self.target is not None:
            data |= {"target": self.target.show(self.unit), "verdict": self.verdict}
        return data


@dataclass(slots=True)
class Report:
    """What one subject found: its rows, and sentences that belong under them."""

    rows: list[Row] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def add(
        self,
        what: str,
        value: float,
        unit: str = "",
        *,
        beside: tuple[float | None, str] = (None, ""),
        target: Target | None = None,
    ) -> None:
        """`beside`: the floor or the peer in the same unit, and what it is."""
        self.rows.append(Row(what, value, unit, *beside, target))

    def note(self, text: str) -> None:
        self.notes.append(text)


def at_most(limit: float) -> Target:
    return Target(limit)


def at_least(limit: float) -> Target:
    return Target(limit, at_least=True)


def at_most_x(limit: float) -> Target:
    return Target(limit, of_ratio=True)


def at_least_x(limit: float) -> Target:
    return Target(limit, of_ratio=True, at_least=True)


# -- numbers ----------------------------------------------------------------------------------


def number(value: float) -> str:
    """Three figures are more than any of these measurements is worth."""
    if value == int(value) or abs(value) >= 100:
        return f"{value:,.0f}"
    if abs(value) < 0.1:
        return f"{value:.2g}"
    return f"{value:.1f}" if abs(value) >= 10 else f"{value:.2f}"


def quantity(value: float, unit: str) -> str:
    return f"{number(value)}{'' if unit in ('', '/s', '%') else ' '}{unit}"


def quantile(values: Sequence[float], share: float) -> float:
    """The value that this share of all values does not exceed (nearest rank)."""
    ordered = sorted(values)
    place = max(0, min(len(ordered) - 1, round(share * len(ordered) + 0.5) - 1))
    return ordered[place]


def median(values: Sequence[float]) -> float:
    return quantile(values, 0.5)


def jain(counts: Sequence[float]) -> float:
    """Jain's fairness: 1 when all got the same, 1/n when one got everything."""
    squares = sum(count * count for count in counts)
    return sum(counts) ** 2 / (len(counts) * squares) if squares else 0.0


# -- measuring --------------------------------------------------------------------------------


def timed_us(work: Callable[[], object]) -> float:
    began_ns = time.perf_counter_ns()
    work()
    return (time.perf_counter_ns() - began_ns) / 1_000


def cpu_us(work: Callable[[], object]) -> float:
    """User and system time of this process alone: what the neighbours do is not in it."""
    began_ns = time.process_time_ns()
    work()
    return (time.process_time_ns() - began_ns) / 1_000


def take_turns(rounds: int, *blocks: Callable[[int], None]) -> None:
    """Run all blocks in each round, so that the machine's noise hits each of them alike."""
    for turn in range(rounds):
        for block in blocks:
            block(turn)


@contextmanager
def scratch() -> Iterator[str]:
    """A directory on the disk of the repository itself: a file system in memory has no fsync to pay."""
    build = ROOT / "build"
    build.mkdir(exist_ok=True)
    directory = tempfile.mkdtemp(prefix="bench-", dir=build)
    try:
        yield directory
    finally:
        shutil.rmtree(directory, ignore_errors=True)


@contextmanager
def scratch_alone() -> Iterator[tuple[Path, dict[str, str]]]:
    """A scratch directory, and the environment of a user without settings, in force until the end."""
    with scratch() as directory:
        home = Path(directory, "home")
        home.mkdir()
        environment, before = clean_environment(home), dict(os.environ)
        os.environ.clear()
        os.environ.update(environment)
        try:
            yield Path(directory), environment
        finally:
            os.environ.clear()
            os.environ.update(before)


def machine() -> str:
    load = ", ".join(f"{value:.2f}" for value in os.getloadavg())
    return (
        f"Python {platform.python_version()}, {platform.system()} {platform.machine()}, "
        f"{os.cpu_count()} cores, load average {load}"
    )


# -- printing ---------------------------------------------------------------------------------


def as_text(title: str, report: Report) -> str:
    lines = [f"== {title}", _line(COLUMNS)]
    lines += [_line(row.cells()) for row in report.rows]
    lines += [f"   {note}" for note in report.notes]
    return "\n".join(lines)


def _line(cells: Sequence[str]) -> str:
    """A cell that is too long pushes the next ones aside: nothing is cut off."""
    return "  ".join(cell.ljust(width) for cell, width in zip(cells, WIDTHS, strict=True)).rstrip()


def as_markdown(reports: dict[str, Report], about: str) -> str:
    lines = [BLOCK_BEGIN, f"*{about}*", ""]
    for title, report in reports.items():
        lines += [
            f"**{title}**",
            "",
            "| what | measured | beside it | ratio | target | |",
            "|---|---|---|---|---|---|",
        ]
        lines += [
            "| " + " | ".join(cell.replace("|", "\\|") for cell in row.cells()) + " |" for row in report.rows
        ]
        lines += ["", *(f"{note}  " for note in report.notes), ""]
    return "\n".join([*lines, BLOCK_END])


def as_data(reports: dict[str, Report], about: str) -> dict[str, Any]:
    shown = {
        title: {"rows": [row.as_data() for row in report.rows], "notes": report.notes}
        for title, report in reports.items()
    }
    return {"schema": "lineclear-benchmarks/1", "machine": about, "subjects": shown}
