"""Event bodies as JSON text, the one encoding that all engines store."""

from __future__ import annotations

from lineclear.core.log.events import Event
from lineclear.core.quick_json import read_json, write_json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from lineclear.core.log.tables import LogEntry

encode_body = write_json


def decode_body(text: str) -> dict[str, Any]:
    body: dict[str, Any] = read_json(text)
    return body


def event_of(entry: LogEntry) -> Event:
    return Event(
        entry.position, entry.at_ns, entry.actor, entry.kind, entry.subject, entry.seen, entry.op,
        decode_body(entry.body),
    )  # fmt: skip
