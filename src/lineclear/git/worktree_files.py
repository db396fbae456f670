"""Makes a new worktree ready for work: checks disk space, brings ignored files from the main worktree, runs
set-up commands. Makes and removes no worktree itself.
"""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass
from typing import TYPE_CHECKING

from lineclear.core.words.refusals import refuse
from lineclear.core.worktrees import rules
from lineclear.git import worktree_commands as git_trees
from lineclear.git.run import unbound
from lineclear.host import copying
from lineclear.host.commands import run_in_turn, run_to_end
from lineclear.host.files import free_bytes

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence


@dataclass(frozen=True, slots=True, kw_only=True)
class CloneFiles:
    """The `WorktreeFiles` of one clone. `directory`: where worktrees are made; `equip` writes the clients'
    files into a worktree; `environ`: our own environment."""

    root: str
    common_dir: str
    directory: str
    reserve_bytes: int
    copy: Sequence[str]
    link: Sequence[str]
    setup: Sequence[str]
    setup_timeout_ms: int
    environ: Mapping[str, str]
    equip: Callable[[str], None]

    def require_room(self, count: int, path: str = "", /) -> None:
        rules.check_room(
            count=count,
            each_bytes=git_trees.checked_out_bytes(self.common_dir),
            free_bytes=free_bytes(path or self.directory),
            reserve_bytes=self.reserve_bytes,
        )

    def provide(self, path: str, /) -> None:
        self.bring(path, *self.to_bring())

    def to_bring(self) -> tuple[list[str], list[str]]:
        """The ignored files of the main worktree that the settings name: (to copy, to link)."""
        links = git_trees.ignored_matches(self.root, self.link)
        copies = git_trees.ignored_matches(self.root, self.copy)
        return [path for path in copies if path not in links], links

    def bring(self, target: str, copies: Sequence[str], links: Sequence[str]) -> None:
        """Copy and link these into a worktree, except what it already has."""
        steps = copying.plan_steps(target, copies=copies, links=links)
        try:
            copying.apply_steps(self.root, target, steps)
        except copying.CannotBring as error:
            raise refuse("worktree.copy", path=error.path, error=str(error)) from error
        self._keep_ignored(target, [step.path for step in steps])

    def _keep_ignored(self, target: str, brought: list[str]) -> None:
        """Add to `info/exclude` what git would not ignore there, so that nobody commits it: the branch may
        not ignore it yet, and `node_modules/` in .gitignore matches a directory, not a link."""
        seen = set(git_trees.ignored_of(target, brought)) if brought else set()
        missing = [f"/{path}" for path in brought if path not in seen]
        if not missing:
            return
        exclude = f"{self.common_dir}/info/exclude"
        os.makedirs(os.path.dirname(exclude), exist_ok=True)
        with open(exclude, "a+b") as file:
            file.seek(0)
            text = file.read().decode("utf-8", "surrogateescape")
            new = [line for line in missing if line not in text.split("\n")]
            start = "" if not text or text.endswith("\n") else "\n"
            file.write((start + "".join(f"{line}\n" for line in new)).encode("utf-8", "surrogateescape"))

    def set_up(self, path: str, env: dict[str, str], /) -> tuple[str, int, str] | None:
        env = unbound(self.environ) | env
        failed = run_in_turn(
            self.setup,
            self.setup_timeout_ms / 1_000,
            lambda command, left_s: run_to_end(command, cwd=path, env=env, timeout_s=left_s),
        )
        return (failed[0], failed[1].code, failed[1].tail) if failed is not None else None

    def notes(self, path: str, /) -> list[str]:
        notes = []
        if git_trees.has_submodules(path) and not any("submodule" in command for command in self.setup):
            notes.append(
                "Its submodules are empty: put `git submodule update --init` into [worktrees] setup "
                "if agents need them."
            )
        if git_trees.uses_lfs(path) and shutil.which("git-lfs") is None:
            notes.append("git-lfs is not installed: files kept in Git LFS are pointers here.")
        outer = _outer_repo(path)
        if outer:
            notes.append(f"It is inside another repository, {outer}, which treats it as content.")
        return notes


def _outer_repo(path: str) -> str:
    place = os.path.dirname(path)
    while place != os.path.dirname(place):
        if os.path.lexists(place + "/.git"):
            return place
        place = os.path.dirname(place)
    return ""
