"""Refusals whose words are computed; their sentences are in sentences/values.py."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lineclear.core.words.refusals import refuse

if TYPE_CHECKING:
    from typing import Any

    from lineclear.core.words.refusals import Refusal


def copy_conflicts(copy: str, conflicts: list[dict[str, Any]]) -> Refusal:
    where = ", ".join(f"{c['key']} at {c['pointer'] or 'the whole value'}" for c in conflicts[:3])
    return refuse(
        "copy.conflict",
        copy=copy,
        count=len(conflicts),
        where=where,
        key=str(conflicts[0]["key"]),
        conflicts=conflicts,
    )
