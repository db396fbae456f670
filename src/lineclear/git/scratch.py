"""Throw-away repositories for the demonstrations: made here, and judged by what git says of them.

Nothing of the user's own git settings reaches them.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

from lineclear.git.run import git

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


def _objects(answer: bytes) -> list[tuple[str, bytes]]:
    """What `cat-file --batch` prints, as (type, content)."""
    found, place = [], 0
    while place < len(answer):
        end = answer.index(b"\n", place)
        _, kind, size = answer[place:end].decode().split()
        found.append((kind, answer[end + 1 : end + 1 + int(size)]))
        place = end + 2 + int(size)
    return found
