"""What the radar sees of one clone: the unmerged work of all worktrees and branches. Touches no work tree.

Uncommitted work comes from snapshots: the state file of a worktree names the newest one. What merges write
goes into an object directory of its own, which is removed with the `CloneRadar`.
"""

from __future__ import annotations

import os
import re
import shutil
from dataclasses import dataclass
from typing import TYPE_CHECKING

from lineclear.app.queue.merge_trees import merge_two_trees
from lineclear.app.radar.known_work import Owner
from lineclear.app.radar.ports import MAIN_TREE, MOST_FILES_NAMING, Side
from lineclear.core.worktrees.rules import HALF_MADE
from lineclear.git import layout as layouts
from lineclear.git.landing import landing_ref
from lineclear.git.object_store import ObjectStore
from lineclear.git.objects import COMMIT
from lineclear.git.run import GitFailed, git
from lineclear.git.snapshots.files import State
from lineclear.git.snapshots.refs import merge_base
from lineclear.git.snapshots.trees import head_in_files
from lineclear.git.trees import GitTrees
from lineclear.git.worktree_commands import lock_of
from lineclear.merge.result import Labels

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import Any

    from lineclear.app.queue.merge_trees import MergeRules
    from lineclear.app.radar.known_work import KnownWork
    from lineclear.app.radar.ports import FactsCache
    from lineclear.git.layout import Layout

