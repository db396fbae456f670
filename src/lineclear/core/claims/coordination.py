"""Writes `.lineclear/coordination.json`: who holds what, bounded and in a stable order. Pure."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

SCHEMA = "lineclear/coordination/1"
MOST_ROWS = 500

# Section -> the keys by which its rows are sorted.
SECTIONS: dict[str, tuple[str, ...]] = {
    "agents": ("name",),
    "claims": ("resource", "agent"),
    "waits": ("ticket",),
    "tasks": ("id",),
}


def write_coordination(sections: Mapping[str, list[dict[str, Any]]]) -> str:
    """The document as text. The same facts give the same bytes, no matter who writes them."""
    document: dict[str, Any] = {"schema": SCHEMA}
    left_out: dict[str, int] = {}
    for name, keys in SECTIONS.items():
        rows = sorted(sections.get(name, ()), key=lambda row: tuple(row[key] for key in keys))
        document[name] = rows[:MOST_ROWS]
        if len(rows) > MOST_ROWS:
            left_out[name] = len(rows) - MOST_ROWS
    document["left_out"] = left_out
    return json.dumps(document, indent=1, ensure_ascii=False) + "\n"
