"""Refusals of the gate that git's hooks and landings ask. Words only, no decision."""

from __future__ import annotations

from lineclear.core.refusals import NOT_ALLOWED, Refusal, named, shorten


def foreign_tree(tree: str, holder: str) -> Refusal:
    return Refusal(
        "gate.foreign_tree",
        f"The worktree {shorten(tree)} is not yours to commit in.",
        who=f"It belongs to {named(holder)}.",
        next_="lineclear worktree list",
        exit_code=NOT_ALLOWED,
        tree=shorten(tree, 200),
        holder=holder,
    )


def main_is_landed(main: str) -> Refusal:
    return Refusal(
        "gate.main",
        f"{shorten(main)} is moved by landing only; your work goes on a branch of your own.",
        next_="lineclear land",
        exit_code=NOT_ALLOWED,
        main=shorten(main, 250),
    )


def cannot_ask(resource: str, strategy: str) -> Refusal:
    """While the shared store is out of reach; for a hook's edit as for a commit."""
    return Refusal(
        "gate.unreachable",
        f"{shorten(resource, 100)} is {shorten(strategy, 30)}, and the shared store cannot be asked whose"
        " it is.",
        who="Nobody changes it until the store is back. Go on with your other files.",
        next_="lineclear doctor",
        exit_code=NOT_ALLOWED,
        resource=shorten(resource, 250),
        strategy=shorten(strategy, 80),
    )


def ref_is_ours(ref: str) -> Refusal:
    return Refusal(
        "gate.ref",
        f"{shorten(ref, 100)} is kept by lineclear and not moved by hand.",
        next_="lineclear salvage list",
        exit_code=NOT_ALLOWED,
        ref=shorten(ref, 250),
    )
