"""Snapshots of this clone's worktrees, wired: take one, find the last one, is everything saved?"""

from __future__ import annotations

import os
import sys
import time

from lineclear.core import refusals_snapshots
from lineclear.core.refusals import Refusal
from lineclear.core.snapshots import BEFORE_REMOVAL, PREFIX, Kept, Limits, thin
from lineclear.git.layout import MAIN_TREE, Layout, landing_branch, worktrees
from lineclear.git.run import GitFailed
from lineclear.git.snapshot_files import file_stem, take_mark
from lineclear.git.snapshot_refs import (
    count_lines,
    create_branch,
    delete_snapshots,
    diff,
    empty_tree,
    is_branch_name,
    is_reachable,
    list_snapshots,
    tree_of,
)
from lineclear.git.snapshots import Snapshots

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from lineclear.core.snapshots import Snapshot
    from lineclear.settings import Settings
    from lineclear.wiring.repo import Repo

DIRECTORY = "snapshots"
# Old ones go when an agent has this many more than it may: a git less in most snapshots.
_SLACK = 10


def take_for(
    repo: Repo, *, agent: str, tree: str, path: str = "", why: str, task: int = 0
) -> Snapshot | None:
    """Save a worktree as it is now; None when the agent's last snapshot holds exactly this."""
    at_s = int(time.time())
    limits = limits_of(repo.settings)
    take_mark(_mark(repo, tree), 0)
    taken = _snapshots(repo, tree, path).take(agent=agent, task=task, why=why, at_s=at_s, limits=limits)
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

    Whoever asks is about to remove it: with `lasting` a snapshot that would make room for newer ones is
    taken once more as one that stays, so that yes stays true.
    """
    common_dir = repo.layout.common_dir
    try:
        head, content, left_out = _snapshots(repo, tree, path).tree_now()
        if left_out or not head:
            return False
        main = landing_branch(common_dir)
        landed = bool(main) and is_reachable(common_dir, head, [f"refs/heads/{main}"])
        if landed and tree_of(common_dir, head) == content:
            return True
        kept = [
            found for found in list_snapshots(common_dir) if (found.tree, found.parent) == (content, head)
        ]
        if not kept:
            return False
        if lasting and all(found.is_rolling for found in kept):
            take_for(repo, agent=kept[0].agent, tree=tree, path=path, why=BEFORE_REMOVAL, task=kept[0].task)
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


def limits_of(settings: Settings) -> Limits:
    names = () if settings.snapshots_secrets else settings.snapshots_secret_names
    return Limits(largest_file_bytes=settings.snapshots_largest_file_bytes, secret_names=names)


def layout_of(repo: Repo, tree: str, path: str = "") -> Layout:
    """The layout of a worktree by its name, also when its `.git` file is gone."""
    common_dir = repo.layout.common_dir
    name = tree.removeprefix(repo.tree.removesuffix(repo.layout.tree))
    place = path or dict(worktrees(common_dir)).get(name, "")
    if not place:
        raise refusals_snapshots.worktree_gone(name)
    git_dir = common_dir if name == MAIN_TREE else f"{common_dir}/worktrees/{name}"
    return Layout(os.path.realpath(place), git_dir, common_dir)


def _snapshots(repo: Repo, tree: str, path: str) -> Snapshots:
    return Snapshots(layout_of(repo, tree, path), os.path.join(repo.state_directory, DIRECTORY))


# -- salvage ----------------------------------------------------------------------------------


def list_kept(repo: Repo, agent: str = "") -> list[Kept]:
    """All snapshots, or an agent's: newest first."""
    return list_snapshots(repo.layout.common_dir, agent)


def find_kept(repo: Repo, name: str) -> Kept:
    from lineclear.app.snapshots import choose

    return choose(list_kept(repo), name)


def patch_of(repo: Repo, kept: Kept, *, options: tuple[str, ...] = ()) -> str:
    """What the snapshot adds to the commit it was taken on."""
    common_dir = repo.layout.common_dir
    return diff(common_dir, kept.parent or empty_tree(common_dir), kept.commit, options)


def files_of(repo: Repo, kept: Kept) -> list[dict[str, Any]]:
    common_dir = repo.layout.common_dir
    return count_lines(common_dir, kept.parent or empty_tree(common_dir), kept.commit)


def restore_branch(repo: Repo, kept: Kept, branch: str = "") -> str:
    """A new branch at the snapshot; without a name it gets one of its own. Gives the name."""
    common_dir = repo.layout.common_dir
    short = f"{kept.agent}/{kept.number}"
    wanted = branch or f"salvage/{kept.ref.removeprefix(PREFIX)}"
    if not is_branch_name(common_dir, wanted):
        raise refusals_snapshots.restored_misnamed(wanted, short)
    if create_branch(common_dir, wanted, kept.commit):
        return wanted
    if branch:
        raise refusals_snapshots.restored_exists(branch, short)
    for number in range(2, 1_000):
        if create_branch(common_dir, f"{wanted}-{number}", kept.commit):
            return f"{wanted}-{number}"
    raise refusals_snapshots.restored_exists(wanted, short)


def restore_patch(repo: Repo, kept: Kept, path: str) -> int:
    """The snapshot against its parent as a patch for `git apply`; gives its size. Writes over nothing."""
    data = patch_of(repo, kept, options=("--binary", "--full-index")).encode("utf-8", "surrogateescape")
    try:
        with open(path, "xb") as file:
            return file.write(data)
    except FileExistsError as error:
        raise refusals_snapshots.patch_exists(path, f"{kept.agent}/{kept.number}") from error
    except OSError as error:
        raise refusals_snapshots.patch_unwritable(path, error.strerror or str(error)) from error


# -- without a supervisor ---------------------------------------------------------------------


def start_detached(repo: Repo, *, agent: str, tree: str, path: str) -> bool:
    """Start one snapshot beside us when nobody looked at this worktree for `every`: for hooks, which may
    not wait. True when one was started; of many hooks at one instant one starts it."""
    from lineclear.process.detached import start

    if not take_mark(_mark(repo, tree), repo.settings.snapshots_every_ms):
        return False
    words = ["-C", path, "salvage", "take", "--as", agent]
    start([sys.executable, "-m", "lineclear", *words], repo.environ)
    return True


def _mark(repo: Repo, tree: str) -> str:
    name = tree.removeprefix(repo.tree.removesuffix(repo.layout.tree))
    return f"{file_stem(os.path.join(repo.state_directory, DIRECTORY), name)}.mark"
