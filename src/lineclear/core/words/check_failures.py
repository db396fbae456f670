"""Why a check fails since an interface has changed, in words for the author of the failing work. Pure.

Names and forms come from other agents: each is cut, stays on one line and stands in backticks.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lineclear.core.radar.findings import REMOVED
from lineclear.core.tasks.states import show_id
from lineclear.core.words.quoting import MOST_NAME_CHARS, in_code
from lineclear.core.words.refusals import shorten

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lineclear.core.log.tables import FindingRow

MOST_TOLD, MOST_FORM_CHARS = 3, 120


def since(findings: Sequence[FindingRow], task: int, output: str) -> str:
    """Continues "it fails the check"; "" without findings. `task`: the one that landed the changes, 0 if that
    is not known; `output`: how the check ended."""
    if not findings:
        return ""
    # Those that the output speaks of are the likeliest reason.
    told = sorted(findings, key=lambda row: not _is_named(row, output))[:MOST_TOLD]
    more = f"; and {len(findings) - MOST_TOLD} more" if len(findings) > MOST_TOLD else ""
    word = "since" if _is_named(told[0], output) else "perhaps since"
    return f" {word} " + "; ".join(_change(row, task or row.task) for row in told) + more


def _is_named(row: FindingRow, output: str) -> bool:
    return row.symbol.rpartition(".")[2] in output


def _change(row: FindingRow, task: int) -> str:
    symbol, by = in_code(row.symbol, MOST_NAME_CHARS), f" ({show_id(task)})" if task else ""
    if row.kind == REMOVED:
        what = f"{symbol} is gone{by}" + (f", now {_form(row.new)}" if row.new else "")
    elif row.old == row.new:
        what = f"{symbol} has changed{by}"
    else:
        old = f", before {_form(row.old)}" if row.old else ""
        what = f"{symbol} is now {_form(row.new)}{by}{old}"
    detail = shorten(row.detail.replace("`", "'"), MOST_FORM_CHARS)
    return f"{what}: {detail}" if detail and row.kind != REMOVED else what


def _form(text: str) -> str:
    return in_code(text, MOST_FORM_CHARS)
