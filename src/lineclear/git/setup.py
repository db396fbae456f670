"""The git side of `lineclear setup` in one clone."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lineclear.git import incoming_changes
from lineclear.git.landing import landing_ref
from lineclear.git.run import git
from lineclear.git.worktree_commands import ignored_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from lineclear.git.layout import Layout


class RepositorySetupGit:
    """`root` is the main worktree."""

    def __init__(self, layout: Layout, root: str) -> None:
        self._layout, self._root = layout, root

    def tracked(self, root: str, paths: Sequence[str]) -> list[str]:
        return incoming_changes.tracked(root, paths)

    def ignored(self, paths: Sequence[str]) -> list[str]:
        return ignored_of(self._root, paths)

    def setting(self, name: str) -> str:
        return self._get("--local", name)

    def set_setting(self, name: str, value: str) -> None:
        if value:
            git(["config", "--local", name, value], self._root)
        else:
            git(["config", "--local", "--unset", name], self._root, check=False)

    def hooks_path(self) -> str:
        return self._get("--type=path", "core.hooksPath")

    def main_ref(self) -> str:
        return landing_ref(self._layout)

    def run_hook(self, name: str, variables: Mapping[str, str]) -> None:
        git(["hook", "run", "--ignore-missing", name], self._root, env=variables, check=False)

    def _get(self, where: str, name: str) -> str:
        return git(["config", where, "--get", name], self._root, check=False).decode().rstrip("\n")
