"""Trees and blobs of one repository: merge two trees, read files, write a tree. Touches no work tree."""

from __future__ import annotations

import os
from tempfile import TemporaryDirectory

from lineclear.git.run import GitFailed, git

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

# The commits we make only carry trees to git's merge; nobody sees them, and equal inputs give equal ids.
_NOBODY = {
    f"GIT_{role}_{field}": value
    for role in ("AUTHOR", "COMMITTER")
    for field, value in (("NAME", "lineclear"), ("EMAIL", "lineclear@localhost"), ("DATE", "@0 +0000"))
}


class GitTrees:
    def __init__(self, cwd: str) -> None:
        self.cwd = cwd

    def merge(self, base: str, left: str, right: str) -> tuple[str, dict[str, dict[int, tuple[str, str]]]]:
        root = self._commit(base)
        return self.merge_commits(self._commit(left, root), self._commit(right, root))

    def merge_commits(self, left: str, right: str) -> tuple[str, dict[str, dict[int, tuple[str, str]]]]:
        """Git finds the base itself, and makes one of several where histories have crossed."""
        # Git's own driver, also where we are installed as the default: we ask for its result, then for ours.
        words = ["-c", "merge.default=text", "merge-tree", "--write-tree", "-z", "--no-messages"]
        sides = [left, right]
        output = git([*words, *sides], self.cwd, check=False, timeout_s=600)
        if not output:
            output = git([*words, *sides], self.cwd, timeout_s=600)  # raises with git's own words
        tree, *rows = output.decode("utf-8", "surrogateescape").split("\0")
        found: dict[str, dict[int, tuple[str, str]]] = {}
        for row in rows:
            info, _, path = row.partition("\t")
            if path:
                mode, oid, stage = info.split()
                found.setdefault(path, {})[int(stage)] = (mode, oid)
        return tree, found

    def _commit(self, name: str, parent: str = "") -> str:
        """A commit with this tree, on the parent: `merge-tree --merge-base` needs git 2.40."""
        tree = git(["rev-parse", "--verify", "--end-of-options", f"{name}^{{tree}}"], self.cwd)
        words = ["commit-tree", tree.decode().strip(), "-m", "tree", *(["-p", parent] if parent else [])]
        return git(words, self.cwd, env=_NOBODY).decode().strip()

    def read(self, oids: Iterable[str]) -> dict[str, bytes]:
        wanted = sorted(set(oids))
        if not wanted:
            return {}
        output = git(["cat-file", "--batch"], self.cwd, input="".join(f"{oid}\n" for oid in wanted).encode())
        found, at = {}, 0
        for oid in wanted:
            end = output.index(b"\n", at)
            size = output[at:end].split()[-1]
            if not size.isdigit():
                raise GitFailed(["cat-file", "--batch"], 128, output[at:end].decode("utf-8", "replace"))
            found[oid] = output[end + 1 : end + 1 + int(size)]
            at = end + 1 + int(size) + 1
        return found

    def changed(self, base: str, side: str) -> dict[str, tuple[str, str, str]]:
        words = [
            "diff-tree",
            "-r",
            "-z",
            "--no-renames",
            "--end-of-options",
            f"{base}^{{tree}}",
            f"{side}^{{tree}}",
        ]
        fields = git(words, self.cwd).decode("utf-8", "surrogateescape").split("\0")
        found = {}
        for info, path in zip(fields[::2], fields[1::2], strict=False):
            old_mode, mode, old, new, status = info.removeprefix(":").split()
            if {old_mode, mode} <= {"100644", "100755", "000000"}:
                found[path] = (status, old, new)
        return found

    def paths(self, tree: str, directories: Iterable[str]) -> list[str]:
        words = [
            "ls-tree",
            "-r",
            "-z",
            "--name-only",
            "--full-tree",
            tree,
            "--",
            *(d for d in directories if d),
        ]
        return git(words, self.cwd).decode("utf-8", "surrogateescape").split("\0")[:-1]

    def write(self, tree: str, files: dict[str, tuple[str, bytes | None]]) -> str:
        rows = []
        for path, (mode, content) in files.items():
            if content is None:
                rows.append(f"0 {'0' * len(tree)}\t{path}\0")
            else:
                oid = git(["hash-object", "-w", "--stdin"], self.cwd, input=content).decode().strip()
                rows.append(f"{mode} {oid}\t{path}\0")
        with TemporaryDirectory(prefix="lineclear-") as scratch:
            env = {"GIT_INDEX_FILE": os.path.join(scratch, "index")}
            git(["read-tree", tree], self.cwd, env=env)
            listing = "".join(rows).encode("utf-8", "surrogateescape")
            git(["update-index", "-z", "--index-info"], self.cwd, input=listing, env=env)
            return git(["write-tree"], self.cwd, env=env).decode().strip()
