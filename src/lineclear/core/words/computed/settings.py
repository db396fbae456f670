"""Refusals whose words are computed; their sentences are in sentences/settings.py."""

from __future__ import annotations

from lineclear.core.words.refusals import refuse

TYPE_CHECKING = False
if TYPE_CHECKING:
    from lineclear.core.trust import Stated
    from lineclear.core.words.refusals import Refusal


def broken_settings(origin: str, line: int, why: str) -> Refusal:
    """`line` is 0 if it is unknown."""
    return refuse("settings.syntax", origin=origin, line=line, at_line=line or None, reason=why)


def settings_too_large(origin: str, most_bytes: int) -> Refusal:
    return refuse("settings.size", origin=origin, most_bytes=most_bytes, most_kib=most_bytes // 1024)


def gate_not_in_force(names: list[str], main: str) -> Refusal:
    """`names` has at least one element."""
    more = len(names) - 1 or None
    return refuse("settings.uncommitted", first=names[0], more=more, main=main, settings=names)


def not_trusted(stated: list[Stated]) -> Refusal:
    """`stated` has at least one element."""
    first = stated[0]
    return refuse(
        "trust.missing",
        first=first.where,
        text=first.text,
        more=len(stated) - 1 or None,
        where=[one.where for one in stated[:20]],
        count=len(stated),
    )
