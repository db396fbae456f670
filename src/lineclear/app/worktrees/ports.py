"""What the use cases for worktrees need from git and from this host."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from lineclear.core.log.tables import Worktree
    from lineclear.core.worktrees.rules import Condition
    from lineclear.core.worktrees.snapshots import Kept, LeftOut, Snapshot, SnapshotLimits


@dataclass(frozen=True, slots=True, kw_only=True)
class WorktreeEntry:
    """Git's entry for a linked worktree. `path`: its real path, "" if the entry lacks it; `lock`: the reason
    of git's lock, None if not locked; `is_there`: something exists at the path."""

    path: str
    lock: str | None
    is_there: bool
    is_check_tree: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundWorktree:
    """The worktree around a path. `name`: git's name for it, "" if its .git file points nowhere."""

    name: str
    path: str
    branch: str
    head: str
    is_main: bool
    is_check_tree: bool


class WorktreeGit(Protocol):
    """Makes and removes worktrees. If git fails, it raises a Refusal and leaves nothing behind."""

    def add(self, row: Worktree, is_new_branch: bool, keep_fds: Sequence[int], /) -> str:
        """Make the worktree at the row's path; returns git's name for it. Git inherits `keep_fds`."""

    def condition(self, name: str, path: str, /) -> Condition:
        """What would be lost with the worktree; nothing if its directory is gone."""

    def remove(self, row: Worktree, force: bool, /) -> str:
        """Remove the directory and git's entry, even if one of them is gone, and our branch if main contains
        it and it is checked out nowhere. Returns the branch that stays, or ""."""

    def drop_entry(self, name: str, path: str, /) -> None:
        """Forget an entry whose directory is gone, if it is at the path of a new worktree of that name: git
        would refuse to make one there."""


class WorktreeReader(Protocol):
    """This clone's worktrees as git has them. `root`: the main worktree."""

    root: str

    def entries(self) -> dict[str, WorktreeEntry]:
        """git's name -> entry, with those whose directory is gone, without the main worktree."""

    def states(self) -> dict[str, dict[str, Any]]:
        """git's name -> path, branch, state and distance from main. Reads every worktree, except the main one
        and check trees."""

    def around(self, path: str, /) -> FoundWorktree | None:
        """The innermost worktree that contains the path; None if there is none or it is no directory."""

    def current(self, row: Worktree, /) -> Worktree:
        """The row with the worktree's current path: people move them (`git worktree move`)."""

    def new_place(self, name: str, path: str, /) -> str:
        """The real path of a new worktree: the given one, or in the directory from the settings, or beside
        the repository. Refuses a path inside another worktree or git's directory, and one that exists."""

    def count_changes(self, path: str, /) -> int:
        """How many files in a worktree are changed, staged or new, and not ignored."""


class BranchReader(Protocol):
    def near(self, branch: str, /) -> list[str]:
        """Branches that could clash with this one: its spellings in other case, its parents, and those
        below."""

    def checked_out(self) -> dict[str, str]:
        """branch -> the path of the worktree that has it checked out."""

    def commit_of(self, name: str, /) -> str:
        """The commit of a branch, another ref or an id, in this order; "" if there is none."""

    def has_commit(self) -> bool:
        """Does the repository have any commit?"""

    def main_branch(self) -> str:
        """The branch that work lands on; HEAD if none is found."""


class WorktreeFiles(Protocol):
    """Prepares a new worktree for work."""

    def require_room(self, count: int, path: str = "", /) -> None:
        """Refuse if so many more worktrees would leave too little free disk space."""

    def provide(self, path: str, /) -> None:
        """Copy and link the ignored files that the settings name; keeps files that exist already."""

    def notes(self, path: str, /) -> list[str]:
        """Notes on a worktree: empty submodules, missing LFS, a repository around it."""

    def set_up(self, path: str, env: dict[str, str], /) -> tuple[str, int, str] | None:
        """Run the set-up commands up to the first that fails: (command, exit code or -1 for a timeout, the
        end of its output); None if all succeed."""

    def equip(self, path: str, /) -> None:
        """Write the files that installed clients read in a worktree. Raises a Refusal if that fails."""


class WorktreeLock(Protocol):
    def fileno(self) -> int: ...
    def release(self) -> None: ...


class WorktreeLocks(Protocol):
    """Locks by name; a lock is free when its process has died."""

    def hold(self, name: str, /) -> WorktreeLock:
        """Take the lock. Refuses if a live process holds it."""

    def is_held(self, name: str, /) -> bool: ...


