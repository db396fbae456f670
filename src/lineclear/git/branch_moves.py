"""Moves a branch by compare-and-set and, where it is checked out, its files and index with it.

The order is files, index, ref, all under the worktree's own `index.lock`: if a checked-out ref moved alone,
the user's next commit would revert what came in. A small journal is written first. If a process dies, the
next one finds the journal, and `repair` undoes or finishes the move. Nothing of the user's is overwritten:
git refuses if their changes overlap, and we do the same for ignored files.
"""

from __future__ import annotations

import json
import os
import shutil
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from lineclear.core.words.computed.queue import cause_of
from lineclear.git import layout as layouts
from lineclear.git.restoring import put_back
from lineclear.git.run import GitFailed, git
from lineclear.host.files import write_atomically

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Protocol

    from lineclear.git.restoring import Entry

    class CloneFacts(Protocol):
        """What a move needs to know about its clone."""

        @property
        def cwd(self) -> str: ...

        def commit_of(self, name: str, /) -> str:
            """The commit that a ref names now, "" if none."""

        def differences(self, old: str, new: str, /) -> dict[str, tuple[Entry, Entry]]:
            """path -> ((mode, object id) or None, on each side) for everything that differs."""


# The content of our own index.lock, by which a later process recognises it.
_MARK = (
    "lineclear is moving this branch. "
    "If this file stays, run `lineclear land`, or `lineclear sync` in this worktree: they repair.\n"
)
_STEPS = (
    ("MERGE_HEAD", "a merge"),
    ("CHERRY_PICK_HEAD", "a cherry-pick"),
    ("REVERT_HEAD", "a revert"),
    ("rebase-merge", "a rebase"),
    ("rebase-apply", "a rebase"),
)
# Git holds its locks for moments; one that holds it longer waits for a person, or is dead.
INDEX_WAIT_S = 5.0
_POLL_S, _STALE_LOCK_S, _NEAR_NS = 0.05, 1.0, 60_000_000_000


class BranchMove:
    """`how`: "moved"; "stale" (the branch was not at the old commit); "blocked", with reason and files."""

    def __init__(self, how: str, why: str = "", files: Sequence[str] = ()) -> None:
        self.how, self.why, self.files = how, why, list(files)


@dataclass(frozen=True, slots=True)
class Checkout:
    """A worktree in which a branch is checked out."""

    path: str
    git_dir: str

    @property
    def index(self) -> str:
        return self.git_dir + "/index"

    @property
    def lock(self) -> str:
        return self.git_dir + "/index.lock"

    @property
    def new_index(self) -> str:
        return self.git_dir + "/lineclear.index"

    @property
    def old_index(self) -> str:
        return self.git_dir + "/lineclear.index.old"


def checkouts_of(common_dir: str, ref: str) -> list[Checkout]:
    """Every worktree that has the branch checked out."""
    found = []
    for name, path in layouts.worktrees(common_dir):
        git_dir = common_dir if name == layouts.MAIN_TREE else f"{common_dir}/worktrees/{name}"
        if head_ref(path, common_dir, git_dir) == ref:
            found.append(Checkout(path, git_dir))
    return found


def head_ref(path: str, common_dir: str, git_dir: str) -> str:
    """The branch that a worktree is on, as a full ref; "" if HEAD is detached."""
    if os.path.isdir(common_dir + "/reftable"):
        return git(["symbolic-ref", "--quiet", "HEAD"], path, check=False).decode().strip()
    branch = layouts.head_branch(git_dir)
    return f"refs/heads/{branch}" if branch else ""


def step_in_progress(git_dir: str) -> str:
    """The merge, rebase or similar that is unfinished in this worktree, in words; "" if there is none."""
    return next((words for name, words in _STEPS if os.path.exists(f"{git_dir}/{name}")), "")


def rebased_in(common_dir: str, ref: str) -> str:
    """The worktree in which the branch is being rebased, "" if none. Meanwhile HEAD is detached there."""
    for name, path in layouts.worktrees(common_dir):
        git_dir = common_dir if name == layouts.MAIN_TREE else f"{common_dir}/worktrees/{name}"
        for kind in ("rebase-merge", "rebase-apply"):
            if _read(f"{git_dir}/{kind}/head-name").strip() == ref:
                return path
    return ""


