"""Merges, compares, reads and writes trees of one repository. Touches no work tree."""

from __future__ import annotations

from typing import TYPE_CHECKING
from weakref import finalize

from lineclear.git.object_store import ObjectStore
from lineclear.git.objects import (
    BLOB,
    COMMIT,
    TREE_MODE,
    Objects,
    directories,
    edit_trees,
    format_commit,
    nobody,
    parse_tree,
)
from lineclear.git.run import GitFailed, LiveGit, git

if TYPE_CHECKING:
    from collections.abc import Iterable

    from lineclear.git.objects import Entry

    Change = tuple[Entry | None, Entry | None]
    Open = dict[str, dict[int, tuple[str, str]]]  # path -> stage -> (mode, object id)

# Git's own driver even if ours is the default: we want git's result first, and then ours.
_MERGE = ("-c", "merge.default=text", "merge-tree", "-z", "--no-messages")
_MERGE_MANY = ("--no-pager", *_MERGE, "--stdin")
# A merge that takes longer gains nothing from a running git; one that waits for the end of its input hangs.
_PATIENCE_S = 1.0
_PLAIN = ("100644", "100755")
_DIFF = ("diff-tree", "--stdin", "-r", "-z", "--no-renames")
_MOST_DIFFS = 64


class GitTrees:
    """Names are ids of trees. Close it: git processes may be waiting for the next question."""

    def __init__(self, cwd: str, store: ObjectStore | None = None) -> None:
        self.cwd, self.store = cwd, store or ObjectStore(cwd)
        self._merging: list[LiveGit] = []  # at most one
        self._comparing: list[LiveGit] = []  # at most one
        self._differences: dict[tuple[str, str], dict[str, Change]] = {}
        self._has_merged, self._may_live = False, True
        finalize(self, _close_all, self._merging)
        finalize(self, _close_all, self._comparing)

    def close(self) -> None:
        """Closing it again has no effect."""
        _close_all(self._merging)
        _close_all(self._comparing)
        self.store.close()

    def merge(self, base: str, left: str, right: str) -> tuple[str, Open]:
        """Merges two temporary commits on a third one, since `merge-tree --merge-base` needs git 2.40."""
        root = self._commit(base, [])
        return self.merge_commits(self._commit(left, [root]), self._commit(right, [root]))

    def merge_commits(self, left: str, right: str) -> tuple[str, Open]:
        """Git finds the base itself, and merges several bases into one after criss-cross merges."""
        rows = self._merge_live(left, right) or self._merge_alone(left, right)
        self._has_merged = True
        first, *files = rows
        tree = first.rpartition("\n")[2]  # a merge driver of the user's may have printed something before it
        found: Open = {}
        for row in files:
            info, _, path = row.partition("\t")
            if path:
                mode, oid, stage = info.split()
                found.setdefault(path, {})[int(stage)] = (mode, oid)
        return tree, found

    def _merge_alone(self, left: str, right: str) -> list[str]:
        words = [*_MERGE, "--write-tree", left, right]
        output = git(words, self.cwd, check=False, timeout_s=600, env=self.store.env)
        if not output:
            output = git(words, self.cwd, timeout_s=600, env=self.store.env)  # raises with git's own words
        return _fields(output)

    def _merge_live(self, left: str, right: str) -> list[str]:
        """Merge with one git that stays, from the second merge on (the first may be the only one).

        Return [] if that git cannot do it (before 2.39), fails or takes too long: `_merge_alone` then does
        it, or reports the error.
        """
        if not (self._has_merged and self._may_live):
            return []
        try:
            if not self._merging:
                # Into a pipe, git (2.39) sends its answers only after the end of its input.
                self._merging.append(LiveGit(_MERGE_MANY, self.cwd, on_terminal=True, env=self.store.env))
            self._merging[0].ask(f"{left} {right}\n".encode())
            return _fields(self._merging[0].take_until(b"\0\0", timeout_s=_PATIENCE_S))[1:]
        except GitFailed:
            self._may_live = False
            _close_all(self._merging)
            return []

    def _commit(self, tree: str, parents: list[str]) -> str:
        """The same input gives the same id."""
        who = nobody(0)
        data = format_commit(tree, parents, "tree\n", author=who, committer=who)
        return self.store.write_one(COMMIT, data, like=tree)

    def read(self, oids: Iterable[str]) -> dict[str, bytes]:
        return self.store.read(oids)

    def changed(self, base: str, side: str) -> dict[str, tuple[str, str, str]]:
        absent = ("000000", "0" * len(base))
        found = {}
        for path, (before, after) in self.differences(base, side).items():
            if all(entry is None or entry[0] in _PLAIN for entry in (before, after)):
                status = "A" if before is None else "D" if after is None else "M"
                found[path] = (status, (before or absent)[1], (after or absent)[1])
        return found

    def differences(self, old: str, new: str) -> dict[str, Change]:
        """path -> ((mode, object id) or None, on each side) for every file, link and submodule that differs
        between two trees. One git process does all comparisons, and results are cached."""
        if not old or not new:
            raise GitFailed(_DIFF, 128, f"no tree to compare with {old or new}")
        if old == new:
            return {}
        if (old, new) not in self._differences:
            if len(self._differences) >= _MOST_DIFFS:
                self._differences.clear()
            self._differences[old, new] = self._compare(old, new)
        return self._differences[old, new]

    def _compare(self, old: str, new: str) -> dict[str, Change]:
        if not self._comparing:
            self._comparing.append(LiveGit(_DIFF, self.cwd, env=self.store.env))
        # Git echoes a line that is not an object id and flushes its output, so this line marks the end. No
        # path can contain it: the ids of the trees depend on their paths.
        end = f"end of {old} {new}\n".encode()
        try:
            self._comparing[0].ask(f"{old} {new}\n".encode() + end)
            _, line, rows = self._comparing[0].take_until(end, timeout_s=600).partition(b"\n")
        except BaseException:
            _close_all(self._comparing)
            raise
        if not line:
            raise GitFailed(_DIFF, 128, f"no tree {old}, or no tree {new}")
        return _changes(_fields(rows))

    def paths(self, tree: str, directories: Iterable[str]) -> list[str]:
        words = ["ls-tree", "-r", "-z", "--name-only", "--full-tree", tree, "--"]
        places = [place for place in directories if place]
        output = git([*words, *places], self.cwd, env=self.store.env)
        return output.decode("utf-8", "surrogateescape").split("\0")[:-1]

    def files(self, tree: str) -> dict[str, tuple[str, str]]:
        """path -> (mode, object id) of every file, link and submodule."""
        words = ["ls-tree", "-r", "-z", "--full-tree", tree]
        output = git(words, self.cwd, timeout_s=600, env=self.store.env)
        rows = (row.partition("\t") for row in _fields(output)[:-1])
        fields = ((path, info.split()) for info, _, path in rows)
        return {path: (mode, oid) for path, (mode, _, oid) in fields}

    def entries(self, tree: str, paths: Iterable[str]) -> dict[str, tuple[str, str]]:
        """(mode, object id) of those of the paths that the tree holds. Starts no process."""
        folders: dict[bytes, dict[bytes, Entry]] = {b"": self._folder(tree)}
        found = {}
        for path in paths:
            place = b""
            *above, name = path.encode("utf-8", "surrogateescape").split(b"/")
            for part in above:
                kind, oid = folders[place].get(part, ("", ""))
                place = place + b"/" + part
                if place not in folders:
                    folders[place] = self._folder(oid) if kind == TREE_MODE else {}
            if name in folders[place]:
                found[path] = folders[place][name]
        return found

    def _folder(self, tree: str) -> dict[bytes, Entry]:
        return parse_tree(self.store.read([tree])[tree], len(tree) // 2)

    def write(self, tree: str, files: dict[str, tuple[str, bytes | None]]) -> str:
        objects = Objects.like(tree)
        changes: dict[bytes, Entry | None] = {}
        for path, (mode, content) in files.items():
            entry = (mode, objects.add(BLOB, content)) if content is not None else None
            changes[path.encode("utf-8", "surrogateescape")] = entry
        above: dict[bytes, dict[bytes, Entry]] = {}
        for place in reversed(directories(changes)):
            parent, _, name = place.rpartition(b"/")
            kind, oid = above.get(parent, {}).get(name, ("", "")) if place else (TREE_MODE, tree)
            if kind == TREE_MODE:
                above[place] = self._folder(oid)
        root = edit_trees(objects, above, changes)
        self.store.write(objects)
        return root


def _close_all(processes: list[LiveGit]) -> None:
    while processes:
        processes.pop().close()


def _changes(fields: list[str]) -> dict[str, Change]:
    """Parse the fields of `diff-tree -z`."""
    found: dict[str, Change] = {}
    for info, path in zip(fields[::2], fields[1::2], strict=False):
        old_mode, new_mode, old_id, new_id, _ = info.removeprefix(":").split()
        before = (old_mode, old_id) if old_mode != "000000" else None
        found[path] = (before, (new_mode, new_id) if new_mode != "000000" else None)
    return found


def _fields(output: bytes) -> list[str]:
    return output.decode("utf-8", "surrogateescape").split("\0")