class SnapshotGit(Protocol):
    """Snapshots of a clone's worktrees. If git fails, it raises a Refusal."""

    def take(
        self,
        tree: str,
        path: str,
        /,
        *,
        agent: str,
        task: int,
        why: str,
        at_s: int,
        limits: SnapshotLimits,
        if_new: bool = False,
    ) -> Snapshot | None:
        """Save the worktree as it is; None if the agent's last snapshot holds exactly the same (and is a
        lasting one if `why` asks for that). With `if_new`, None also if the last snapshot for any agent does,
        or if there is nothing uncommitted; hooks then do not count this as a look at the worktree."""

    def content(self, tree: str, path: str, /) -> tuple[str, str, list[LeftOut]]:
        """(HEAD's commit, the tree of a snapshot without limits, the files that it would leave out)."""

    def is_on_main(self, commit: str, tree: str, /) -> bool:
        """Is the commit in main's history, with this tree?"""

    def listed(self, agent: str = "", /) -> list[Kept]:
        """The snapshots of one agent, or all; each agent's newest first."""

    def renew(self, kept: Kept, why: str, at_s: int, /) -> str:
        """Save the same content again as the agent's newest snapshot; returns its ref."""

    def delete(self, snapshots: Sequence[Kept], /) -> list[Kept]:
        """Remove the refs, each only if it is unchanged; returns those that are gone now."""


class SalvageGit(Protocol):
    def listed(self, agent: str = "", /) -> list[Kept]:
        """The snapshots of one agent, or all; each agent's newest first."""

    def is_branch_name(self, branch: str, /) -> bool: ...

    def create_branch(self, branch: str, commit: str, /) -> bool:
        """Make a branch at the commit; False if one of that name exists."""


class CommitReader(Protocol):
    """Compares commits and trees; touches no worktree."""

    def main_commit(self) -> str:
        """Main's commit; "" before the first commit."""

    def commit_of(self, branch: str, /) -> str:
        """The commit of a branch; "" if there is none."""

    def merge_base(self, left: str, right: str, /) -> str:
        """The merge base of two commits; "" for unrelated histories."""

    def empty_tree(self) -> str:
        """The id of an empty tree."""

    def diff(self, old: str, new: str, options: Sequence[str], /) -> str:
        """The patch from one commit or tree to another; bytes that are not UTF-8 become lone surrogates."""

    def count_lines(self, old: str, new: str, /) -> list[dict[str, Any]]:
        """Each changed file with the numbers of added and removed lines; -1 for binary files."""

    def show_diff(self, old: str, new: str, options: Sequence[str], /) -> int:
        """Show the patch on the terminal as git does for a person; returns git's exit code."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundBranch:
    """`is_merged`: all of it is in main; `place`: the worktree that has it checked out, "" for none."""

    name: str
    commit: str
    is_merged: bool
    place: str


class CleanupGit(Protocol):
    """What git refuses comes as a Refusal."""

    def is_landed(self, path: str, /) -> bool:
        """Is the worktree clean, and its commit in main? False if git cannot say."""

    def branches(self, prefix: str, /) -> list[FoundBranch]:
        """Those whose name begins so; none before main has a commit."""

    def delete_branch(self, name: str, commit: str, /) -> None:
        """Only while it is at this commit."""


class CleanupFiles(Protocol):
    """Our own files in the git directory, and the directories beside our worktrees. A key is a file's path
    below our directory. OSError where the disk says no."""

    def keys(self, kind: str, /) -> list[str]:
        """All files of a kind of core/worktrees/cleanup.py."""

    def age_s(self, key: str, /) -> int:
        """Since the file last changed; 0 if it cannot be read."""

    def remove(self, key: str, /) -> None:
        """A file, or a directory with everything in it."""

    def dead_for_s(self, bond: str, /) -> int | None:
        """How long ago the process died that held the bond; None if it lives or nothing says so."""

    def remove_bond(self, bond: str, /) -> None:
        """Refused if somebody holds it now."""

    def directories(self) -> list[str]:
        """The real paths of the directories where our worktrees lie, without that of check trees."""

    def is_empty(self, path: str, /) -> bool: ...

    def remove_directory(self, path: str, /) -> None:
        """Only while it is empty."""


class CleanupCheckTrees(Protocol):
    def is_used(self, path: str, /) -> bool: ...

    def remove(self, path: str, /) -> bool:
        """False if a check runs in it."""


class UninstallGit(Protocol):
    """Branches and refs of a clone. What git refuses comes as a Refusal."""

    def branches(self) -> dict[str, tuple[str, str, str]]:
        """Each branch with its commit, that commit's tree, and its first parent ("" for none)."""

    def other_refs(self) -> dict[str, str]:
        """Our refs that are neither branches nor snapshots, with their commits."""

    def unmerged(self, commits: Iterable[str], others: Iterable[str], /) -> set[str]:
        """Those that neither main nor one of the other commits contains."""

    def unreached(self, commits: Iterable[str], /) -> set[str]:
        """Those that no branch, remote branch or tag contains."""

    def reached_trees(self) -> set[str]:
        """The trees of all commits that a branch, a remote branch or a tag contains."""

    def about(self, commit: str, /) -> tuple[str, int]:
        """The commit's tree, and when it was committed (seconds); "" and 0 if there is no such commit."""

    def new_files(self, path: str, /) -> list[tuple[str, int]]:
        """The files of a worktree that git neither tracks nor ignores, with their sizes."""

    def create_branch(self, branch: str, commit: str, /) -> None:
        """Also if it is there already, at this commit."""

    def delete_ref(self, ref: str, commit: str, /) -> None:
        """Only while it is at this commit."""