class Mover:
    """Moves one branch of one clone. The caller holds the lock, with the descriptor `lock_fd`, that guards
    the file `journal`."""

    def __init__(self, clone: CloneFacts, common_dir: str, journal: str, ref: str, lock_fd: int) -> None:
        self._clone, self._common_dir, self._ref, self._fds = clone, common_dir, ref, (lock_fd,)
        self._journal = journal

    def move(self, old: str, new: str, why: str) -> BranchMove:
        places = checkouts_of(self._common_dir, self._ref)
        blocked = self._blocked(places)
        if blocked:
            return BranchMove("blocked", blocked)
        if not places:
            self._write_journal(old, new, None, touched=False)
            is_moved = self._set_ref(old, new, why, self._clone.cwd)
            _remove(self._journal)
            return BranchMove("moved" if is_moved else "stale")
        return self._move_with_files(places[0], old, new, why)

    def _blocked(self, places: list[Checkout]) -> str:
        branch = self._ref.removeprefix("refs/heads/")
        rebased = rebased_in(self._common_dir, self._ref)
        if rebased:
            return f"{branch} is being rebased in {rebased}"
        if len(places) > 1:
            return f"{branch} is checked out in {places[0].path} and in {places[1].path}"
        step = step_in_progress(places[0].git_dir) if places else ""
        return f"{step} is in progress in {places[0].path}" if step else ""

    def _move_with_files(self, place: Checkout, old: str, new: str, why: str) -> BranchMove:
        changes = self._clone.differences(old, new)
        in_the_way = self._in_the_way(place, old, changes)
        if in_the_way is not None:
            return in_the_way
        self._write_journal(old, new, place, touched=False)
        if not _lock_index(place):
            _remove(self._journal)
            return BranchMove(
                "blocked", f"another git process is running in {place.path} or left its index.lock there"
            )
        try:
            is_moved = self._tip() == old  # from here on nobody can commit in this worktree
            if is_moved:
                self._move_files(place, old, new)
                is_moved = self._set_ref(old, new, why, place.path)
        except GitFailed as error:
            self.repair()
            files = overlapping(place, old, set(changes))
            reason = f"uncommitted changes in {place.path} overlap" if files else cause_of(error.stderr)[:200]
            return BranchMove("blocked", reason, files)
        if not is_moved:
            self.repair()
            return BranchMove("stale")
        self._finish(self._facts(old, new, place, touched=True), is_moved=True)
        return BranchMove("moved")

    def _in_the_way(
        self, place: Checkout, old: str, changes: dict[str, tuple[Entry, Entry]]
    ) -> BranchMove | None:
        """What git would silently overwrite or restore."""
        untracked = self._untracked(place, changes)
        if untracked:
            return BranchMove(
                "blocked", f"files that git does not track are in the way in {place.path}", untracked
            )
        deleted = _deleted(place, old, changes)
        if deleted:
            return BranchMove("blocked", f"files that would change are deleted in {place.path}", deleted)
        return None

    def _move_files(self, place: Checkout, old: str, new: str) -> None:
        """Move work tree and index from one commit to the other and keep the user's changes; or GitFailed.

        The dry run comes first: once it succeeds, every file that will change is as in the old commit, so any
        other content found there later was left by the move.
        """
        env = {"GIT_INDEX_FILE": place.new_index}
        # An fsmonitor daemon started here would inherit the landing lock and hold it for ever.
        no_monitor = ["-c", "core.fsmonitor=false"]
        if os.path.exists(place.index):
            shutil.copy2(
                place.index, place.new_index
            )  # with its time, by which git judges which entries are fresh
            _remove(place.old_index)
            os.link(place.index, place.old_index)
        move = [*no_monitor, "read-tree", "-m", "-u", old, new]
        try:
            git([*move, "--dry-run"], place.path, env=env, timeout_s=600)
        except GitFailed:  # perhaps files have new times but the same content
            refresh = [*no_monitor, "update-index", "-q", "--refresh"]
            git(refresh, place.path, env=env, check=False, timeout_s=600)
            git([*move, "--dry-run"], place.path, env=env, timeout_s=600)
        self._write_journal(old, new, place, touched=True)
        git(move, place.path, env=env, timeout_s=600, keep_fds=self._fds)
        self._complete_index(place)
        os.replace(place.new_index, place.index)

    def _complete_index(self, place: Checkout) -> None:
        """For subclasses: change the new index before it becomes the index."""

    def _set_ref(self, old: str, new: str, why: str, cwd: str) -> bool:
        """Run in the worktree that has the branch checked out, git also records it in HEAD's reflog."""
        try:
            git(["update-ref", "-m", why, self._ref, new, old], cwd)
        except GitFailed:
            if self._tip() == old:
                raise
            return self._tip() == new
        return True

    def _tip(self) -> str:
        return self._clone.commit_of(self._ref)

    def _untracked(self, place: Checkout, changes: dict[str, tuple[Entry, Entry]]) -> list[str]:
        """Untracked files in the place of new ones: git silently overwrites ignored ones, and names only the
        first of the others."""
        folds = layouts.ignores_case(self._common_dir)
        gone = {path.casefold() for path, (_, new) in changes.items() if new is None}
        added = [
            path
            for path, (old, _) in changes.items()
            if old is None and not (folds and path.casefold() in gone)
        ]
        found = {name for path in added for name in _obstacles(place.path, path)}
        tracked = _index_entries(place, found) if found else {}
        return sorted(found - set(tracked))

    # -- the journal --------------------------------------------------------------------------------

    def repair(self) -> str:
        """Finish or undo a move that was left half done. Return what was done, "" if nothing."""
        _remove(f"{self._journal}.new")
        found = _journal(self._journal)
        if found is None:
            return ""
        _drop_lock(f"{self._common_dir}/{self._ref}.lock", f"{found['new']}\n")
        is_moved = self._is_done(found)
        self._finish(found, is_moved=is_moved)
        return f"the move to {found['new'][:12]} was {'finished' if is_moved else 'undone'}"

    def _is_done(self, found: dict[str, str]) -> bool:
        return self._tip() == found["new"]

    def _finish(self, found: dict[str, str], *, is_moved: bool) -> None:
        """Undo the move unless it took place, then remove its temporary files and the journal."""
        if found["path"] and os.path.isdir(found["path"]):
            place = Checkout(found["path"], found["git_dir"])
            if not is_moved:
                self._undo(place, found["old"], found["new"], touched=found["touched"] == "yes")
            _tidy(place, _written_ns(self._journal))
        _remove(self._journal)

    def _undo(self, place: Checkout, old: str, new: str, *, touched: bool) -> None:
        """Restore the index while our lock is on it, then each file that is as the move left it."""
        if _read(place.lock) == _MARK and os.path.exists(place.old_index):
            os.replace(place.old_index, place.index)
        if touched:
            changes = self._clone.differences(old, new)
            indexed = _index_entries(place, set(changes))
            ours = {path: pair for path, pair in changes.items() if indexed.get(path) == pair[0]}
            put_back(place.path, old, ours, self._fds)

    def _write_journal(self, old: str, new: str, place: Checkout | None, *, touched: bool) -> None:
        facts = self._facts(old, new, place, touched=touched)
        write_synced(self._journal, json.dumps(facts))

    def _facts(self, old: str, new: str, place: Checkout | None, *, touched: bool) -> dict[str, str]:
        """`touched`: files may be half moved from here on."""
        return {
            "ref": self._ref,
            "old": old,
            "new": new,
            "path": place.path if place else "",
            "git_dir": place.git_dir if place else "",
            "touched": "yes" if touched else "no",
        }


