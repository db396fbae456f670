"""`uninstall`: what becomes of worktrees, branches, snapshots and other refs. core/worktrees/uninstall.py
decides; here the facts are gathered and the steps carried out.

Each step is whole by itself, and what is saved is saved before anything goes: killed in between, the next
`uninstall` plans again and goes on with the rest.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from lineclear.core.claims.leases import is_over
from lineclear.core.log.tables import AGENT, CLAIM, TASK, WORKTREE
from lineclear.core.tasks.states import FINISHED, TAKEN, show_id
from lineclear.core.words.refusals import Refusal, refuse
from lineclear.core.worktrees import uninstall as rules
from lineclear.core.worktrees.rules import OURS
from lineclear.core.worktrees.snapshots import BEFORE_REMOVAL

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from lineclear.app.ports import Caller, Store, View
    from lineclear.app.worktrees.lifecycle import Worktrees
    from lineclear.app.worktrees.ports import CleanupCheckTrees, UninstallGit
    from lineclear.app.worktrees.saved_work import SavedWork
    from lineclear.core.log.tables import Worktree
    from lineclear.core.worktrees.snapshots import Kept
    from lineclear.core.worktrees.uninstall import LeavingStep

_TRIES = 3
_MAIN = "main"


@dataclass(frozen=True, slots=True, kw_only=True)
class Uninstalling:
    """Of one clone. `branch_prefix`: how the branches that we name begin; `remove_home` removes the directory
    of our worktrees if it is empty."""

    store: Store
    worktrees: Worktrees
    saved: SavedWork
    git: UninstallGit
    check_trees: CleanupCheckTrees
    branch_prefix: str
    remove_home: Callable[[], None]

    def plan(self) -> list[LeavingStep]:
        """Changes nothing."""
        return rules.make_plan(_Facts(self).gather())

    def held(self) -> list[str]:
        """The claims and tasks of this clone's agents, which a shared store keeps until their leases end."""
        scope = self.worktrees.scope

        def look(view: View) -> list[str]:
            claims = [claim for claim in view.scan(CLAIM, "key") if claim.tree.startswith(scope)]
            agents = {agent.name for agent in view.scan(AGENT, "key") if agent.tree.startswith(scope)}
            tasks = [task for task in view.scan(TASK, "ready", (TAKEN,)) if task.agent in agents]
            return [
                *(claim.resource for claim in claims if not is_over(claim.until_ns, view.now)),
                *(show_id(task.id) for task in tasks if not is_over(task.until_ns, view.now)),
            ]

        return self.store.read(look)

    def apply(self, caller: Caller) -> list[LeavingStep]:
        """Plan again and carry it out. Returns what was done."""
        facts = _Facts(self)
        steps = rules.make_plan(facts.gather())
        self.worktrees.forget_vanished(caller)
        rows = {row.path: row for row in facts.rows}
        for step in steps:
            if step.do == rules.SAVE:
                self._save(step, rows)
            elif step.do == rules.REMOVE:
                self._remove(caller, step, rows)
        # Also those that saving took.
        self.saved.git.delete(self.saved.git.listed())
        self.remove_home()
        return steps

    def _save(self, step: LeavingStep, rows: dict[str, Worktree]) -> None:
        commit = step.commit or self._snapshot(rows[step.name])
        if self.git.branches().get(step.branch, (commit,))[0] != commit:
            return  # it held the same files before: `saved_as`
        self.git.create_branch(step.branch, commit)

    def _snapshot(self, row: Worktree) -> str:
        """A commit with everything in the worktree, on top of its HEAD."""
        agent = row.agent or row.name.rpartition("/")[2]
        for _ in range(_TRIES):
            self.saved.take(agent=agent, tree=row.name, path=row.path, why=BEFORE_REMOVAL, task=row.task)
            head, content, left_out = self.saved.git.content(row.name, row.path)
            found = [kept for kept in self.saved.git.listed() if (kept.tree, kept.parent) == (content, head)]
            if found and not left_out:
                return found[0].commit
        raise refuse("snapshot.failed", path=row.path, why="its files keep changing")

    def _remove(self, caller: Caller, step: LeavingStep, rows: dict[str, Worktree]) -> None:
        if step.kind == rules.WORKTREE:
            row = rows[step.name]
            if not self._is_safe(row):
                raise refuse("snapshot.failed", path=row.path, why="its files changed since they were saved")
            # Forced: a run that was killed still counts as active there.
            self.worktrees.discard(caller, row.name, why="uninstalled", force=True)
        elif step.kind == rules.CHECK_TREE:
            if not self.check_trees.remove(step.name):
                raise refuse("uninstall.running", running="a check", command="lineclear uninstall")
        elif step.kind == rules.BRANCH:
            self.git.delete_ref(f"refs/heads/{step.name}", step.commit)
        elif step.kind == rules.REF:
            self.git.delete_ref(step.name, step.commit)

    def _is_safe(self, row: Worktree) -> bool:
        """Is everything in the worktree in a snapshot, or in a commit that some branch has?"""
        head, content, left_out = self.saved.git.content(row.name, row.path)
        is_committed = content == self.git.about(head)[0] and not self.git.unreached([head])
        return not left_out and (is_committed or self.saved.is_saved(row.name, row.path))


