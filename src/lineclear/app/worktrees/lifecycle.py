"""The life of a worktree: make, adopt, list, remove, forget.

A process that makes or removes a worktree holds a lock on its name, so that no other does the same. rows.py
writes the rows; git acts through the ports.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from lineclear.app.worktrees import rows
from lineclear.core.log.tables import TASK, WORKTREE, Worktree
from lineclear.core.words.computed.worktrees import setup_failed, worktree_failed
from lineclear.core.words.refusals import Refusal, not_found, refuse
from lineclear.core.worktrees import rules

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from lineclear.app.ports import Caller, Store
    from lineclear.app.worktrees.ports import (
        BranchReader,
        WorktreeEntry,
        WorktreeFiles,
        WorktreeGit,
        WorktreeLock,
        WorktreeLocks,
        WorktreeReader,
    )


class ReadyWorktree:
    """A worktree to work in. `tree`: our name for it; `base`: a commit; `env`: for processes there."""

    def __init__(self, row: Worktree, env: dict[str, str], *, is_new: bool, notes: list[str]) -> None:
        self.tree, self.path, self.branch, self.base = row.name, row.path, row.branch, row.base
        self.ports = range(row.port_first, row.port_first + row.port_count)
        self.env, self.is_new, self.notes = env, is_new, notes

    def as_dict(self) -> dict[str, Any]:
        shown = f"{self.ports.start}-{self.ports.stop - 1}" if self.ports else ""
        return {
            "name": self.tree,
            "path": self.path,
            "branch": self.branch,
            "base": self.base,
            "ports": shown,
            "env": self.env,
            "is_new": self.is_new,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class WorktreeRules:
    """The settings for worktrees. `branches`: the prefix of branches that we name."""

    copy: tuple[str, ...]
    link: tuple[str, ...]
    env: Mapping[str, str]
    setup: tuple[str, ...]
    branches: str
    base: str
    ports: int
    ports_from: int
    ports_to: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Worktrees:
    """Worktrees of one clone. `scope`: the clone's prefix of their names in a team's store, else "".

    `free_ports()` returns a function that tells whether a port is free now. `is_saved(tree)`: is everything
    in the worktree in a snapshot or on main? `require_trust(settings)` refuses untrusted settings.
    """

    store: Store
    locks: WorktreeLocks
    git: WorktreeGit
    reader: WorktreeReader
    branches: BranchReader
    files: WorktreeFiles
    rules: WorktreeRules
    scope: str
    codex_home: str
    free_ports: Callable[[], Callable[[int], bool]]
    is_saved: Callable[[str], bool]
    require_trust: Callable[[list[str]], None]

    # -- making -------------------------------------------------------------------------------

    def prepare(
        self,
        caller: Caller,
        *,
        agent: str,
        task: int = 0,
        branch: str = "",
        base: str = "",
        run_setup: bool = True,
    ) -> ReadyWorktree:
        """Make a new worktree for an agent, and discard the one that it still has. Refuses if work in the old
        one would be lost."""
        for row in self.store.read(lambda view: rows.worktrees_of(view, agent)):
            if row.origin == rules.OURS and self.owns(row):
                self.discard(caller, row.name, why="its agent starts over")
        return self.make(caller, agent=agent, task=task, branch=branch, base=base, run_setup=run_setup)

    def make(
        self,
        caller: Caller,
        *,
        name: str = "",
        agent: str = "",
        task: int = 0,
        branch: str = "",
        base: str = "",
        path: str = "",
        run_setup: bool = True,
    ) -> ReadyWorktree:
        """Make and provision a worktree. A refusal leaves nothing behind."""
        name = rules.worktree_name(name) if name else rules.name_for(agent, task)
        asked = {"name": name, "agent": agent, "task": task, "branch": branch, "base": base, "path": path}
        before = rows.made_before(self.store, caller, asked)
        if before is not None:
            return self.find(before.name)
        self._check_settings(run_setup)
        lock = self._hold(name)
        try:
            row = self._make_bare(caller, asked, lock)
            try:
                notes = self._provision(row, run_setup)
            except BaseException:
                self.git.remove(row, True)
                rows.record_removed(self.store, caller, [row.name], "it could not be set up")
                raise
        finally:
            lock.release()
        return ReadyWorktree(row, self.environment(row), is_new=True, notes=notes)

    def _check_settings(self, run_setup: bool) -> None:
        """Refuse bad patterns and untrusted settings before anything is made."""
        for setting, patterns in (("copy", self.rules.copy), ("link", self.rules.link)):
            for pattern in patterns:
                rules.check_pattern(f"worktrees.{setting}", pattern)
        places = ["worktrees.env"] if self.rules.env else []
        places += ["worktrees.setup"] if run_setup and self.rules.setup else []
        if places:
            self.require_trust(places)

    def _hold(self, name: str) -> WorktreeLock:
        try:
            return self.locks.hold(rules.lock_name(name))
        except Refusal as refusal:
            raise refuse("worktree.busy", name=name) from refusal

    def _make_bare(self, caller: Caller, asked: dict[str, Any], lock: WorktreeLock) -> Worktree:
        known = [row for row in self._rows() if row.name == self.scope + asked["name"]]
        if known and not self._forget(caller, known, is_ours=True):
            raise refuse("worktree.exists", name=asked["name"], path=known[0].path)
        wanted = self._wanted(asked)
        self.files.require_room(1, wanted.path)
        return rows.make(self.store, caller, self.git, wanted, self.free_ports(), keep_fds=[lock.fileno()])

    def _wanted(self, asked: dict[str, Any]) -> rows.Wanted:
        name, chosen, task = asked["name"], asked["branch"], asked["task"]
        self._check_name(name)
        place = self.reader.new_place(name, asked["path"])
        row = self.store.read(lambda view: view.get(TASK, (task,))) if task else None
        title = row.title if row is not None else ""
        branch = rules.branch_name(chosen or rules.branch_for(self.rules.branches, name, task, title))
        near = self.branches.near(branch)
        is_new = self._check_branch(branch, near, is_chosen=bool(chosen), base=asked["base"])
        return rows.Wanted(
            name, place, branch=branch, base=self._base_commit(asked["base"] if is_new else branch),
            agent=asked["agent"], task=task, scope=self.scope, ports=self.rules.ports,
            ports_from=self.rules.ports_from, ports_to=self.rules.ports_to, branches=near,
            is_new_branch=is_new, is_own_branch=not chosen, asked=asked,
        )  # fmt: skip

    def _check_name(self, name: str) -> None:
        """Refuse a name that an existing worktree has in git, or that differs from one only in case. Forget
        git's entry of that name if its directory is gone."""
        entries = self.reader.entries()
        rules.check_clash("worktree", name, entries)
        entry = entries.get(name)
        if entry is None or not entry.path:
            return
        if entry.is_there:
            raise refuse("worktree.exists", name=name, path=entry.path)
        if entry.lock is None:
            self.git.drop_entry(name, entry.path)

    def _check_branch(self, branch: str, near: list[str], *, is_chosen: bool, base: str) -> bool:
        """Must the branch be made? Refuses one that is checked out, blocked by another branch, or differs
        from one only in case."""
        rules.check_room_for_ref(branch, near)
        if not is_chosen:
            return True
        rules.check_clash("branch", branch, near)
        if branch not in near:
            return True
        place = self.branches.checked_out().get(branch)
        if place:
            raise refuse("worktree.branch_in_use", branch=branch, path=place)
        if base:
            raise refuse("worktree.branch_exists", branch=branch)
        return False

    def _base_commit(self, base: str) -> str:
        """The commit to start from: the one asked for, else that of the settings, else main's."""
        wanted = base or self.rules.base
        main = self.branches.main_branch()
        for name in (wanted,) if wanted else (main, f"origin/{main}", "HEAD"):
            commit = self.branches.commit_of(name)
            if commit:
                return commit
        if not self.branches.has_commit():
            raise refuse("worktree.unborn", path=self.reader.root)
        raise refuse("worktree.base", base=wanted or main)

    def _provision(self, row: Worktree, run_setup: bool) -> list[str]:
        """Copy ignored files and run the set-up commands; returns notes for the worktree's user."""
        self.files.provide(row.path)
        notes = []
        try:
            self.files.equip(row.path)
        except Refusal as refusal:  # the worktree can be used without hooks
            notes.append(f"The clients' hooks are not set up there: {refusal.what}")
        failed = self.files.set_up(row.path, self.environment(row)) if run_setup else None
        if failed is not None:
            command, code, tail = failed
            how = "did not finish in time" if code < 0 else f"ended with {code}"
            raise setup_failed(command, how, tail)
        return notes + self.files.notes(row.path)

    def environment(self, row: Worktree) -> dict[str, str]:
        """Environment variables for processes in the worktree: its ports, and those from the settings."""
        return rules.environment(
            name=row.name.rpartition("/")[2],
            path=row.path,
            port_first=row.port_first,
            port_count=row.port_count,
            stated=self.rules.env,
        )

    def find(self, tree: str) -> ReadyWorktree:
        """A worktree that was made before, as `make` returned it."""
        row = self.reader.current(self.store.read(lambda view: rows.known_worktree(view, tree)))
        return ReadyWorktree(row, self.environment(row), is_new=False, notes=[])

    def made_for(self, agent: str) -> list[ReadyWorktree]:
        """The worktrees that this clone has for an agent."""
        found = self.store.read(lambda view: rows.worktrees_of(view, agent))
        return [self.find(row.name) for row in found if self.owns(row)]

    def base_warning(self, made: ReadyWorktree) -> str:
        """A warning if a new worktree lacks uncommitted changes of the main worktree; else ""."""
        if not made.is_new or self.branches.commit_of("HEAD") != made.base:
            return ""
        root = self.reader.root
        changed = self.reader.count_changes(root)
        if changed == 1:
            return f"1 uncommitted change in {root} is not in the new worktree."
        return f"{changed} uncommitted changes in {root} are not in the new worktree." if changed else ""

    # -- listing ------------------------------------------------------------------------------

    def overview(self) -> list[dict[str, Any]]:
        """All worktrees except the main one, from the store and from git's current state."""
        found = {self.scope + name: state for name, state in self.reader.states().items()}
        return self.store.read(lambda view: rows.list_worktrees(view, self.scope, found))

    # -- adopting -----------------------------------------------------------------------------

    def adopt(self, caller: Caller, path: str, *, agent: str = "", task: int = 0) -> ReadyWorktree:
        """Register the worktree that git has at or above this path; `is_new` if we did not know it."""
        found = self.reader.around(path)
        if found is None:
            raise not_found("worktree", path, "lineclear worktree list")
        if found.is_main:
            raise refuse("worktree.main", what="adopt")
        if found.is_check_tree:
            raise refuse("checks.not_a_workplace", path=found.path)
        if not found.name:
            raise worktree_failed(path, "its .git file points nowhere; `git worktree repair` may help")
        if found.name == "main":
            raise refuse(
                "input.bad", name="worktree", given=found.name, why="that is the main worktree's name"
            )
        wanted = rows.Wanted(
            found.name, found.path, branch=found.branch, base=found.head, agent=agent, task=task,
            origin=rules.origin_of(found.path, self.codex_home), scope=self.scope, ports=self.rules.ports,
            ports_from=self.rules.ports_from, ports_to=self.rules.ports_to, is_own_branch=False,
        )  # fmt: skip
        row, is_new = rows.adopt(self.store, caller, wanted, self.free_ports())
        return ReadyWorktree(row, self.environment(row), is_new=is_new, notes=[])

    # -- removing -----------------------------------------------------------------------------

    def remove(self, caller: Caller, name: str, *, force: bool = False) -> dict[str, Any]:
        if name == "main":
            raise refuse("worktree.main", what="remove")
        return self.discard(caller, name, why=f"removed by {caller.name}", force=force)

    def discard(self, caller: Caller, tree: str, *, why: str, force: bool = False) -> dict[str, Any]:
        """Remove a worktree by our name for it. Refuses if work in it would be lost. Commits stay on their
        branch."""
        name = tree.removeprefix(self.scope)
        row = self._row_of(name)
        if row is None:
            return rows.removed_before(self.store, caller, self.scope + name)
        lock = self._hold(name)
        try:
            if self._forget(caller, [row], is_ours=True):
                return {"name": row.name, "path": row.path, "branch": row.branch, "saved": False}
            return rows.remove(
                self.store, caller, self.git, row, why=why, is_saved=self.is_saved, force=force
            )
        finally:
            lock.release()

    def _row_of(self, name: str) -> Worktree | None:
        """Our row of that name; for a worktree that only git knows, a row without an agent; else None."""
        tree = self.scope + name
        row = self.store.read(lambda view: view.get(WORKTREE, (tree,)))
        if row is not None:
            return self.reader.current(row) if self.owns(row) else None
        entry = self.reader.entries().get(name)
        if entry is None:
            return None
        if entry.is_check_tree:
            raise refuse("checks.not_a_workplace", path=entry.path)
        held = self.branches.checked_out()
        branch = next((branch for branch, place in held.items() if place == entry.path), "")
        return Worktree(tree, entry.path, branch, "", "", 0, rules.GIT, 0, 0, 0)

    def forget_vanished(self, caller: Caller) -> list[str]:
        """Take out of the store what neither git nor the disk has any longer; their ports are free again."""
        return self._forget(caller, self._rows())

    def vanished(self) -> list[str]:
        """What `forget_vanished` would take out."""
        return [row.name for row in self._vanished(self._rows()) if not self.is_busy(row.name)]

    def owns(self, row: Worktree) -> bool:
        """Is it a worktree of this clone? A team's store has those of all clones."""
        return row.name.startswith(self.scope) and "/" not in row.name[len(self.scope) :]

    def is_busy(self, tree: str) -> bool:
        """Is a process making or removing it now?"""
        return self.locks.is_held(rules.lock_name(tree.removeprefix(self.scope)))

    def _rows(self) -> list[Worktree]:
        found = self.store.read(lambda view: view.scan(WORKTREE, "key"))
        return [self.reader.current(row) for row in found if self.owns(row)]

    def _forget(self, caller: Caller, known: Iterable[Worktree], *, is_ours: bool = False) -> list[str]:
        """Forget the worktrees among these that have vanished. `is_ours`: this process holds their locks."""
        gone = [row for row in self._vanished(known) if is_ours or not self.is_busy(row.name)]
        for row in gone:
            self.git.remove(row, True)
        names = [row.name for row in gone]
        return rows.record_removed(self.store, caller, names, "it had vanished") if names else []

    def _vanished(self, known: Iterable[Worktree]) -> list[Worktree]:
        entries = self.reader.entries()
        return [row for row in known if _is_vanished(row, entries.get(row.name.removeprefix(self.scope)))]


def _is_vanished(row: Worktree, entry: WorktreeEntry | None) -> bool:
    """Is its directory gone, unknown to git, or half-made because git was killed?

    A worktree that git has locked may be on a disk that is not mounted now.
    """
    if entry is None:
        return True
    if entry.lock is not None:
        return entry.lock == rules.HALF_MADE and row.origin == rules.OURS
    return entry.path != row.path or not entry.is_there