def write_synced(path: str, text: str) -> None:
    """Replace the file atomically and flush it to disk; a killed process leaves at most PATH.new."""
    write_atomically(path, text.encode("utf-8", "surrogateescape"), temporary=f"{path}.new")


def _index_entries(place: Checkout, wanted: set[str]) -> dict[str, Entry]:
    """The index entries of these paths, without unmerged ones."""
    output = git(["ls-files", "--stage", "-z", "--full-name"], place.path, timeout_s=600)
    found: dict[str, Entry] = {}
    for row in output.decode("utf-8", "surrogateescape").split("\0")[:-1]:
        info, _, path = row.partition("\t")
        mode, oid, stage = info.split()
        if path in wanted and stage == "0":
            found[path] = (mode, oid)
    return found


def overlapping(place: Checkout, old: str, paths: set[str]) -> list[str]:
    """Those of the paths with uncommitted changes, staged or not."""
    words = ["--no-optional-locks", "diff", "--no-ext-diff", "--name-only", "-z", "--no-renames"]
    words += ["--ignore-submodules=dirty"]
    names: set[str] = set()
    for more in ([old], ["--cached", old]):
        output = git([*words, *more, "--"], place.path, check=False, timeout_s=600)
        names.update(output.decode("utf-8", "surrogateescape").split("\0")[:-1])
    return sorted(names & paths)


