"""Refusals about settings and trust: one row each. Words only, no decision."""

from __future__ import annotations

from lineclear.core.words.row import FAILED, NOT_ALLOWED, USAGE, Row

ROWS = {
    "settings.value": Row(
        USAGE,
        "{name:50} ({origin}) has an invalid value: {given:48}.",
        who="Expected: {expected:120}.",
        next="lineclear config show",
    ),
    "settings.strategy": Row(
        USAGE,
        "[[strategy]] number {number} in {origin} is not valid.",
        who="Its {reason:160}.",
        next="lineclear config show",
    ),
    "settings.strategies": Row(
        USAGE,
        "{origin} has too many [[strategy]] entries.",
        who="At most {most} are allowed in all files together; one glob can cover many paths.",
        next="lineclear config show",
    ),
    "settings.syntax": Row(
        USAGE,
        (
            "Cannot read the settings: line {at_line} of {origin} is not valid.",
            "Cannot read the settings: {origin} is not valid.",
        ),
        who="The parser says: {reason:140}.",
        next="lineclear config show",
        words=("at_line",),
    ),
    "settings.size": Row(
        USAGE,
        "{origin} is too large: the limit is {most_kib} KiB.",
        next="lineclear config show",
        words=("most_kib",),
    ),
    "settings.unreadable": Row(
        FAILED,
        "{origin} exists but cannot be read: {why}.",
        who="It is {path:120}",
        next="lineclear config show",
        words=("why",),
    ),
    "settings.unknown": Row(
        USAGE, 'There is no setting "{name}"{hint:?}', next="lineclear config show", words=("hint",)
    ),
    "settings.uncommitted": Row(
        NOT_ALLOWED,
        (
            "{first} and {more} more of lineclear.toml are not in force: {main:50} has not committed them.",
            "{first} of lineclear.toml is not in force: {main:50} has not committed it.",
        ),
        who="Work would land without it, so the file has to be committed there first.",
        next='git add lineclear.toml && git commit -m "Settings" lineclear.toml',
        words=("first", "more"),
    ),
    "trust.missing": Row(
        NOT_ALLOWED,
        (
            "Not trusted yet in lineclear.toml: {first} and {more} more.",
            "Not trusted yet in lineclear.toml: {first}.",
        ),
        who='It says "{text:90}"; a person has to approve it first.',
        next="lineclear trust",
        words=("first", "more", "text"),
    ),
}
