"""Refusals about settings and trust: one row each. Words only, no decision."""

from __future__ import annotations

from lineclear.core.words.refusals import FAILED, NOT_ALLOWED, USAGE, Row, refuse

TYPE_CHECKING = False
if TYPE_CHECKING:
    from lineclear.core.trust import Stated
    from lineclear.core.words.refusals import Refusal

ROWS = {
    "settings.value": Row(
        USAGE,
        "{name:50} ({origin}) is not usable: {given:48}.",
        who="Expected: {expected:120}.",
        next="lineclear config show",
    ),
    "settings.strategy": Row(
        USAGE,
        "[[strategy]] number {number} in {origin} is not usable.",
        who="Its {reason:160}.",
        next="lineclear config show",
    ),
    "settings.strategies": Row(
        USAGE,
        "{origin} has too many [[strategy]] entries.",
        who="At most {most} count, in all files together; a glob can stand for many paths.",
        next="lineclear config show",
    ),
    "settings.syntax": Row(
        USAGE,
        (
            "The settings cannot be read because of line {at_line} of {origin}.",
            "The settings cannot be read because of {origin}.",
        ),
        who="The reader says: {reason:140}.",
        next="lineclear config show",
        words=("at_line",),
    ),
    "settings.size": Row(
        USAGE,
        "{origin} is too large: at most {most_kib} KiB are read.",
        next="lineclear config show",
        words=("most_kib",),
    ),
    "settings.unreadable": Row(
        FAILED,
        "{origin} is there, but cannot be read: {why}.",
        who="It is {path:120}",
        next="lineclear config show",
        words=("why",),
    ),
    "settings.unknown": Row(
        USAGE, 'There is no setting "{name}"{hint:?}', next="lineclear config show", words=("hint",)
    ),
    "trust.missing": Row(
        NOT_ALLOWED,
        (
            "{first} of lineclear.toml is not trusted, nor {more} more.",
            "{first} of lineclear.toml is not trusted.",
        ),
        who='It says "{text:90}"; a person looks at it before it counts.',
        next="lineclear trust",
        words=("first", "more", "text"),
    ),
}


def broken_settings(origin: str, line: int, why: str) -> Refusal:
    """`line` is 0 where it is not known."""
    return refuse("settings.syntax", origin=origin, line=line, at_line=line or None, reason=why)


def settings_too_large(origin: str, most_bytes: int) -> Refusal:
    return refuse("settings.size", origin=origin, most_bytes=most_bytes, most_kib=most_bytes // 1024)


def not_trusted(stated: list[Stated]) -> Refusal:
    """`stated` holds at least one."""
    first = stated[0]
    return refuse(
        "trust.missing",
        first=first.where,
        text=first.text,
        more=len(stated) - 1 or None,
        where=[one.where for one in stated[:20]],
        count=len(stated),
    )
