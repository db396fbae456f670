"""The queue's git: merges levels without a work tree, and moves main under the landing lock."""

from __future__ import annotations

import re
import time
from typing import TYPE_CHECKING

from lineclear.app.queue.conflict_sides import NOBODY, owner_from
from lineclear.app.queue.stacking import Submission, put_on
from lineclear.core.queue.commit_gate import MARKER_LINE, first_marker, judge_paths
from lineclear.core.queue.landing_results import NeedsYou
from lineclear.core.tasks.states import show_id
from lineclear.core.words.refusals import refuse
from lineclear.git.branch_moves import BranchMove, checkouts_of, head_ref
from lineclear.git.landing import LOCK_WAIT_S, CloneGit, commit_of, has_unfinished_move, locked_main
from lineclear.git.remotes import fetch_branch, fetch_commit, push_leased, share_commit, withdraw
from lineclear.git.run import GitFailed, git
from lineclear.git.uncommitted_work import dirty_paths

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from lineclear.app.commit_gate import CommitGate
    from lineclear.app.queue.lock_making import LockMaker
    from lineclear.app.queue.merge_trees import MergeRules
    from lineclear.app.queue.stacking import Level
    from lineclear.core.log.tables import Candidate, Task
    from lineclear.core.queue.commit_gate import GateFinding
    from lineclear.core.queue.conflict_sides import Owner
    from lineclear.git.layout import Layout
    from lineclear.git.stray_moves import Strays

    # (conflicts, main's commit, the candidate's commit, its branch, its owner) -> the conflicts with sides.
    AddSides = Callable[[list[dict[str, Any]], str, str, str, Owner], list[dict[str, Any]]]

# Refs that keep `git gc` from removing a candidate's commits, here and on the remote.
KEPT = "refs/lineclear/queue"
# How many states of main to search for the one that a candidate fails with.
MOST_STATES = 128
FETCH_EVERY_S = 2.0
_LOOKS_MARKED = re.compile(MARKER_LINE.encode(), re.MULTILINE)


class KeptCommits:
    """The `CommitKeeper` of app/queue/ports.py: a ref per candidate, here and on the remote if any."""

    def __init__(self, cwd: str, remote: str) -> None:
        self._cwd, self._remote = cwd, remote

    def keep(self, tip: str) -> None:
        git(["update-ref", f"{KEPT}/{tip}", tip], self._cwd)
        if self._remote:
            share_commit(self._cwd, self._remote, tip, f"{KEPT}/{tip}")

    def forget(self, tip: str, *, is_landed: bool) -> None:
        ref = f"{KEPT}/{tip}"
        words = ["for-each-ref", "--contains", tip, "--count=1", "refs/heads", "refs/remotes"]
        if is_landed or git(words, self._cwd, check=False, timeout_s=120).strip():
            git(["update-ref", "-d", ref], self._cwd, check=False)
            if self._remote:
                withdraw(self._cwd, self._remote, ref)


