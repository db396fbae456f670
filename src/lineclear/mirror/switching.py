"""Turn the files for agents on and off for one clone. Off removes exactly what on added."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lineclear.mirror.publishing import publish, remove_files
from lineclear.wiring.mirroring import PARTS, choose_parts, hide_from_git, parts_on
from lineclear.wiring.repo import open_repo

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from lineclear.mirror.publishing import FileEnd, PublishResult
    from lineclear.wiring.repo import Repo


def turn_on(repo: Repo, parts: Iterable[str]) -> tuple[str, ...]:
    """Turn these parts on; return all parts that are on now."""
    wanted = {*parts_on(repo.settings), *parts}
    chosen = tuple(part for part in PARTS if part in wanted)
    choose_parts(repo, chosen)
    hide_from_git(repo, is_hidden=True)
    return chosen


def turn_off(repo: Repo, parts: Iterable[str]) -> tuple[tuple[str, ...], list[FileEnd]]:
    """Turn these parts off; return the parts that are still on, and what became of each file."""
    unwanted = set(parts)
    publish(repo)  # take in the last edits before the file goes
    chosen = tuple(part for part in parts_on(repo.settings) if part not in unwanted)
    choose_parts(repo, chosen)
    ends = remove_files(repo, unwanted)
    if not chosen:
        hide_from_git(repo, is_hidden=False)
    return chosen, ends


def take_away(repo: Repo) -> None:
    """For `uninstall`: remove our files from all worktrees and our lines from git's exclude file."""
    remove_files(repo, PARTS)
    hide_from_git(repo, is_hidden=False)


def publish_with_new_settings(cwd: str, environ: Mapping[str, str]) -> PublishResult | None:
    """Open the repository again, with the settings that were just changed, and publish."""
    repo = open_repo(cwd, environ)
    try:
        return publish(repo, is_forced=True)
    finally:
        repo.close()
