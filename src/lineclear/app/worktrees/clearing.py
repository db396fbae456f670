"""`gc`: gather the facts, make the plan, carry it out. core/worktrees/cleanup.py decides what may go.

Each removal looks again right before it acts, and each is whole by itself: if the process is killed in
between, the next gc goes on with what is left.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from lineclear.app.worktrees.cleanup import Known
from lineclear.core.agents.hooks import session_key
from lineclear.core.runs.states import ENDED
from lineclear.core.words.refusals import Refusal
from lineclear.core.worktrees import cleanup as rules
from lineclear.core.worktrees.rules import OURS

if TYPE_CHECKING:
    from lineclear.app.ports import Caller, Liveness, Presence, Store
    from lineclear.app.worktrees.lifecycle import Worktrees
    from lineclear.app.worktrees.ports import CleanupCheckTrees, CleanupFiles, CleanupGit
    from lineclear.app.worktrees.saved_work import SavedWork
    from lineclear.core.log.tables import Worktree
    from lineclear.core.worktrees.cleanup import CleanupItem, CleanupPlan
    from lineclear.core.worktrees.snapshots import Kept

_DAY_S = 86_400
_MAIN = "main"


@dataclass(frozen=True, slots=True, kw_only=True)
class Cleanup:
    """Clears away in one clone. `branch_prefix`: how the branches that we name begin; `has_checks`: the
    settings state checks; `silence_ms`: when a silent agent counts as gone."""

    store: Store
    presence: Presence
    liveness: Liveness
    worktrees: Worktrees
    saved: SavedWork
    git: CleanupGit
    files: CleanupFiles
    check_trees: CleanupCheckTrees
    branch_prefix: str
    has_checks: bool
    silence_ms: int

    def plan(self, *, checks: bool = False) -> CleanupPlan:
        """What can go and what stays. Changes nothing. `checks`: check trees may go though checks need
        them."""
        facts = _Facts(self).gather(checks_are_needed=self.has_checks and not checks)
        return rules.make_plan(facts, keep=self.saved.keep, keep_for_s=self.saved.keep_for_s)

    def apply(self, caller: Caller, found: CleanupPlan) -> CleanupPlan:
        """Carry the plan out. Returns what is gone, and what stays after all and why."""
        done = rules.CleanupPlan(kept=list(found.kept))
        for item in found.removals:
            try:
                why = self._remove(caller, item)
            except (Refusal, OSError) as error:
                why = str(error).split("\n", maxsplit=1)[0]
            done.judge(item.kind, item.key, why, item.why)
        return done

    def _remove(self, caller: Caller, item: CleanupItem) -> str:
        """Remove one thing. Returns why not, if it may no longer go."""
        if item.kind == rules.WORKTREE:
            return self._remove_tree(caller, item.key)
        if item.kind == rules.VANISHED:
            self.worktrees.forget_vanished(caller)
            return "it is back" if item.key in self.store.read(Known).rows else ""
        if item.kind == rules.CHECK_TREE:
            return "" if self.check_trees.remove(item.key) else "a check runs in it"
        if item.kind == rules.BRANCH:
            return self._remove_branch(item.key)
        if item.kind == rules.SNAPSHOT:
            kept = [found for found in self.saved.git.listed() if found.ref == item.key]
            return "" if not kept or self.saved.git.delete(kept) else "git did not remove it"
        if item.kind == rules.DIRECTORY:
            self.files.remove_directory(item.key)
        elif item.kind == rules.BOND:
            self.files.remove_bond(item.key)
        else:
            self.files.remove(item.key)
        return ""

    def _remove_tree(self, caller: Caller, tree: str) -> str:
        """Ask the same questions once more: somebody may have begun to work there meanwhile."""
        facts = _Facts(self)
        row = facts.known.rows.get(tree)
        if row is None:
            return ""
        again = rules.make_plan(rules.CleanupFacts(trees=[facts.tree(row)]), keep=1, keep_for_s=0)
        if again.kept:
            return again.kept[0].why
        self.worktrees.discard(caller, tree, why="cleared away")
        return ""

    def _remove_branch(self, branch: str) -> str:
        fact = next((found for found in _Facts(self).branches() if found.name == branch), None)
        if fact is None:
            return ""
        again = rules.make_plan(rules.CleanupFacts(branches=[fact]), keep=1, keep_for_s=0)
        if again.kept:
            return again.kept[0].why
        self.git.delete_branch(branch, fact.commit)
        return ""


class _Facts:
    """Everything that could be cleared away, as it is now."""

    def __init__(self, cleanup: Cleanup) -> None:
        self._cleanup, self._worktrees, self._files = cleanup, cleanup.worktrees, cleanup.files
        self.known = cleanup.store.read(Known)
        self._entries = self._worktrees.reader.entries()

    def gather(self, *, checks_are_needed: bool) -> rules.CleanupFacts:
        gone = self._worktrees.vanished()
        rows = [row for row in self.known.rows.values() if self._worktrees.owns(row)]
        files = [*self._scratch(), *self._run_logs(), *self._bonds(), *self._presence(), *self._sessions()]
        return rules.CleanupFacts(
            trees=[self.tree(row) for row in rows if row.name not in gone],
            rows=[_vanished(row) for row in rows if row.name in gone],
            directories=self._directories(),
            check_trees=self._check_trees(is_needed=checks_are_needed),
            branches=self.branches(),
            snapshots=self._snapshots(),
            files=files,
        )

    # -- worktrees and branches ---------------------------------------------------------------

    def tree(self, row: Worktree) -> rules.WorktreeFacts:
        """Whether its work is saved comes last: that reads the whole worktree."""
        cleanup, entry = self._cleanup, self._entries.get(row.name.removeprefix(self._worktrees.scope))
        in_use, lock = self._in_use(row.name), entry.lock if entry is not None else None
        was_used = self.known.was_used(row.name, cleanup.presence)
        may_go = row.origin == OURS and not in_use and lock is None and was_used
        is_landed = may_go and cleanup.git.is_landed(row.path)
        return rules.WorktreeFacts(
            name=row.name,
            path=row.path,
            origin=row.origin,
            in_use=in_use,
            was_used=was_used,
            lock="" if lock is None else (lock or "no reason was given"),
            is_landed=is_landed,
            is_saved=may_go and not is_landed and cleanup.saved.is_saved(row.name, row.path, lasting=False),
        )

    def _in_use(self, tree: str) -> str:
        if self._worktrees.is_busy(tree):
            return "another process is creating or removing it"
        cleanup = self._cleanup
        return self.known.in_use(tree, cleanup.liveness, cleanup.presence, cleanup.silence_ms)

    def branches(self) -> list[rules.BranchFacts]:
        """Our branches, by their prefix; without a prefix nothing says whose they are."""
        prefix = self._cleanup.branch_prefix
        if not prefix.strip("/"):
            return []
        return [
            rules.BranchFacts(
                name=found.name,
                commit=found.commit,
                is_merged=found.is_merged,
                needed_by=f"the worktree at {found.place}"
                if found.place
                else self.known.branches.get(found.name, ""),
            )
            for found in self._cleanup.git.branches(prefix)
        ]

    def _directories(self) -> list[rules.Directory]:
        """Directories beside our worktrees that git does not know."""
        known = {entry.path for entry in self._entries.values()}
        return [
            rules.Directory(
                path=path,
                is_empty=self._files.is_empty(path),
                in_use="another process is creating it"
                if self._worktrees.is_busy(path.rpartition("/")[2])
                else "",
            )
            for path in self._files.directories()
            if path not in known
        ]

    def _check_trees(self, *, is_needed: bool) -> list[rules.CheckTreeFacts]:
        paths = sorted(entry.path for entry in self._entries.values() if entry.is_check_tree)
        is_used = self._cleanup.check_trees.is_used
        return [rules.CheckTreeFacts(path=path, in_use=is_used(path), is_needed=is_needed) for path in paths]

    # -- snapshots and files ------------------------------------------------------------------

    def _snapshots(self) -> list[rules.Series]:
        saved, trees = self._cleanup.saved, {_MAIN, *self._entries}
        now_s = saved.now_s()
        series: dict[str, list[Kept]] = {}
        for kept in saved.git.listed():
            series.setdefault(kept.agent, []).append(kept)
        return [
            rules.Series(
                agent=agent,
                refs=[kept.ref for kept in found],
                ages_s=[max(0, now_s - kept.at_s) for kept in found],
                is_rolling=[kept.is_rolling for kept in found],
                has_worktree=any(kept.worktree in trees for kept in found),
            )
            for agent, found in series.items()
        ]

    def _scratch(self) -> list[rules.File]:
        """Our notes about worktrees that no longer exist."""
        stems = tuple(f"{tree}." for tree in (_MAIN, *self._entries))
        keys = [key for key in self._files.keys(rules.SCRATCH) if not _name(key).startswith(stems)]
        return [self._file(rules.SCRATCH, key) for key in keys]

    def _run_logs(self) -> list[rules.File]:
        found = []
        for key in self._files.keys(rules.RUN_LOG):
            name = _name(key)
            run = self.known.runs.get(int(name)) if name.isdecimal() else None
            needed_by = f"run {name} is still active" if run is not None and run.state != ENDED else ""
            found.append(self._file(rules.RUN_LOG, key, needed_by))
        return found

    def _bonds(self) -> list[rules.File]:
        """Locks of processes that died more than a day ago. To ask for a lock that does not exist gives the
        same answer: dead."""
        names = [_name(key) for key in self._files.keys(rules.BOND)]
        return [
            rules.File(kind=rules.BOND, name=name, age_s=0)
            for name in names
            if (self._files.dead_for_s(name) or 0) > _DAY_S
        ]

    def _presence(self) -> list[rules.File]:
        """Heartbeats of agents that are gone."""
        found = []
        for key in self._files.keys(rules.PRESENCE):
            # Beside an agent's own file there may be others about it: `ada~renewed`.
            agent = self.known.agents.get(_name(key).partition("~")[0].replace("+", "/"))
            if agent is None or agent.state != "here":
                found.append(self._file(rules.PRESENCE, key))
        return found

    def _sessions(self) -> list[rules.File]:
        """What hooks remember of sessions that are over, or have been silent for as long as agents may be.
        If one comes back after all, its hooks ask and report some things once more."""
        presence, silence_s = self._cleanup.presence, self._cleanup.silence_ms // 1_000
        live = {
            session_key(agent.client, agent.session)
            for agent in self.known.agents.values()
            if agent.session and (presence.idle_ns(agent.name) or 0) <= silence_s * 1_000_000_000
        }
        found = []
        for key in self._files.keys(rules.SESSION):
            # All sessions share `writes`; `claude-s1.picture` and `claude-s1+sub-a` belong to one.
            name, file = _name(key), self._file(rules.SESSION, key)
            is_live = any(name == one or name.startswith((one + ".", one + "+")) for one in live)
            if name.partition(".")[0] != "writes" and not is_live and file.age_s > silence_s:
                found.append(file)
        return found

    def _file(self, kind: str, key: str, needed_by: str = "") -> rules.File:
        return rules.File(kind=kind, name=key, age_s=self._files.age_s(key), needed_by=needed_by)


def _name(key: str) -> str:
    return key.rpartition("/")[2]


def _vanished(row: Worktree) -> rules.VanishedWorktree:
    ports = f"{row.port_first}-{row.port_first + row.port_count - 1}" if row.port_count else ""
    return rules.VanishedWorktree(name=row.name, path=row.path, ports=ports)
