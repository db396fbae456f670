"""Refusals about the server as a service of the user. Words only, no decision."""

from __future__ import annotations

from lineclear.core.refusals import FAILED, NOT_ALLOWED, Refusal, pasted, shorten


def no_manager() -> Refusal:
    return Refusal(
        "service.none",
        "Nothing here could keep the server running: neither systemctl nor launchctl was found.",
        who="Nothing was written.",
        next_="lineclear serve --detach",
        exit_code=FAILED,
    )


def not_started(path: str, why: str, next_: str) -> Refusal:
    """`next_`: the command that does what could not be done from here."""
    return Refusal(
        "service.not_started",
        f"The service is written, but it could not be started: {shorten(why, 90)}.",
        who=f"It is in {shorten(path, 70)}.",
        next_=next_ if len(next_) <= 80 else "lineclear serve --detach",
        exit_code=FAILED,
        path=shorten(path, 300),
        why=shorten(why, 300),
    )


def unusable_place(path: str) -> Refusal:
    return Refusal(
        "service.place",
        f"{shorten(path, 90)} cannot be named in a service: it holds a line break or bytes that are no text.",
        next_="lineclear serve --detach",
        exit_code=FAILED,
        path=shorten(path, 300),
    )


def foreign(path: str) -> Refusal:
    return Refusal(
        "service.foreign",
        f"{shorten(path, 110)} was not written by lineclear and is left as it is.",
        next_=f"less {pasted(path, 'FILE')}",
        exit_code=NOT_ALLOWED,
        path=shorten(path, 300),
    )
