"""Turning the files for agents on and off for one clone. Off takes out exactly what on put in."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lineclear.mirror.publishing import publish, remove_files
from lineclear.wiring.mirroring import PARTS, choose_parts, hide_from_git, parts_on
from lineclear.wiring.repo import open_repo

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from lineclear.mirror.publishing import Done
    from lineclear.wiring.repo import Repo


def turn_on(repo: Repo, parts: Iterable[str]) -> tuple[str, ...]:
    """The parts that are on from now on."""
    wanted = {*parts_on(repo.settings), *parts}
    chosen = tuple(part for part in PARTS if part in wanted)
    choose_parts(repo, chosen)
    hide_from_git(repo, is_hidden=True)
    return chosen


def turn_off(repo: Repo, parts: Iterable[str]) -> tuple[tuple[str, ...], list[str]]:
    """(the parts that are still on, the files that went)."""
    unwanted = set(parts)
    publish(repo)  # what was edited and not yet taken in is not lost with the file
    chosen = tuple(part for part in parts_on(repo.settings) if part not in unwanted)
    choose_parts(repo, chosen)
    gone = remove_files(repo, unwanted)
    if not chosen:
        hide_from_git(repo, is_hidden=False)
    return chosen, gone


def take_away(repo: Repo) -> None:
    """For `uninstall`: no file of ours stays in a worktree, no line in git's list."""
    remove_files(repo, PARTS)
    hide_from_git(repo, is_hidden=False)


def publish_anew(cwd: str, environ: Mapping[str, str]) -> Done | None:
    """A first pass under settings that have just been changed."""
    repo = open_repo(cwd, environ)
    try:
        return publish(repo, is_forced=True)
    finally:
        repo.close()
