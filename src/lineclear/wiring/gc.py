"""Clearing away, wired: gather the facts, make the plan, carry it out.

Each removal looks again right before it acts, and each is whole by itself: killed in between, what was
removed is gone, what was not is there, and the next gc goes on.
"""

from __future__ import annotations

import os
import shutil
import time
from typing import TYPE_CHECKING

from lineclear.app.worktrees.cleanup import Known
from lineclear.core.agents.hooks import session_key
from lineclear.core.runs.states import ENDED
from lineclear.core.words.refusals import Refusal
from lineclear.core.worktrees import cleanup as rules
from lineclear.core.worktrees.rules import OURS
from lineclear.git import branches
from lineclear.git import worktrees as git_trees
from lineclear.git.detached import check_trees
from lineclear.git.layout import CHECKS, MAIN_TREE
from lineclear.git.run import GitFailed
from lineclear.git.snapshots.refs import delete_snapshots, list_snapshots, merged_branches
from lineclear.host.sessions import SESSIONS
from lineclear.settings.stated_checks import has_checks
from lineclear.wiring.checks import check_trees as check_trees_of
from lineclear.wiring.repo import SNAPSHOTS
from lineclear.wiring.worktrees import clone_branches, clone_worktrees, saved_work_in, worktrees_in

if TYPE_CHECKING:
    from lineclear.app.ports import Caller
    from lineclear.core.log.tables import Worktree
    from lineclear.core.worktrees.cleanup import CleanupItem, CleanupPlan
    from lineclear.core.worktrees.snapshots import Kept
    from lineclear.wiring.repo import Repo

_RUNS, _BONDS, _PRESENCE = "runs", "bonds", "agents"
_DAY_NS = 86_400 * 1_000_000_000


def plan(repo: Repo, *, checks: bool = False) -> CleanupPlan:
    """What could go and what stays. Changes nothing. `checks`: check trees may go though they are needed."""
    return Ground(repo).plan(checks=checks)


def apply(repo: Repo, caller: Caller, found: CleanupPlan) -> CleanupPlan:
    """Carry the plan out; gives what is gone, and what stays after all and why."""
    done = rules.CleanupPlan(kept=list(found.kept))
    for item in found.removals:
        try:
            why = _remove(repo, caller, item)
        except (Refusal, GitFailed, OSError) as error:
            why = str(error).split("\n", maxsplit=1)[0]
        done.judge(item.kind, item.key, why, item.why)
    return done


def _remove(repo: Repo, caller: Caller, item: CleanupItem) -> str:
    """Remove one thing; gives why not when it may no longer go."""
    if item.kind == rules.WORKTREE:
        return _remove_tree(repo, caller, item.key)
    if item.kind == rules.VANISHED:
        worktrees_in(repo).forget_vanished(caller)
        return "it is back" if item.key in Ground(repo).known.rows else ""
    if item.kind == rules.DIRECTORY:
        os.rmdir(item.key)
        return ""
    if item.kind == rules.CHECK_TREE:
        return "" if check_trees_of(repo).remove(item.key) else "a check runs in it"
    if item.kind == rules.BRANCH:
        return _remove_branch(repo, item.key)
    if item.kind == rules.SNAPSHOT:
        kept = [found for found in list_snapshots(repo.layout.common_dir) if found.ref == item.key]
        return "" if not kept or delete_snapshots(repo.layout.common_dir, kept) else "git did not remove it"
    return _remove_file(repo, item)


def _remove_tree(repo: Repo, caller: Caller, tree: str) -> str:
    """The same questions once more: somebody may have begun to work there meanwhile."""
    ground = Ground(repo)
    row = ground.known.rows.get(tree)
    if row is None:
        return ""
    again = rules.make_plan(rules.CleanupFacts(trees=[ground.tree(row)]), keep=1, keep_for_s=0)
    if again.kept:
        return again.kept[0].why
    worktrees_in(repo).discard(caller, tree, why="cleared away")
    return ""


def _remove_branch(repo: Repo, branch: str) -> str:
    ground = Ground(repo)
    fact = next((found for found in ground.branches() if found.name == branch), None)
    if fact is None:
        return ""
    again = rules.make_plan(rules.CleanupFacts(branches=[fact]), keep=1, keep_for_s=0)
    if again.kept:
        return again.kept[0].why
    branches.delete_branch(ground.site.root, branch, fact.commit)
    return ""


