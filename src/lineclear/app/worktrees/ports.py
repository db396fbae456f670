"""What the stories about worktrees need from git and from this host."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lineclear.core.log.tables import Worktree
    from lineclear.core.worktrees.rules import Condition
    from lineclear.core.worktrees.snapshots import Kept, LeftOut, Snapshot, SnapshotLimits


@dataclass(frozen=True, slots=True, kw_only=True)
class WorktreeEntry:
    """Git's entry for a linked worktree. `path` is a real one, "" where the entry does not say it; `lock` is
    the reason of git's lock, None without one; `is_there`: something lies at the path."""

    path: str
    lock: str | None
    is_there: bool
    is_check_tree: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundWorktree:
    """The worktree around a path. `name` is git's, "" where its .git file leads nowhere."""

    name: str
    path: str
    branch: str
    head: str
    is_main: bool
    is_check_tree: bool


class WorktreeGit(Protocol):
    """Makes and removes worktrees. What git refuses comes as a Refusal, and leaves nothing behind."""

    def add(self, row: Worktree, is_new_branch: bool, keep_fds: Sequence[int], /) -> str:
        """Make it where the row says; gives the name that git gave to it. Git inherits `keep_fds`."""

    def condition(self, name: str, path: str, /) -> Condition:
        """What would be lost with it; nothing when its directory is gone."""

    def remove(self, row: Worktree, force: bool, /) -> str:
        """Remove directory and entry, also where one of them is gone, and our branch if all of it is in main
        and nobody has it checked out. Gives the branch that stays; "" when none does."""

    def drop_entry(self, name: str, path: str, /) -> None:
        """Forget an entry whose directory is gone, if it lay where a new worktree of that name would: git
        would not make one there."""


class WorktreeReader(Protocol):
    """This clone's worktrees as git has them. `root` is where new ones are made from: the main worktree."""

    root: str

    def entries(self) -> dict[str, WorktreeEntry]:
        """By git's name, also those whose directory is gone; without the main worktree."""

    def states(self) -> dict[str, dict[str, Any]]:
        """By git's name: path, branch, state, and how far each is from main. Reads every worktree; without
        the main one and check trees."""

    def around(self, path: str, /) -> FoundWorktree | None:
        """The innermost worktree that holds the path; None when none does, or it is no directory."""

    def current(self, row: Worktree, /) -> Worktree:
        """The row with the place where git has the worktree now: people move them (`git worktree move`)."""

    def new_place(self, name: str, path: str, /) -> str:
        """The real path of a new worktree: the given one, or in the settings' directory, or beside the
        repository. Refused inside another worktree or git's directory, and where something lies."""

    def count_changes(self, path: str, /) -> int:
        """Files that are changed, staged or new in a worktree and that git does not ignore."""


class BranchReader(Protocol):
    def near(self, branch: str, /) -> list[str]:
        """Branches that the wanted one could meet: itself but for case, its directories, those below it."""

    def checked_out(self) -> dict[str, str]:
        """Branch -> the path of the worktree that has it checked out."""

    def commit_of(self, name: str, /) -> str:
        """The commit that a branch, another ref or an id names, branches first; "" when there is none."""

    def has_commit(self) -> bool:
        """Does the repository have any commit?"""

    def main_branch(self) -> str:
        """The branch that work lands on; where none is to be seen, HEAD."""


class WorktreeFiles(Protocol):
    """What makes a fresh worktree fit for work."""

    def require_room(self, count: int, path: str = "", /) -> None:
        """Refuse when so many more worktrees would not leave on the disk what has to stay free."""

    def provide(self, path: str, /) -> None:
        """Copy and link the ignored files that the settings name; what is there already stays."""

    def notes(self, path: str, /) -> list[str]:
        """What is worth knowing about a worktree: empty submodules, missing LFS, a repository around it."""

    def set_up(self, path: str, env: dict[str, str], /) -> tuple[str, int, str] | None:
        """Run the set-up commands; (command, exit code or -1 out of time, end of its output) of one that
        fails, which ends it."""

    def equip(self, path: str, /) -> None:
        """Write what the clients that are set up here read in a worktree; a Refusal where that fails."""


class WorktreeLock(Protocol):
    def fileno(self) -> int: ...
    def release(self) -> None: ...


class WorktreeLocks(Protocol):
    """Locks by name; the death of the process that holds one lets go."""

    def hold(self, name: str, /) -> WorktreeLock:
        """Refused when a live process holds it."""

    def is_held(self, name: str, /) -> bool: ...


class SnapshotGit(Protocol):
    """Snapshots of a clone's worktrees. What git refuses comes as a Refusal."""

    def take(
        self, tree: str, path: str, /, *, agent: str, task: int, why: str, at_s: int, limits: SnapshotLimits
    ) -> Snapshot | None:
        """Save the worktree as it is; None when the agent's last snapshot holds exactly this (and is one that
        stays, where `why` asks for one that stays)."""

    def content(self, tree: str, path: str, /) -> tuple[str, str, list[LeftOut]]:
        """(HEAD's commit, the tree that a snapshot without limits would have now, what it would not hold)."""

    def is_on_main(self, commit: str, tree: str, /) -> bool:
        """The commit is in main's history, and holds this tree."""

    def listed(self, agent: str = "", /) -> list[Kept]:
        """Those of one agent, or all; an agent's newest first."""

    def renew(self, kept: Kept, why: str, at_s: int, /) -> str:
        """The same content once more as the agent's newest snapshot; gives its ref."""

    def delete(self, snapshots: Sequence[Kept], /) -> list[Kept]:
        """Remove the refs, each only while it is as we saw it; gives those that are gone now."""


class SalvageGit(Protocol):
    def listed(self, agent: str = "", /) -> list[Kept]:
        """Those of one agent, or all; an agent's newest first."""

    def is_branch_name(self, branch: str, /) -> bool: ...

    def create_branch(self, branch: str, commit: str, /) -> bool:
        """A new branch at the commit; False when there is one of that name."""


class CommitReader(Protocol):
    """Compares commits and trees; touches no worktree."""

    def main_commit(self) -> str:
        """Where main is; "" before the first commit."""

    def commit_of(self, branch: str, /) -> str:
        """The commit of a branch; "" when there is none."""

    def merge_base(self, left: str, right: str, /) -> str:
        """Where two histories parted; "" when they never met."""

    def empty_tree(self) -> str:
        """The id of a tree without anything in it."""

    def diff(self, old: str, new: str, options: Sequence[str], /) -> str:
        """The patch from one commit or tree to another; bytes that are no UTF-8 as lone surrogates."""

    def count_lines(self, old: str, new: str, /) -> list[dict[str, Any]]:
        """Each changed file with the lines it gained and lost; -1 for files that have no lines."""

    def show_diff(self, old: str, new: str, options: Sequence[str], /) -> int:
        """On the terminal, as git shows it to a person; gives git's exit code."""
