"""Refusals of a hook: an edit that may not be made now, in words for the model. Words only, no decision."""

from __future__ import annotations

from lineclear.core.refusals import HELD, NOT_ALLOWED, STALE, Refusal, named, pasted, shorten


def unclaimed_lock(resource: str) -> Refusal:
    return Refusal(
        "hook.locked",
        f"{shorten(resource)} is locked: only one agent at a time may change it.",
        who="Nobody holds it now.",
        next_=f"lineclear claim {pasted(resource)} --mode exclusive",
        exit_code=HELD,
        resource=resource,
    )


def foreign_worktree(path: str, tree: str, owner: str, own: str) -> Refusal:
    return Refusal(
        "hook.foreign_worktree",
        f"{shorten(path, 80)} is in another agent's worktree.",
        who=f"It belongs to {named(owner)}. Change your own copy, in {shorten(own, 70)}.",
        next_="lineclear worktree list",
        exit_code=NOT_ALLOWED,
        path=path,
        tree=tree,
        holder=owner,
    )


def unread_content(path: str, writer: str) -> Refusal:
    by = f"{named(writer)} wrote it last. " if writer else ""
    return Refusal(
        "hook.unread",
        f"{shorten(path)} holds content that you have not read; writing all of it would destroy that.",
        who=f"{by}Re-read it, then write again.",
        next_=f"cat {pasted(path, 'FILE')}",
        exit_code=STALE,
        path=path,
        holder=writer,
    )


def hook_failed(error: str) -> Refusal:
    return Refusal(
        "hook.failed",
        "lineclear could not judge this edit, and this repository asks to stop then.",
        who=f"It failed with {shorten(error, 60)}; `on_error` in lineclear.toml says what happens.",
        next_="lineclear doctor",
        error=shorten(error, 200),
    )
