"""Findings of the radar as rows, with everything that a test does not care about filled in."""

from __future__ import annotations

from collections.abc import Sequence

from lineclear.core.log.tables import FindingRow


def finding_row(
    *, kind: str = "signature", agents: Sequence[str] = ("ben", "ada"), files: Sequence[str] = ("a.py", "b.py"),
    symbol: str = "parse", old: str = "parse(text)", new: str = "parse(text, encoding)", detail: str = "",
    interrupts: bool = True, task: int = 0,
) -> FindingRow:  # fmt: skip
    return FindingRow(
        1, "key", kind, "\n".join(agents), "\n".join(files), symbol, old, new, detail, "sure", int(interrupts),
        task, 0, "",
    )  # fmt: skip
