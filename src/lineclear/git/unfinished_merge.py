"""Leaves an unfinished merge in a worktree exactly as git would, for somebody to resolve and commit.

Files and index move as for a branch (git/branch_moves.py), with a journal. Then the conflicting paths get
their stages, and MERGE_HEAD, written last, turns it into a merge: if the process dies before that, `repair`
undoes everything. The branch itself does not move. Since `git merge --abort` must restore the earlier state,
nothing may be staged and no conflicting path may have changes: git would discard them.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from lineclear.core.worktrees.syncing import STAGED
from lineclear.git.branch_moves import BranchMove, Mover, checkouts_of, overlapping, write_synced
from lineclear.git.restoring import put_back
from lineclear.git.run import git

if TYPE_CHECKING:
    from collections.abc import Mapping

    from lineclear.git.branch_moves import Checkout, CloneFacts
    from lineclear.git.restoring import Entry

    # path -> stage (1 base, 2 the branch, 3 main) -> (mode, object id)
    Stages = Mapping[str, Mapping[int, tuple[str, str]]]

_MESSAGE, _MODE, _HEAD, _AUTO = "MERGE_MSG", "MERGE_MODE", "MERGE_HEAD", "AUTO_MERGE"


class Keeper(Mover):
    """Leaves one merge in the worktree of one branch."""

    def __init__(self, clone: CloneFacts, common_dir: str, journal: str, ref: str, lock_fd: int) -> None:
        super().__init__(clone, common_dir, journal, ref, lock_fd)
        self._stages: Stages = {}
        self._other = self._message = ""

    def keep(self, tip: str, tree: str, other: str, stages: Stages, message: str) -> BranchMove:
        """`tree`: the files as they will be, with conflict markers; `other`: the commit that is merged."""
        self._stages, self._other, self._message = stages, other, message
        if not checkouts_of(self._common_dir, self._ref):
            return BranchMove("stale")
        return self.move(tip, tree, "lineclear: sync")

    def _in_the_way(
        self, place: Checkout, old: str, changes: dict[str, tuple[Entry, Entry]]
    ) -> BranchMove | None:
        if self._tip() != old:
            return BranchMove("stale")
        staged = _staged(place.path, old)
        if staged:
            return BranchMove("blocked", STAGED, staged)
        # Git's own check covers only the paths that the move changes; a conflicting path may not be among
        # them.
        files = overlapping(place, old, {*changes, *self._stages})
        if files:
            return BranchMove("blocked", f"uncommitted changes in {place.path} overlap", files)
        return super()._in_the_way(place, old, changes)

    def _complete_index(self, place: Checkout) -> None:
        rows = []
        for path, stages in self._stages.items():
            oid_length = max(len(oid) for _, oid in stages.values())
            rows.append(f"0 {'0' * oid_length}\t{path}\0")
            rows += [f"{mode} {oid} {stage}\t{path}\0" for stage, (mode, oid) in sorted(stages.items())]
        listing = "".join(rows).encode("utf-8", "surrogateescape")
        env = {"GIT_INDEX_FILE": place.new_index}
        git(["update-index", "-z", "--index-info"], place.path, input=listing, env=env, keep_fds=self._fds)

    def _set_ref(self, old: str, new: str, why: str, cwd: str) -> bool:
        """Instead of moving the branch, write the files that tell git of a merge."""
        del why
        git_dir = git(["rev-parse", "--absolute-git-dir"], cwd).decode().rstrip("\n")
        self._show_open_files(cwd, old, new)
        git(["update-ref", "ORIG_HEAD", old], cwd)
        git(["update-ref", _AUTO, new], cwd)
        write_synced(f"{git_dir}/{_MESSAGE}", self._message)
        write_synced(f"{git_dir}/{_MODE}", "")
        write_synced(f"{git_dir}/{_HEAD}", f"{self._other}\n")
        return True

    def _show_open_files(self, root: str, old: str, new: str) -> None:
        """Check out conflicting files even outside a sparse checkout: they have to be resolved."""
        entries = self._clone.differences(old, new)
        hidden: dict[str, tuple[Entry, Entry]] = {
            path: (entries[path][1], None)
            for path in self._stages
            if path in entries and entries[path][1] is not None and not os.path.lexists(f"{root}/{path}")
        }
        if hidden:
            put_back(root, new, hidden, self._fds)

    def _is_done(self, found: dict[str, str]) -> bool:
        """We held the index lock, so an existing MERGE_HEAD is ours."""
        return os.path.exists(f"{found['git_dir']}/{_HEAD}")

    def _undo(self, place: Checkout, old: str, new: str, *, touched: bool) -> None:
        begun = (_MESSAGE, _MODE, _AUTO, f"{_MESSAGE}.new", f"{_MODE}.new", f"{_HEAD}.new")
        for name in begun if touched else ():
            try:
                os.unlink(f"{place.git_dir}/{name}")
            except OSError:
                pass
        super()._undo(place, old, new, touched=touched)


def _staged(root: str, head: str) -> list[str]:
    """Return the staged paths, including those of `git add --intent-to-add`."""
    words = ["--no-optional-locks", "diff", "--no-ext-diff", "--name-only", "-z", "--no-renames"]
    words += ["--ignore-submodules=dirty"]
    names: set[str] = set()
    for more in (["--cached", head], ["--diff-filter=A"]):
        output = git([*words, *more, "--"], root, timeout_s=600)
        names.update(output.decode("utf-8", "surrogateescape").split("\0")[:-1])
    return sorted(names)


def unmerged_paths(root: str) -> list[str]:
    """Return the paths with unresolved conflicts in a worktree's index."""
    rows = git(["ls-files", "--unmerged", "-z", "--full-name"], root, timeout_s=600)
    names = (row.partition("\t")[2] for row in rows.decode("utf-8", "surrogateescape").split("\0"))
    return sorted({name for name in names if name})