MOST_SIDES = 100
LARGEST_BYTES = 1_500_000
# A word in more files than this many changed since the last search is searched for again in all files.
_MOST_LOOKED_AT, _WORTH_KEEPING = 500, 50
_MOST_WORDS = 200
_HEADS = "refs/heads/"
_LIST = ("for-each-ref", "--format=%(objectname) %(committerdate:unix) %(refname)", _HEADS)
_GREP = (
    "grep", "--word-regexp", "--fixed-strings", "--only-matching", "--null", "-I", "--no-color",
    "--no-line-number", "--no-column", "--no-heading", "--no-break", "--no-textconv",
    "--no-recurse-submodules",
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class _Work:
    """Work that may be a side. `head`: the tip of its branch; `commit`: the snapshot, or `head` again."""

    name: str
    head: str
    commit: str
    branch: str
    worktree: str
    task: int
    at_s: int


class CloneRadar:
    """The `RadarGit` of one clone. Close it."""

    def __init__(
        self,
        layout: Layout,
        *,
        snapshots: str,
        scratch: str,
        scope: str,
        known: Callable[[], KnownWork],
        answers: FactsCache,
        rules: MergeRules,
        live_for_s: int,
        now_s: Callable[[], int],
    ) -> None:
        """`snapshots`: the directory of the snapshots' state files. `scratch`: a directory of our own for new
        objects; nobody else may use it now. `scope`: the clone's part of a worktree's name in the store."""
        self._common_dir, self._main_ref = layout.common_dir, landing_ref(layout)
        self._snapshots, self._scratch, self._scope, self._known = snapshots, scratch, scope, known
        self._answers, self._rules, self._live_for_s, self._now_s = answers, rules, live_for_s, now_s
        # The directory of the current process may be removed at any time; the main worktree stays.
        self._trees = self._open_trees(layouts.main_worktree(layout.common_dir) or layout.common_dir)
        self._objects = self._trees.store
        self.left_out = 0

    def _open_trees(self, cwd: str) -> GitTrees:
        """Git reads all objects of the clone and writes new ones to the scratch directory."""
        shutil.rmtree(self._scratch, ignore_errors=True)
        os.makedirs(f"{self._scratch}/info", mode=0o700)
        with open(f"{self._scratch}/info/alternates", "wb") as file:
            file.write(os.fsencode(f"{self._common_dir}/objects\n"))
        return GitTrees(cwd, ObjectStore(cwd, self._scratch, {"GIT_OBJECT_DIRECTORY": self._scratch}))

    def close(self) -> None:
        """Closing it again has no effect."""
        self._trees.close()
        shutil.rmtree(self._scratch, ignore_errors=True)

    # -- who works on what ------------------------------------------------------------------------

    def main(self) -> tuple[str, str]:
        commit = self._objects.commit_of(self._main_ref)
        return (commit, self._tree_of(commit)) if commit else ("", "")

    def sides(self) -> list[Side]:
        main, main_tree = self.main()
        self.left_out = 0
        if not main:
            return []
        known = self._known()
        worktrees = list(self._worktrees(known))
        taken = {work.branch for work in worktrees} | {self._main_ref.removeprefix(_HEADS)}
        branches = [work for work in self._branches(known) if work.branch not in taken]
        oldest_s = self._now_s() - self._live_for_s
        live = [
            work
            for work in (*worktrees, *branches)
            if work.commit != main and (work.at_s >= oldest_s or work.branch in known.queued)
        ]
        found: list[Side] = []
        for work in sorted(live, key=lambda work: (-work.at_s, work.worktree, work.branch)):
            if len(found) >= MOST_SIDES:
                self.left_out += 1
            elif side := self._side(work, main, main_tree, known):
                found.append(side)
        return found

    def _worktrees(self, known: KnownWork) -> Iterator[_Work]:
        """One that is broken, or that somebody is just making or removing, is left out."""
        for name, path in layouts.worktrees(self._common_dir):
            is_main = name == layouts.MAIN_TREE
            git_dir = self._common_dir if is_main else f"{self._common_dir}/worktrees/{name}"
            if not is_main and lock_of(self._common_dir, name) == HALF_MADE:
                continue
            try:
                head, branch = self._head(layouts.Layout(path, git_dir, self._common_dir))
            except GitFailed:
                continue
            if not self._tree_of(head):
                continue
            commit = self._newest_snapshot(name, git_dir, head) or head
            owner = known.owners.get(self._scope + name, Owner())
            shown = MAIN_TREE if is_main and _HEADS + branch == self._main_ref else branch or name
            yield _Work(
                name=owner.agent or shown, head=head, commit=commit, branch=branch,
                worktree=self._scope + name, task=owner.task or known.queued.get(branch, 0),
                at_s=self._time_of(commit),
            )  # fmt: skip

    def _head(self, layout: Layout) -> tuple[str, str]:
        """(HEAD's commit or "", its branch or "")."""
        commit, branch = head_in_files(layout), layouts.head_branch(layout.git_dir)
        if commit is None and layouts.has_reftable(self._common_dir):
            words = ["rev-parse", "--verify", "--quiet", "HEAD"]
            commit = git(words, layout.git_dir, check=False).decode().strip()
            words = ["symbolic-ref", "--quiet", "HEAD"]
            output = git(words, layout.git_dir, check=False).decode("utf-8", "surrogateescape")
            branch = output.strip().removeprefix(_HEADS)
        return commit or "", branch or ""

    def _newest_snapshot(self, name: str, git_dir: str, head: str) -> str:
        """The worktree's last snapshot; "" if HEAD has moved since, and if it is of an earlier worktree of
        this name."""
        path = layouts.file_stem(self._snapshots, name) + ".state"
        if _changed_ns(path) < _changed_ns(f"{git_dir}/commondir"):
            return ""
        state = State.load(path)
        is_usable = state.head == head and state.commit and self._tree_of(state.commit)
        return state.commit if is_usable else ""

    def _branches(self, known: KnownWork) -> Iterator[_Work]:
        rows = git(_LIST, self._common_dir, timeout_s=120).decode("utf-8", "surrogateescape")
        for row in rows.split("\n")[:-1]:
            commit, at_s, ref = row.split(" ", 2)
            branch = ref.removeprefix(_HEADS)
            yield _Work(
                name=branch, head=commit, commit=commit, branch=branch, worktree="",
                task=known.queued.get(branch, 0), at_s=int(at_s or 0),
            )  # fmt: skip

    def _side(self, work: _Work, main: str, main_tree: str, known: KnownWork) -> Side | None:
        """None if it has nothing that main does not have."""
        # After a linear landing main has the content of the tip, but not its commit.
        base = work.head if work.head in known.landed else self._base(main, work.head)
        tree, base_tree = self._tree_of(work.commit), self._tree_of(base)
        if not tree or not base_tree or tree == base_tree:
            return None
        if base != main and self._is_within(base_tree, tree, main_tree):
            return None
        return Side(
            name=work.name, tree=tree, commit=work.commit, base=base, base_tree=base_tree, branch=work.branch,
            worktree=work.worktree, task=work.task, at_s=work.at_s,
        )  # fmt: skip

    def _base(self, main: str, head: str) -> str:
        """The merge base; "" for unrelated histories."""
        if head == main:
            return main
        key = f"merge base {main} {head}"
        base = self._answers.answer(key)
        if not isinstance(base, str):
            base = merge_base(self._common_dir, main, head)
            self._answers.keep_answer(key, base)
        return base

    def _is_within(self, base_tree: str, tree: str, main_tree: str) -> bool:
        """Has main made all the same changes?"""
        ours, mains = self._trees.differences(base_tree, tree), self._trees.differences(base_tree, main_tree)
        return all(path in mains and mains[path][1] == after for path, (_, after) in ours.items())

    def _tree_of(self, commit: str) -> str:
        """The tree of a commit; "" if there is no such commit."""
        kind, data = self._objects.find([commit]).get(commit, ("", b"")) if commit else ("", b"")
        return data.partition(b"\n")[0].removeprefix(b"tree ").decode() if kind == COMMIT else ""

    def _time_of(self, commit: str) -> int:
        data = self._objects.read([commit])[commit].partition(b"\n\n")[0]
        words = data.rpartition(b"\ncommitter ")[2].partition(b"\n")[0].rpartition(b"> ")[2].split()
        return int(words[0]) if words else 0

    # -- what is in it ----------------------------------------------------------------------------

    def changed(self, base_tree: str, tree: str) -> dict[str, tuple[str, str]]:
        rows = self._trees.changed(base_tree, tree)
        return {
            path: ("" if status == "A" else old, "" if status == "D" else new)
            for path, (status, old, new) in rows.items()
        }

    def read(self, oids: Iterable[str]) -> dict[str, bytes]:
        sizes = self._objects.sizes_of(sorted(oid for oid in set(oids) if oid))
        return self._objects.read(oid for oid, size in sizes.items() if size <= LARGEST_BYTES)

    def merge(self, base_tree: str, left_tree: str, right_tree: str) -> dict[str, Any]:
        return merge_two_trees(self._trees, base_tree, left_tree, right_tree, Labels(), self._rules)

    def who_changed(self, base: str, tip: str, path: str) -> str:
        words = ["--literal-pathspecs", "rev-list", "--max-count=1", f"{base}..{tip}", "--", path]
        try:
            return git(words, self._common_dir, timeout_s=120).decode().strip()
        except GitFailed:
            return ""

    # -- where a word occurs ----------------------------------------------------------------------

    def files_naming(self, tree: str, words: Iterable[str]) -> dict[str, dict[str, str]]:
        """Searching all files of a tree costs far more than anything else here. So we keep what was found for
        each word, and for another tree look only at the files that differ."""
        found: dict[str, dict[str, str]] = {}
        unknown = []
        for word in list(dict.fromkeys(words))[:_MOST_WORDS]:
            answer = self._answers.answer(f"files naming {word}")
            files = self._update(word, answer[0], answer[1], tree) if answer else None
            if files is None:
                unknown.append(word)
            else:
                found[word] = files
        if unknown:
            fresh = self._search(tree, unknown)
            for word, files in fresh.items():
                self._answers.keep_answer(f"files naming {word}", [tree, files])
            found |= fresh
        return found

    def _update(self, word: str, old: str, known: dict[str, str], tree: str) -> dict[str, str] | None:
        """Where the word occurs in `tree`, given where it occurs in the tree `old`; None if too much differs
        or the old tree is gone."""
        try:
            rows = self.changed(old, tree)
        except GitFailed:
            return None
        if len(rows) > _MOST_LOOKED_AT:
            return None
        whole = re.compile(rb"(?<![0-9A-Za-z_])" + re.escape(_bytes(word)) + rb"(?![0-9A-Za-z_])")
        contents = self.read(new for _, new in rows.values())
        files = {path: oid for path, oid in known.items() if path not in rows}
        for path, (_, new) in rows.items():
            if new in contents and whole.search(contents[new]) and b"\0" not in contents[new][:8_000]:
                files[path] = new
        files = dict(sorted(files.items())[:MOST_FILES_NAMING])
        if len(rows) > _WORTH_KEEPING:
            self._answers.keep_answer(f"files naming {word}", [tree, files])
        return files

    def _search(self, tree: str, words: list[str]) -> dict[str, dict[str, str]]:
        patterns = [part for word in words for part in ("-e", word)]
        try:
            output = git([*_GREP, *patterns, tree], self._trees.cwd, timeout_s=120, env=self._objects.env)
        except GitFailed as error:
            if error.exit_code != 1:  # 1: it occurs nowhere
                raise
            output = b""
        paths: dict[str, dict[str, None]] = {word: {} for word in words}
        for path, word in _matches(output, f"{tree}:"):
            if word in paths and len(paths[word]) < MOST_FILES_NAMING:
                paths[word][path] = None
        entries = self._trees.entries(tree, dict.fromkeys(path for some in paths.values() for path in some))
        return {word: {path: entries[path][1] for path in some} for word, some in paths.items()}


def _matches(output: bytes, prefix: str) -> Iterator[tuple[str, str]]:
    """(path, matched text) from lines `TREE:PATH NUL TEXT`; a path may hold a line break, a match cannot."""
    at, start = 0, prefix.encode()
    while at < len(output):
        middle = output.index(b"\0", at)
        end = output.index(b"\n", middle)
        path, text = output[at:middle].removeprefix(start), output[middle + 1 : end]
        yield path.decode("utf-8", "surrogateescape"), text.decode("utf-8", "surrogateescape")
        at = end + 1


def _bytes(word: str) -> bytes:
    return word.encode("utf-8", "surrogateescape")


def _changed_ns(path: str) -> int:
    try:
        return os.stat(path).st_mtime_ns
    except OSError:
        return 0
