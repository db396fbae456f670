"""Public repositories whose merges are compared. They are only read: what is written goes to a scratch one
that borrows their objects."""

from __future__ import annotations

import os
import random
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from benchmarks.harness import scratch

VARIABLE = "LINECLEAR_RADAR_REPOS"
LANGUAGES = {
    ".py": "python", ".ts": "typescript", ".tsx": "typescript", ".js": "javascript", ".mjs": "javascript",
    ".jsx": "javascript", ".go": "go", ".rs": "rust", ".java": "java", ".cs": "csharp", ".php": "php",
    ".rb": "ruby", ".kt": "kotlin",
}  # fmt: skip
_REGULAR = ("100644", "100755")


@dataclass(frozen=True, slots=True)
class Merge:
    """A merge commit with two parents, the base of both, and the tree that git alone makes of them."""

    commit: str
    left: str
    right: str
    base: str
    tree: str
    languages: frozenset[str]


@dataclass(slots=True)
class Repository:
    """`source` is the public repository, `path` the scratch one beside it that may be written to."""

    name: str
    source: Path
    path: Path
    _reader: subprocess.Popen[bytes] | None = field(default=None, repr=False)

    def git(self, *words: str, stdin: bytes | None = None, may_fail: bool = False) -> str:
        done = subprocess.run(
            ["git", *words], cwd=self.path, input=stdin, capture_output=True, check=False
        )  # fmt: skip
        if done.returncode and not may_fail:
            raise RuntimeError(f"{self.name}: git {' '.join(words)}: {done.stderr.decode(errors='replace')}")
        return done.stdout.decode("utf-8", "surrogateescape")

    def merges(self) -> list[tuple[str, str, str]]:
        """All merges with two parents: the commit and its parents, in git's order."""
        return [(commit, parents[0], parents[1]) for commit, parents in self.commits() if len(parents) == 2]

    def commits(self) -> list[tuple[str, list[str]]]:
        """All commits with their parents, the newest first. Only the source has branches."""
        rows = git_of(self.source, "rev-list", "--all", "--parents").splitlines()
        return [(commit, parents) for commit, *parents in map(str.split, rows)]

    def clean_merges(self, seed: int) -> Iterator[Merge]:
        """Merges that git makes without a conflict and to which both sides bring code, in random order."""
        candidates = self.merges()
        random.Random(f"{seed} {self.name}").shuffle(candidates)
        for commit, left, right in candidates:
            merge = self.clean_merge(commit, left, right)
            if merge is not None:
                yield merge

    def clean_merge(self, commit: str, left: str, right: str) -> Merge | None:
        bases = self.git("merge-base", "--all", left, right, may_fail=True).split()
        if len(bases) != 1 or bases[0] in (left, right):
            return None
        base = bases[0]
        changed = [languages_of(self.changed(base, side)) for side in (left, right)]
        if not all(changed):
            return None
        tree = self.merge_tree(left, right)
        return Merge(commit, left, right, base, tree, changed[0] | changed[1]) if tree else None

    def merge_tree(self, left: str, right: str) -> str:
        """The tree of git's own merge; "" if there is a conflict."""
        done = subprocess.run(
            ["git", "merge-tree", "--write-tree", left, right],
            cwd=self.path, capture_output=True, text=True, errors="replace", check=False,
        )  # fmt: skip
        return done.stdout.split("\n", 1)[0] if done.returncode == 0 else ""

    def changed(self, old: str, new: str) -> list[str]:
        return self.git("diff-tree", "-r", "-z", "--name-only", "--no-renames", old, new).split("\0")[:-1]

    def files(self, tree: str) -> dict[str, str]:
        """The blob of every ordinary file in a language that we know."""
        found = {}
        for row in self.git("ls-tree", "-r", "-z", tree).split("\0")[:-1]:
            info, _, path = row.partition("\t")
            mode, _, blob = info.split()
            if mode in _REGULAR and language_of(path):
                found[path] = blob
        return found

    def blob(self, blob: str) -> bytes:
        """The content of a blob; one git process answers all questions of a repository."""
        if self._reader is None:
            self._reader = subprocess.Popen(
                ["git", "cat-file", "--batch"],
                cwd=self.path, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            )  # fmt: skip
        assert self._reader.stdin is not None
        assert self._reader.stdout is not None
        self._reader.stdin.write(blob.encode() + b"\n")
        self._reader.stdin.flush()
        head = self._reader.stdout.readline().split()
        if head[1:2] != [b"blob"]:
            raise RuntimeError(f"{self.name}: {blob} is no blob")
        return self._reader.stdout.read(int(head[2]) + 1)[:-1]

    def text(self, blob: str) -> str:
        return self.blob(blob).decode("utf-8", "replace")

    def show(self, place: str) -> str:
        """The text of COMMIT:PATH; "" if there is no such file."""
        return self.git("cat-file", "blob", place, may_fail=True)

    def close(self) -> None:
        if self._reader is not None:
            self._reader.communicate()


def language_of(path: str) -> str:
    return LANGUAGES.get(PurePosixPath(path).suffix, "")


def languages_of(paths: list[str]) -> frozenset[str]:
    return frozenset(language for language in map(language_of, paths) if language)


def find_sources(given: list[str]) -> list[tuple[str, Path]]:
    """Git directories in the given directories, or in those that the variable names, by name."""
    directories = given or [part for part in os.environ.get(VARIABLE, "").split(os.pathsep) if part]
    found: dict[str, Path] = {}
    for directory in map(Path, directories):
        entries = [directory] if _git_directory(directory) else sorted(directory.iterdir())
        for entry in entries:
            place = _git_directory(entry)
            if place is not None:
                found[entry.name.removesuffix(".git").replace("+", "/")] = place
    return sorted(found.items())


def _git_directory(entry: Path) -> Path | None:
    places = (entry, entry / ".git", entry / "repo")
    return next((place for place in places if (place / "objects").is_dir()), None)


@contextmanager
def borrowed(name: str, source: Path) -> Iterator[Repository]:
    """A scratch repository that has all objects of the source."""
    with scratch() as directory:
        path = Path(directory, "repo")
        subprocess.run(["git", "init", "--quiet", str(path)], check=True)
        alternates = path / ".git" / "objects" / "info" / "alternates"
        alternates.write_text(f"{source.resolve() / 'objects'}\n")
        repository = Repository(name, source, path)
        try:
            yield repository
        finally:
            repository.close()


def git_of(source: Path, *words: str) -> str:
    done = subprocess.run(
        ["git", "--git-dir", str(source), *words], stdout=subprocess.PIPE, check=True, text=True
    )  # fmt: skip
    return done.stdout
