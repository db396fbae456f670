"""Throw-away repositories for demonstrations and tests of a merge driver: made here, and judged by git.

Nothing of the user's own git settings reaches them.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

from lineclear.git.run import GitFailed, git

if TYPE_CHECKING:
    from collections.abc import Mapping

NO_SETTINGS = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
_WHO = {"user.name": "lineclear demo", "user.email": "demo@invalid", "commit.gpgSign": "false"}


@dataclass(frozen=True, slots=True)
class ScratchRepo:
    """A repository on branch main, with one commit."""

    directory: str

    @classmethod
    def make(cls, directory: str, files: Mapping[str, str]) -> ScratchRepo:
        repo = cls(directory)
        repo._git("init", "--quiet", "--initial-branch=main", "--template=", ".")
        for name, value in _WHO.items():
            repo._git("config", name, value)
        for path, text in files.items():
            whole = os.path.join(directory, path)
            os.makedirs(os.path.dirname(whole), exist_ok=True)
            with open(whole, "w", encoding="utf-8") as file:
                file.write(text)
        repo._git("add", "--all")
        repo._git("commit", "--quiet", "--allow-empty", "-m", "start")
        return repo

    def unmerged_branches(self) -> list[str]:
        """Branches with commits that are not on main."""
        shown = self._git("for-each-ref", "--no-merged=main", "--format=%(refname:short)", "refs/heads")
        return shown.split()

    def paths_on_main(self, folder: str) -> list[str]:
        return self._git("ls-tree", "-r", "--name-only", "-z", "main", f"{folder}/").split("\0")[:-1]

    def texts(self) -> list[str]:
        """The content of every file of every commit that some ref holds: branches and snapshots."""
        listed = self._git("rev-list", "--all", "--objects", "--no-object-names")
        answer = git(["cat-file", "--batch"], self.directory, input=listed.encode(), env=NO_SETTINGS)
        return [content.decode("utf-8", "replace") for kind, content in _objects(answer) if kind == "blob"]

    def _git(self, *args: str) -> str:
        return git(args, self.directory, env=NO_SETTINGS).decode()


# Both sides add an entry at the same place: a conflict for git, none for us. The name is a hard one, too.
_HARD_PATH = "-x.json"
_ONE, _OTHER, _BOTH = ('{\n  "a": 1,\n  "b": 2\n}\n', '{\n  "a": 1,\n  "c": 3\n}\n', ('"b": 2', '"c": 3'))


def try_merge_driver(directory: str, settings: Mapping[str, str]) -> str:
    """Let git merge with these settings in a new repository. Returns "" if both sides are in the result."""
    repo = ScratchRepo.make(directory, {_HARD_PATH: '{\n  "a": 1\n}\n'})
    for name, value in settings.items():
        if value:
            repo._git("config", name, value)
    path = os.path.join(directory, _HARD_PATH)
    for branch, text in (("other", _OTHER), ("one", _ONE)):
        repo._git("checkout", "--quiet", "-b", branch, "main")
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        repo._git("commit", "--quiet", "--all", "-m", branch)
    try:
        repo._git("merge", "--quiet", "--no-edit", "other")
    except GitFailed as error:
        lines = error.stderr.strip().splitlines()
        return lines[0] if lines else f"git merge exited {error.exit_code}"
    with open(path, encoding="utf-8") as file:
        merged = file.read()
    return "" if all(entry in merged for entry in _BOTH) else "one side is missing from the result"


def _objects(answer: bytes) -> list[tuple[str, bytes]]:
    """What `cat-file --batch` prints, as (type, content)."""
    found, place = [], 0
    while place < len(answer):
        end = answer.index(b"\n", place)
        _, kind, size = answer[place:end].decode().split()
        found.append((kind, answer[end + 1 : end + 1 + int(size)]))
        place = end + 2 + int(size)
    return found
