"""Refusals about settings: files, variables, flags. Words only, no decision; a secret never gets here."""

from __future__ import annotations

from lineclear.core.refusals import FAILED, USAGE, Refusal, shorten

_NEXT = "lineclear config show"


def bad_setting(origin: str, name: str, given: str, expected: str) -> Refusal:
    """`given` says what is there in words that may be shown, so not the secret itself."""
    return Refusal(
        "settings.value",
        f"{shorten(name, 50)} ({origin}) is not usable: {shorten(given, 48)}.",
        who=f"Expected: {shorten(expected, 120)}.",
        next_=_NEXT,
        exit_code=USAGE,
        origin=origin,
        name=shorten(name, 200),
        given=shorten(given, 200),
        expected=expected,
    )


def bad_strategy(origin: str, number: int, why: str) -> Refusal:
    return Refusal(
        "settings.strategy",
        f"[[strategy]] number {number} in {origin} is not usable.",
        who=f"Its {shorten(why, 160)}.",
        next_=_NEXT,
        exit_code=USAGE,
        origin=origin,
        number=number,
        reason=shorten(why, 400),
    )


def too_many_strategies(origin: str, most: int) -> Refusal:
    return Refusal(
        "settings.strategies",
        f"{origin} has too many [[strategy]] entries.",
        who=f"At most {most} count, in all files together; a glob can stand for many paths.",
        next_=_NEXT,
        exit_code=USAGE,
        origin=origin,
        most=most,
    )


def broken_settings(origin: str, line: int, why: str) -> Refusal:
    """`line` is 0 where nobody can say it."""
    place = f"line {line} of {origin}" if line else origin
    return Refusal(
        "settings.syntax",
        f"The settings cannot be read because of {place}.",
        who=f"The reader says: {shorten(why, 140)}.",
        next_=_NEXT,
        exit_code=USAGE,
        origin=origin,
        line=line,
        reason=shorten(why, 200),
    )


def settings_too_large(origin: str, most_bytes: int) -> Refusal:
    return Refusal(
        "settings.size",
        f"{origin} is too large: at most {most_bytes // 1024} KiB are read.",
        next_=_NEXT,
        exit_code=USAGE,
        origin=origin,
        most_bytes=most_bytes,
    )


def settings_unreadable(origin: str, path: str, why: str) -> Refusal:
    return Refusal(
        "settings.unreadable",
        f"{origin} is there, but cannot be read: {shorten(why, 60)}.",
        who=f"It is {shorten(path, 120)}",
        next_=_NEXT,
        exit_code=FAILED,
        origin=origin,
        path=shorten(path, 400),
    )


def unknown_setting(name: str, hint: str) -> Refusal:
    return Refusal(
        "settings.unknown",
        f'There is no setting "{shorten(name, 60)}"{shorten(hint, 80)}',
        next_=_NEXT,
        exit_code=USAGE,
        name=shorten(name, 200),
    )