class CloneQueueGit:
    """The `LandingGit` of app/queue/ports.py. Open it once for a whole landing: its git processes stay until
    it is closed. It can be used again afterwards.

    With a remote, the remote's branch is main, and this clone follows it. `style`: how history is written.
    `maker_by(main)` returns what regenerates lock files, by the settings of main.
    """

    def __init__(
        self, clone: CloneGit, state_directory: str, *, style: str, remote: str, strays: Strays,
        gate: CommitGate, merge_rules: MergeRules, add_sides: AddSides,
        maker_by: Callable[[Callable[[], str]], LockMaker],
    ) -> None:  # fmt: skip
        self.clone = clone
        self.branch, self._ref, self._cwd = clone.branch, clone.ref, clone.cwd
        self._state_directory, self._style, self._remote = state_directory, style, remote
        self._strays, self._gate, self._merge_rules, self._add_sides = strays, gate, merge_rules, add_sides
        self._maker = maker_by(self.known_main)
        self._fetch_lock = f"{state_directory}/fetch.lock"
        self._seen, self._fetched_at_s = "", 0.0
        self._notes: list[str] = []
        # The last candidate's conflict markers: the gate is asked before and after its checks.
        self._marked: dict[tuple[str, str], dict[str, int]] = {}

    def close(self) -> None:
        """Closing it again has no effect."""
        self.clone.close()

    def main(self) -> str:
        local = self.clone.commit_of(self._ref)
        if local != self._seen:
            local = self._seen = self._look_closer(local)
        if self._remote:
            if time.monotonic() - self._fetched_at_s >= FETCH_EVERY_S:
                self._follow(fetch_branch(self._cwd, self._remote, self.branch, self._fetch_lock))
                self._fetched_at_s = time.monotonic()
            local = self.known_main()
            self._seen = self.clone.commit_of(self._ref)
        return local

    def known_main(self) -> str:
        """Main's commit as last seen (on the remote if there is one), without fetching; "" if unknown."""
        return self.known_ends("")[0]

    def known_ends(self, branch: str) -> tuple[str, str]:
        """(main's commit as last seen, the branch's newest commit)."""
        names = [self._ref, f"refs/heads/{branch}"]
        if self._remote:
            names.append(f"refs/remotes/{self._remote}/{self.branch}")
        local, tip, *there = self.clone.objects.commits_of(names)
        return (there[0] if there else "") or local, tip

    def ends_of(self, branch: str) -> tuple[str, str]:
        """As `known_ends`; raises a refusal if main or the branch does not exist, or both are the same. A
        branch that was made in another clone is fetched, if the remote has it."""
        main, tip = self.known_ends(branch)
        if not main:
            raise refuse("land.unborn", main=self.branch)
        if branch == self.branch:
            raise refuse("land.main", branch=branch)
        if not tip and self._remote:
            tip = fetch_branch(self._cwd, self._remote, branch, self._fetch_lock)
        if not tip:
            raise refuse("branch.unknown", branch=branch, task="")
        return main, tip

    def bases(self, main: str, tip: str) -> list[str]:
        return self.clone.history.bases(main, tip)

    def own(self, main: str, tip: str) -> list[str]:
        return self.clone.history.own(main, tip)

    def landed_change(self, below: str, commit: str) -> tuple[list[str], str]:
        if self._remote and not self.tree_of(commit):
            # Another machine landed it, and this clone has not fetched main since.
            fetch_branch(self._cwd, self._remote, self.branch, self._fetch_lock)
        files = self.clone.history.changed(below, commit)[0] if below else []
        return files, self.clone.objects.read([commit])[commit].decode("utf-8", "replace")

    def take_notes(self) -> list[str]:
        """What was done about main since the last call, as sentences for a person."""
        notes, self._notes = self._notes, []
        return notes

    def _look_closer(self, local: str) -> str:
        """Main moved. A person may do that; if an agent did it, put main back. Return main's commit."""
        if not has_unfinished_move(self._state_directory) and self._strays.find() is None:
            return local
        with locked_main(self.clone, self._state_directory, LOCK_WAIT_S) as main:
            main.repair()
            said = self._strays.contain(main)
            if said:
                self._notes.append(said.why if isinstance(said, NeedsYou) else said)
            return main.commit()

    def _follow(self, there: str) -> None:
        """Move this clone's main to the remote's commit if that is a fast-forward and nothing blocks it."""
        here = self.clone.commit_of(self._ref)
        if there and here and here != there and self._is_ancestor(here, there):
            with locked_main(self.clone, self._state_directory, LOCK_WAIT_S) as main:
                main.move(here, there, f"lineclear: follow {self._remote}")

    def level(self, below: str, row: Candidate, task: Task | None) -> Level:
        if self._remote and not self.clone.commit_of(row.tip):  # submitted on another machine
            fetch_commit(self._cwd, self._remote, f"{KEPT}/{row.tip}")
        submission = Submission(
            row.branch,
            row.tip,
            id=row.id,
            task=show_id(row.task) if row.task else "",
            title=task.title if task is not None else "",
            agent=row.agent,
        )
        level = put_on(self.clone, self._merge_rules, below, submission, style=self._style, maker=self._maker)
        if not level.fits:
            owner = owner_from(row.task, row.agent) if row.task else NOBODY
            level.conflicts = self._add_sides(level.conflicts, below, row.tip, row.branch, owner)
        return level

    def forbidden(self, row: Candidate, main: str) -> list[GateFinding]:
        history = self.clone.history
        bases = history.bases(main, row.tip)
        if not bases or bases == [row.tip]:
            return []
        base = history.base_of(bases)
        changed, new = history.changed(base, row.tip)
        differences = self.clone.trees.differences(base, row.tip)
        unsafe = judge_paths(path for path in changed if differences[path][1] is not None)
        if unsafe:
            return unsafe
        marked = self._markers(base, row.tip)
        found = self._gate.judge_landing(row.agent, changed, base=base, tip=row.tip, marked=marked)
        return found + self._gate.judge_new(new)

    def _markers(self, base: str, tip: str) -> dict[str, int]:
        """path -> the line of the first conflict marker that the change adds to it."""
        if (base, tip) not in self._marked:
            read = self.clone.objects.read
            changed = {
                path: (before if status == "M" else "", after)
                for path, (status, before, after) in self.clone.trees.changed(base, tip).items()
                if status != "D"
            }
            new = read(after for _, after in changed.values())
            looks = {path: pair for path, pair in changed.items() if _LOOKS_MARKED.search(new[pair[1]])}
            texts = {"": b"", **new, **read(before for before, _ in looks.values() if before)}
            lines = {
                path: first_marker(*(texts[oid].decode("utf-8", "replace") for oid in pair))
                for path, pair in looks.items()
            }
            self._marked = {(base, tip): {path: line for path, line in lines.items() if line}}
        return self._marked[base, tip]

    def touched(self, row: Candidate) -> list[str]:
        history = self.clone.history
        try:
            # Compare with main as it was then: by now it may contain the candidate.
            bases = history.bases(row.base, row.tip)
            paths = history.changed(history.base_of(bases), row.tip)[0] if bases else []
        except GitFailed:
            return []
        return [resource.path for resource in self._gate.rules.resources(paths)]

    def chain(self, row: Candidate, top: str) -> list[str]:
        base = (self.clone.history.bases(top, row.tip) or [top])[0]
        words = ["rev-list", "--first-parent", f"--max-count={MOST_STATES}", f"{base}..{top}"]
        return [base, *reversed(git(words, self._cwd).decode().split())]

    def tree_of(self, commit: str) -> str:
        return self.clone.history.tree_of(commit)

    def is_on_main(self, commit: str) -> bool:
        if self._remote:
            self._fetched_at_s = 0.0
        return self._is_ancestor(commit, self.main())

    def _is_ancestor(self, old: str, new: str) -> bool:
        return self.clone.history.bases(new, old) == [old]

    def move(self, old: str, new: str, why: str) -> BranchMove:
        if not self._remote:
            with locked_main(self.clone, self._state_directory, LOCK_WAIT_S) as main:
                main.repair()
                return main.move(old, new, why)
        failed = push_leased(self._cwd, self._remote, self.branch, old, new, self._fetch_lock)
        if failed == "stale":
            return BranchMove("stale")
        if failed:
            return BranchMove("blocked", f"{self._remote}: {failed}")
        self._follow(new)
        return BranchMove("moved")


# -- branches to land -----------------------------------------------------------------------------


def branch_here(layout: Layout) -> str:
    """The branch of the current worktree; refused if its HEAD is detached."""
    ref = head_ref(layout.worktree, layout.common_dir, layout.git_dir)
    if not ref:
        raise refuse("land.detached", path=layout.worktree)
    return ref.removeprefix("refs/heads/")


def tip_of(layout: Layout, branch: str) -> str:
    """The branch's newest commit; "" if this clone has no such branch."""
    return commit_of(layout.worktree, f"refs/heads/{branch}")


def uncommitted(layout: Layout, branch: str) -> list[str]:
    """The uncommitted paths in every worktree that has the branch checked out."""
    places = checkouts_of(layout.common_dir, f"refs/heads/{branch}")
    return [path for place in places for path in dirty_paths(place.path)]
