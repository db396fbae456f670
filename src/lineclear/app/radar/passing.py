"""One pass of the radar."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lineclear.app.radar.ports import RadarPorts, Side
    from lineclear.core.radar.findings import Finding


@dataclass(frozen=True, slots=True, kw_only=True)
class PassReport:
    """`merged_pairs`: how many pairs were merged; `parsed`: how many files were read, not taken from the
    cache; `skipped`: how many live sides were left out because there were too many."""

    findings: Sequence[Finding]
    sides: Sequence[Side]
    merged_pairs: int = 0
    parsed: int = 0
    skipped: int = 0


def run_pass(ports: RadarPorts) -> PassReport:
    sides = ports.git.sides()
    return PassReport(findings=[], sides=sides, skipped=ports.git.left_out)