def _deleted(place: Checkout, old: str, changes: dict[str, tuple[Entry, Entry]]) -> list[str]:
    """The uncommitted deletions among the changes; git would silently restore these files."""
    missing = [
        path
        for path, (before, after) in changes.items()
        if before is not None and after is not None and not os.path.lexists(f"{place.path}/{path}")
    ]
    # Git tells them apart from files outside a sparse checkout.
    return overlapping(place, old, set(missing)) if missing else []


def _obstacles(root: str, path: str) -> Iterator[str]:
    """What is in the place of a new file: a file, files below it, or a file as its parent."""
    full = f"{root}/{path}"
    if os.path.isdir(full) and not os.path.islink(full):
        for directory, _, names in os.walk(full):
            yield from (os.path.relpath(f"{directory}/{name}", root) for name in names)
    elif os.path.lexists(full):
        yield path
    else:
        parent = os.path.dirname(path)
        while parent and not os.path.lexists(f"{root}/{parent}"):
            parent = os.path.dirname(parent)
        if parent and (os.path.islink(f"{root}/{parent}") or not os.path.isdir(f"{root}/{parent}")):
            yield parent


def _lock_index(place: Checkout) -> bool:
    """Lock the index as git does, by creating `index.lock`; waits a little for another git to end."""
    end_at = time.monotonic() + INDEX_WAIT_S
    marked = place.new_index + ".mark"
    with open(marked, "w", encoding="utf-8") as file:
        file.write(_MARK)
    try:
        # Linked, not written: our index.lock has its content from the first instant.
        while not _linked(marked, place.lock):
            if time.monotonic() >= end_at:
                return False
            time.sleep(_POLL_S)
    finally:
        _remove(marked)
    return True


def _linked(source: str, target: str) -> bool:
    try:
        os.link(source, target)
    except FileExistsError:
        return False
    return True


def _tidy(place: Checkout, begun_ns: int) -> None:
    for path in (place.new_index, place.new_index + ".lock", place.new_index + ".mark", place.old_index):
        _remove(path)
    _drop_lock(place.lock, _MARK)
    _drop_old_lock(place.git_dir + "/HEAD.lock", begun_ns)


def _drop_lock(path: str, content: str) -> None:
    """Remove a lock that we, or a git that we started, left behind, recognised by its content."""
    if _read(path) == content:
        _remove(path)


def _drop_old_lock(path: str, begun_ns: int) -> None:
    """Remove an empty lock that a killed git left behind: made within a minute after our own move began, and
    still the same file after longer than git ever holds it."""
    made_ns = _written_ns(path)
    if not begun_ns <= made_ns <= begun_ns + _NEAR_NS or _read(path):
        return
    end_at = time.monotonic() + _STALE_LOCK_S
    while _written_ns(path) == made_ns:
        if time.monotonic() >= end_at:
            _remove(path)
        time.sleep(_POLL_S)


def _written_ns(path: str) -> int:
    """When the file was last written; -1 if it does not exist."""
    try:
        return os.lstat(path).st_mtime_ns
    except OSError:
        return -1


def _journal(path: str) -> dict[str, str] | None:
    text = _read(path)
    try:
        found = json.loads(text) if text else None
    except ValueError:
        return None
    return found if isinstance(found, dict) else None


def _read(path: str) -> str:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read()
    except OSError:
        return ""


def _remove(path: str) -> None:
    try:
        os.unlink(path)
    except OSError:
        pass