class _Facts:
    def __init__(self, story: Uninstalling) -> None:
        self._story, self._git = story, story.git
        self._worktrees = story.worktrees
        known = story.store.read(lambda view: list(view.scan(WORKTREE, "key")))
        gone = self._worktrees.vanished()
        reader = self._worktrees.reader
        self.rows = [
            reader.current(row) for row in known if self._worktrees.owns(row) and row.name not in gone
        ]
        self._entries = reader.entries()
        self._branches = self._git.branches()

    def gather(self) -> rules.LeavingFacts:
        trees = [self._tree(row) for row in self.rows]
        snapshots = self._story.saved.git.listed()
        return rules.LeavingFacts(
            branches={name: found[0] for name, found in self._branches.items()},
            prefix=self._story.branch_prefix,
            trees=trees,
            check_trees=[entry.path for entry in self._entries.values() if entry.is_check_tree],
            ours=self._ours(),
            refs=self._refs(),
            snapshots=self._snapshots(snapshots, trees),
            snapshot_count=len(snapshots),
        )

    def _tree(self, row: Worktree) -> rules.LeavingTree:
        entry = self._entries.get(row.name.removeprefix(self._worktrees.scope))
        lock = entry.lock if entry is not None else None
        if row.origin != OURS or lock is not None:
            return rules.LeavingTree(
                name=row.name, path=row.path, branch=row.branch, head="", is_ours=row.origin == OURS,
                lock="" if lock is None else (lock or "no reason was given"),
            )  # fmt: skip
        saved = self._story.saved
        name = row.name.removeprefix(self._worktrees.scope)
        try:
            head, content, left_out = saved.git.content(row.name, row.path)
        except Refusal as refusal:
            return rules.LeavingTree(
                name=name, path=row.path, branch=row.branch, head="", trouble=refusal.what
            )
        if not head:
            words = "it has no commit yet"
            return rules.LeavingTree(name=name, path=row.path, branch=row.branch, head="", trouble=words)
        limited = [path for path, size in self._git.new_files(row.path) if saved.limits.reason(path, size)]
        same = [name for name, found in self._branches.items() if found[1:3] == (content, head)]
        return rules.LeavingTree(
            name=name,
            path=row.path,
            branch=row.branch,
            head=head,
            is_dirty=content != self._git.about(head)[0],
            is_loose=bool(self._git.unreached([head])),
            saved_as=next((name for name in same if name.startswith(rules.PREFIX)), ""),
            unsaved=[*limited, *(found.path for found in left_out)],
        )

    def _ours(self) -> list[rules.LeavingBranch]:
        """By their prefix; without one nothing says whose a branch is."""
        prefix, held = self._story.branch_prefix, self._worktrees.branches.checked_out()
        if not prefix.strip("/"):
            return []
        ours = {name: found[0] for name, found in self._branches.items() if name.startswith(prefix)}
        # Those that an earlier, killed uninstall has made count like main.
        kept = [found[0] for name, found in self._branches.items() if name.startswith(rules.PREFIX)]
        unmerged = self._git.unmerged(ours.values(), kept)
        return [
            rules.LeavingBranch(
                name=name, commit=commit, is_merged=commit not in unmerged, place=held.get(name, "")
            )
            for name, commit in ours.items()
        ]

    def _refs(self) -> list[rules.LeavingRef]:
        refs = self._git.other_refs()
        unreached = self._git.unreached(refs.values())
        return [
            rules.LeavingRef(ref=ref, commit=commit, is_reached=commit not in unreached)
            for ref, commit in refs.items()
        ]

    # -- snapshots ----------------------------------------------------------------------------

    def _snapshots(
        self, snapshots: Iterable[Kept], trees: Iterable[rules.LeavingTree]
    ) -> list[rules.LeavingSnapshot]:
        newest: dict[tuple[str, int, str], Kept] = {}
        for kept in snapshots:  # each agent's newest first
            newest.setdefault((kept.agent, kept.task, kept.worktree), kept)
        if not newest:
            return []
        reached, finished = self._git.reached_trees(), self._story.store.read(_finished)
        by_name = {self._worktrees.scope + tree.name: tree for tree in trees}
        return [
            rules.LeavingSnapshot(
                agent=kept.agent,
                commit=kept.commit,
                is_covered=kept.tree in reached
                or kept.task in finished
                or self._is_older(kept, by_name.get(kept.worktree)),
            )
            for kept in newest.values()
        ]

    def _is_older(self, kept: Kept, tree: rules.LeavingTree | None) -> bool:
        """Is it older than what its worktree holds, or than the commit that is checked out there?"""
        if tree is not None and (tree.is_dirty or tree.unsaved):
            return True
        if tree is not None and tree.head:
            return self._git.about(tree.head)[1] >= kept.at_s
        is_main = kept.worktree == self._worktrees.scope + _MAIN
        return is_main and self._git.about("HEAD")[1] >= kept.at_s


def _finished(view: View) -> set[int]:
    return {task.id for task in view.scan(TASK, "key") if task.state in FINISHED}
