"""Refusals about setting up clients. Words only, no decision."""

from __future__ import annotations

from lineclear.core.refusals import FAILED, NOT_ALLOWED, NOT_FOUND, STALE, Refusal, pasted, shorten


def client_unknown(name: str, known: list[str]) -> Refusal:
    return Refusal(
        "setup.unknown",
        f'There is no set-up for "{shorten(name, 30)}".',
        who=f"There is one for {shorten(', '.join(known), 150)}.",
        next_="lineclear setup --list",
        exit_code=NOT_FOUND,
        name=shorten(name, 100),
        known=known,
    )


def settings_unusable(path: str, why: str) -> Refusal:
    return Refusal(
        "setup.unusable",
        f"{shorten(path, 90)} cannot be edited safely: {shorten(why, 90)}.",
        who="Nothing was changed.",
        next_=f"less {pasted(path, 'FILE')}",
        exit_code=NOT_ALLOWED,
        path=shorten(path, 300),
        why=shorten(why, 300),
    )


def settings_moved(path: str, client: str) -> Refusal:
    return Refusal(
        "setup.moved",
        f"{shorten(path, 110)} was changed by somebody else just now.",
        next_=f"lineclear setup {pasted(client, 'CLIENT')}",
        exit_code=STALE,
        path=shorten(path, 300),
    )


def not_written(path: str, why: str) -> Refusal:
    return Refusal(
        "setup.not_written",
        f"{shorten(path, 110)} cannot be written: {shorten(why, 80)}.",
        next_=f"ls -ld {pasted(path, 'FILE')}",
        exit_code=FAILED,
        path=shorten(path, 300),
        why=shorten(why, 300),
    )


def mcp_missing() -> Refusal:
    """Lineclear was installed without what it depends on."""
    return Refusal(
        "setup.mcp",
        "The packages for `lineclear mcp` are not installed.",
        next_="pip install 'mcp>=2.3,<3'",
        exit_code=FAILED,
    )