def _remove_file(repo: Repo, item: CleanupItem) -> str:
    if item.kind == rules.BOND:
        repo.bonds.hold(item.key).release()  # refused when somebody holds it now
        return ""
    path = os.path.join(repo.state_directory, item.key)
    if os.path.isdir(path) and not os.path.islink(path):
        shutil.rmtree(path)
    else:
        os.unlink(path)
    return ""


class Ground:
    """Everything that could be cleared away, as it is now."""

    def __init__(self, repo: Repo) -> None:
        self.repo, self.site = repo, clone_worktrees(repo)
        self.worktrees, self.main = worktrees_in(repo), clone_branches(repo).main_commit()
        self.known = repo.store.read(Known)
        self.names = set(git_trees.entry_names(self.site.common_dir))

    def plan(self, *, checks: bool = False) -> CleanupPlan:
        settings = self.repo.settings
        gone = self.worktrees.vanished()
        rows = [row for row in self.known.rows.values() if self.worktrees.owns(row)]
        facts = rules.CleanupFacts(
            trees=[self.tree(row) for row in rows if row.name not in gone],
            rows=[self._row(row) for row in rows if row.name in gone],
            directories=self._directories(),
            check_trees=self._check_trees(is_needed=has_checks(settings) and not checks),
            branches=self.branches(),
            snapshots=self._snapshots(),
            files=[*self._scratch(), *self._run_logs(), *self._bonds(), *self._presence(), *self._sessions()],
        )
        keep_for_s = settings.snapshots_keep_for_ms // 1_000
        return rules.make_plan(facts, keep=settings.snapshots_keep, keep_for_s=keep_for_s)

    # -- worktrees and branches ---------------------------------------------------------------

    def tree(self, row: Worktree) -> rules.WorktreeFacts:
        """Whether it is saved is asked last: that reads the whole worktree."""
        repo, name = self.repo, row.name.removeprefix(self.worktrees.scope)
        in_use = self._in_use(row.name)
        lock = git_trees.lock_of(self.site.common_dir, name)
        was_used = self.known.was_used(row.name, repo.presence)
        is_candidate = row.origin == OURS and not in_use and lock is None and was_used
        is_landed = is_candidate and self._is_landed(row.path)
        return rules.WorktreeFacts(
            name=row.name,
            path=row.path,
            origin=row.origin,
            in_use=in_use,
            was_used=was_used,
            lock="" if lock is None else (lock or "no reason was given"),
            is_landed=is_landed,
            is_saved=is_candidate
            and not is_landed
            and saved_work_in(repo).is_saved(row.name, row.path, lasting=False),
        )

    def _in_use(self, tree: str) -> str:
        repo = self.repo
        if self.worktrees.is_busy(tree):
            return "another process is creating or removing it"
        return self.known.in_use(tree, repo.liveness, repo.presence, repo.settings.agents_silence_ms)

    def _is_landed(self, path: str) -> bool:
        try:
            head = branches.commit_of(self.site.common_dir, path, "HEAD")
            is_merged = bool(head and self.main) and branches.is_merged(self.site.root, head, self.main)
            return is_merged and git_trees.count_changes(path) == 0
        except GitFailed:
            return False

    def _row(self, row: Worktree) -> rules.VanishedWorktree:
        last = row.port_first + row.port_count - 1
        return rules.VanishedWorktree(
            name=row.name, path=row.path, ports=f"{row.port_first}-{last}" if row.port_count else ""
        )

    def branches(self) -> list[rules.BranchFacts]:
        """Ours by their prefix; without a prefix there is no telling whose they are."""
        prefix, main = self.repo.settings.worktrees_branches, self.main
        if not prefix.strip("/") or not main:
            return []
        held = branches.checked_out(self.site.common_dir, self.site.root)
        found = []
        for name, commit, is_merged in merged_branches(self.site.common_dir, prefix, main):
            needed = f"the worktree at {held[name]}" if name in held else self.known.branches.get(name, "")
            found.append(rules.BranchFacts(name=name, commit=commit, is_merged=is_merged, needed_by=needed))
        return found

    def _directories(self) -> list[rules.Directory]:
        """What lies beside our worktrees and is none of git's."""
        home = self.site.directory
        entries = [git_trees.entry_path(self.site.common_dir, name) for name in self.names]
        known = {os.path.realpath(path) for path in entries if path}
        found = []
        for name in _names_in(home):
            if name == CHECKS:
                continue
            path = os.path.realpath(os.path.join(home, name))
            if path in known or not os.path.isdir(path) or os.path.islink(os.path.join(home, name)):
                continue
            in_use = "another process is creating it" if self.worktrees.is_busy(name) else ""
            found.append(rules.Directory(path=path, is_empty=not os.listdir(path), in_use=in_use))
        return found

    def _check_trees(self, *, is_needed: bool) -> list[rules.CheckTreeFacts]:
        return [
            rules.CheckTreeFacts(
                path=path, in_use=check_trees_of(self.repo).is_used(path), is_needed=is_needed
            )
            for path in check_trees(self.site.common_dir)
        ]

    # -- snapshots and files ------------------------------------------------------------------

    def _snapshots(self) -> list[rules.Series]:
        now_s = int(time.time())
        series: dict[str, list[Kept]] = {}
        for kept in list_snapshots(self.site.common_dir):
            series.setdefault(kept.agent, []).append(kept)
        return [
            rules.Series(
                agent=agent,
                refs=[kept.ref for kept in found],
                ages_s=[max(0, now_s - kept.at_s) for kept in found],
                is_rolling=[kept.is_rolling for kept in found],
                has_worktree=any(self._has_tree(kept.worktree) for kept in found),
            )
            for agent, found in series.items()
        ]

    def _has_tree(self, tree: str) -> bool:
        return tree == MAIN_TREE or tree in self.names

    def _scratch(self) -> list[rules.File]:
        """Our notes about worktrees that are no more."""
        stems = tuple(f"{tree}." for tree in (MAIN_TREE, *self.names))
        names = _names_in(os.path.join(self.repo.state_directory, SNAPSHOTS))
        keys = [os.path.join(SNAPSHOTS, name) for name in names if not name.startswith(stems)]
        return [rules.File(kind=rules.SCRATCH, name=key, age_s=self._age_s(key)) for key in keys]

    def _run_logs(self) -> list[rules.File]:
        found = []
        for name in _names_in(os.path.join(self.repo.state_directory, _RUNS)):
            run = self.known.runs.get(int(name)) if name.isdecimal() else None
            needed_by = f"run {name} is still active" if run is not None and run.state != ENDED else ""
            key = os.path.join(_RUNS, name)
            found.append(
                rules.File(kind=rules.RUN_LOG, name=key, age_s=self._age_s(key), needed_by=needed_by)
            )
        return found

    def _bonds(self) -> list[rules.File]:
        """Locks of processes that died a day ago or more; whoever asks for one then hears that it is dead."""
        now, found = self.repo.clock.now(), []
        for name in _names_in(os.path.join(self.repo.state_directory, _BONDS)):
            try:
                dead_ns = self.repo.bonds.dead_for_ns(name, now)
            except (Refusal, OSError):
                continue
            if dead_ns is not None and dead_ns > _DAY_NS:
                found.append(rules.File(kind=rules.BOND, name=name, age_s=0))
        return found

    def _presence(self) -> list[rules.File]:
        """Heartbeats of agents that are gone."""
        found = []
        for name in _names_in(os.path.join(self.repo.state_directory, _PRESENCE)):
            # Beside an agent's own file there may be others about it: `ada~renewed`.
            agent = self.known.agents.get(name.partition("~")[0].replace("+", "/"))
            if agent is None or agent.state != "here":
                key = os.path.join(_PRESENCE, name)
                found.append(rules.File(kind=rules.PRESENCE, name=key, age_s=self._age_s(key)))
        return found

    def _sessions(self) -> list[rules.File]:
        """What hooks remember of sessions that are over, or have been silent for as long as agents may be.
        One that comes back after all is asked, or told, once more."""
        repo, found = self.repo, []
        silence_s = repo.settings.agents_silence_ms // 1_000
        live = {
            session_key(agent.client, agent.session)
            for agent in self.known.agents.values()
            if agent.session and (repo.presence.idle_ns(agent.name) or 0) <= silence_s * 1_000_000_000
        }
        for name in _names_in(os.path.join(repo.state_directory, SESSIONS)):
            key = os.path.join(SESSIONS, name)
            # `writes` is everybody's; `claude-s1.picture` and `claude-s1+sub-a` belong to one session.
            is_live = any(name == one or name.startswith((one + ".", one + "+")) for one in live)
            if name.partition(".")[0] != "writes" and not is_live and self._age_s(key) > silence_s:
                found.append(rules.File(kind=rules.SESSION, name=key, age_s=self._age_s(key)))
        return found

    def _age_s(self, key: str) -> int:
        try:
            return max(0, int(time.time() - os.lstat(os.path.join(self.repo.state_directory, key)).st_mtime))
        except OSError:
            return 0


def _names_in(directory: str) -> list[str]:
    try:
        return sorted(os.listdir(directory))
    except OSError:
        return []
