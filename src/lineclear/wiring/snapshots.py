"""Snapshots of this clone's worktrees, wired: take one, find the last one, is everything saved?"""

from __future__ import annotations

import os
import time

from lineclear.core.words.refusals import Refusal, refuse
from lineclear.core.worktrees.snapshots import BEFORE_REMOVAL, Kept, SnapshotLimits, thin
from lineclear.git import snapshot_marks
from lineclear.git.branches import is_merged
from lineclear.git.layout import MAIN_TREE, Layout, worktrees
from lineclear.git.run import GitFailed
from lineclear.git.snapshot_refs import delete_snapshots, list_snapshots, renew, tree_of
from lineclear.git.snapshots import Snapshots
from lineclear.wiring.repo import SNAPSHOTS, mark_of
from lineclear.wiring.worktree_git import Site

TYPE_CHECKING = False
if TYPE_CHECKING:
    from lineclear.core.worktrees.snapshots import Snapshot
    from lineclear.settings import Settings
    from lineclear.wiring.repo import Repo

DIRECTORY = SNAPSHOTS
# Old ones go when an agent has this many more than it may: a git less in most snapshots.
_SLACK = 10
_TODAY_S = 86_400


def take_for(
    repo: Repo, *, agent: str, tree: str, path: str = "", why: str, task: int = 0
) -> Snapshot | None:
    """Save a worktree as it is now; None when the agent's last snapshot holds exactly this."""
    at_s = int(time.time())
    limits = limits_of(repo.settings)
    snapshot_marks.take_mark(mark_of(repo, tree), 0)
    taking, _ = snapshots_of(repo, tree, path)
    taken = taking.take(agent=agent, task=task, why=why, at_s=at_s, limits=limits)
    number = int(taken.ref.rpartition("/")[2]) if taken is not None else 0
    if number > repo.settings.snapshots_keep and number % _SLACK == 0:
        prune(repo, agent)
    return taken


def latest(repo: Repo, agent: str) -> Kept | None:
    """The agent's newest snapshot."""
    found = list_snapshots(repo.layout.common_dir, agent)
    return found[0] if found else None


def is_saved(repo: Repo, tree: str, path: str = "", *, lasting: bool = True) -> bool:
    """Would nothing be lost with this worktree? Every file that git does not ignore is in a snapshot or
    in HEAD, and HEAD is in main's history or a snapshot's.

    Whoever asks is about to remove it: with `lasting` a snapshot that makes room for newer ones, or that
    is not of today, is kept once more as one that stays, so that yes stays true for `keep_for`.
    """
    common_dir = repo.layout.common_dir
    try:
        head, content, left_out = snapshots_of(repo, tree, path)[0].tree_now()
        if left_out or not head:
            return False
        main = Site(repo).main_commit()
        if main and is_merged(common_dir, head, main) and tree_of(common_dir, head) == content:
            return True
        kept = [
            found for found in list_snapshots(common_dir) if (found.tree, found.parent) == (content, head)
        ]
        if not kept:
            return False
        now_s = int(time.time())
        if lasting and all(found.is_rolling or found.at_s < now_s - _TODAY_S for found in kept):
            renew(common_dir, kept[0], BEFORE_REMOVAL, now_s)
        return True
    except (Refusal, GitFailed):
        return False


def prune(repo: Repo, agent: str) -> list[Kept]:
    """Remove the agent's snapshots that are too many or too old; its newest stays."""
    found = list_snapshots(repo.layout.common_dir, agent)
    return delete_snapshots(repo.layout.common_dir, stale(repo.settings, found))


def stale(settings: Settings, found: list[Kept], *, has_worktree: bool = True) -> list[Kept]:
    """Those that may go, of one agent's snapshots from new to old."""
    now_s = int(time.time())
    places = thin(
        [max(0, now_s - kept.at_s) for kept in found],
        [kept.is_rolling for kept in found],
        keep=settings.snapshots_keep,
        keep_for_s=settings.snapshots_keep_for_ms // 1_000,
        has_worktree=has_worktree,
    )
    return [found[place] for place in places]


def limits_of(settings: Settings) -> SnapshotLimits:
    names = () if settings.snapshots_secrets else settings.snapshots_secret_names
    return SnapshotLimits(largest_file_bytes=settings.snapshots_largest_file_bytes, secret_names=names)


def layout_of(repo: Repo, tree: str, path: str = "") -> Layout:
    """The layout of a worktree by its name, also when its `.git` file is gone."""
    common_dir = repo.layout.common_dir
    name = tree.removeprefix(repo.tree.removesuffix(repo.layout.tree))
    place = path or dict(worktrees(common_dir)).get(name, "")
    if not place:
        raise refuse("snapshot.no_worktree", path=name)
    git_dir = common_dir if name == MAIN_TREE else f"{common_dir}/worktrees/{name}"
    return Layout(os.path.realpath(place), git_dir, common_dir)


def snapshots_of(repo: Repo, tree: str, path: str) -> tuple[Snapshots, Layout]:
    layout = layout_of(repo, tree, path)
    return Snapshots(layout, os.path.join(repo.state_directory, DIRECTORY)), layout
