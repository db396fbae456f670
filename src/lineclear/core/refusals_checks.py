"""Refusals about check trees. Words only, no decision."""

from __future__ import annotations

from lineclear.core.refusals import FAILED, NOT_ALLOWED, Refusal, shorten


def tree_failed(name: str, why: str) -> Refusal:
    return Refusal(
        "checks.tree",
        f"The check tree {shorten(name, 32)} cannot be made ready.",
        who=f'What was found: "{shorten(why, 120)}"',
        next_="lineclear doctor",
        exit_code=FAILED,
        tree=name,
        why=shorten(why, 500),
    )


def not_a_workplace(path: str) -> Refusal:
    return Refusal(
        "checks.not_a_workplace",
        f"{shorten(path, 90)} is a check tree, where nobody works.",
        who="The queue brings it to another commit whenever it likes.",
        next_="lineclear worktree list",
        exit_code=NOT_ALLOWED,
        path=path,
    )
