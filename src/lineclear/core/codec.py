"""Event bodies as JSON text, the one encoding that all engines store."""

from __future__ import annotations

from json import JSONDecoder, JSONEncoder

from lineclear.core.events import Event

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from lineclear.core.tables import Entry

encode_body = JSONEncoder(ensure_ascii=False, separators=(",", ":"), check_circular=False).encode
# `decode` would also look for white space around the text, twice; what we wrote has none.
_decode = JSONDecoder().raw_decode


def decode_body(text: str) -> dict[str, Any]:
    body: dict[str, Any] = _decode(text)[0]
    return body


def event_of(entry: Entry) -> Event:
    return Event(
        entry.position, entry.at_ns, entry.actor, entry.kind, entry.subject, entry.seen, entry.op,
        decode_body(entry.body),
    )  # fmt: skip
