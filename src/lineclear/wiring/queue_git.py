"""The queue's git: levels are merged without a work tree, main moves under the landing lock."""

from __future__ import annotations

import time

from lineclear.app.queue.sides import NOBODY, SideEnd, add_sides, owner_from
from lineclear.app.queue.stacking import Submission, put_on
from lineclear.core.queue.landing import NeedsYou
from lineclear.core.tasks.states import show_id
from lineclear.core.words.refusals import refuse
from lineclear.git.branch_moves import Moved
from lineclear.git.landing import LOCK_WAIT_S, CloneGit, has_unfinished_move, locked_main
from lineclear.git.remotes import fetch_branch, fetch_commit, push_leased
from lineclear.git.run import GitFailed, git
from lineclear.host.spreading import spread
from lineclear.wiring.checks import committed_settings
from lineclear.wiring.gate import judge_landing, judge_new, resources_of
from lineclear.wiring.lock_making import lock_maker_by_settings
from lineclear.wiring.merging import touches_at
from lineclear.wiring.stray_main import contain_stray, find_stray

TYPE_CHECKING = False
if TYPE_CHECKING:
    from lineclear.app.queue.stacking import Level
    from lineclear.core.log.tables import Candidate, Task
    from lineclear.core.queue.gate import Finding
    from lineclear.wiring.repo import Repo

# What a candidate holds is kept from git's housekeeping, here and on the remote, while it may be wanted.
KEPT = "refs/lineclear/queue"
# How many states of main are looked at for the one that a candidate fails with.
MOST_STATES = 128
FETCH_EVERY_S = 2.0


class CloneQueueGit:
    """The `QueueGit` of app/queue/ports.py, and what else a landing asks of its clone: opened once for all of
    it, since each git that answers stays until this is closed. Closed, it can be used again.

    With a remote, that one's branch is main, and this clone follows. `settings` are those that commits hold.
    """

    def __init__(self, repo: Repo) -> None:
        self.repo, self.clone = repo, CloneGit(repo.layout)
        self.branch, self._ref, self._cwd = self.clone.branch, self.clone.ref, repo.layout.worktree
        self.settings = committed_settings(repo, self.clone.objects)
        self._style, self._remote = repo.settings.queue_history, repo.settings.queue_remote
        self._maker = lock_maker_by_settings(repo, self.known_main)
        self._seen, self._fetched_at_s = "", 0.0
        self._notes: list[str] = []

    def close(self) -> None:
        """Closing it again has no effect."""
        self.clone.close()

    def main(self) -> str:
        local = self.clone.commit_of(self._ref)
        if local != self._seen:
            local = self._seen = self._look_closer(local)
        if self._remote:
            if time.monotonic() - self._fetched_at_s >= FETCH_EVERY_S:
                self._follow(fetch_branch(self._cwd, self._remote, self.branch))
                self._fetched_at_s = time.monotonic()
            local = self.known_main()
            self._seen = self.clone.commit_of(self._ref)
        return local

    def known_main(self) -> str:
        """As it was last seen, wherever main is; nobody is asked. "" where there is none."""
        return self.known_ends("")[0]

    def known_ends(self, branch: str) -> tuple[str, str]:
        """(main as it was last seen, the branch's newest commit)."""
        names = [self._ref, f"refs/heads/{branch}"]
        if self._remote:
            names.append(f"refs/remotes/{self._remote}/{self.branch}")
        local, tip, *there = self.clone.objects.commits_of(names)
        return (there[0] if there else "") or local, tip

    def ends_of(self, branch: str) -> tuple[str, str]:
        """As `known_ends`; refused where there is nothing that could land."""
        main, tip = self.known_ends(branch)
        if not main:
            raise refuse("land.unborn", main=self.branch)
        if branch == self.branch:
            raise refuse("land.main", branch=branch)
        if not tip:
            raise refuse("branch.unknown", branch=branch, task="")
        return main, tip

    def take_notes(self) -> list[str]:
        """What was done about main since this was asked last, as words for a person."""
        notes, self._notes = self._notes, []
        return notes

    def _look_closer(self, local: str) -> str:
        """Somebody moved main: a person may, an agent's work is put back to where it belongs."""
        if not has_unfinished_move(self.repo.state_directory) and find_stray(self.repo) is None:
            return local
        with locked_main(self.clone, self.repo.state_directory, LOCK_WAIT_S) as main:
            main.repair()
            said = contain_stray(self.repo, main)
            if said:
                self._notes.append(said.why if isinstance(said, NeedsYou) else said)
            return main.commit()

    def _follow(self, there: str) -> None:
        """This clone's main goes where the remote's went, if that is forward and nobody is in the way."""
        here = self.clone.commit_of(self._ref)
        if there and here and here != there and self._is_ancestor(here, there):
            with locked_main(self.clone, self.repo.state_directory, LOCK_WAIT_S) as main:
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
        level = put_on(self.clone, spread, below, submission, style=self._style, maker=self._maker)
        if not level.fits:
            owner = owner_from(row.task, row.agent) if row.task else NOBODY
            ends = SideEnd(commit=below), SideEnd(commit=row.tip, branch=row.branch, owner=owner)
            level.conflicts = add_sides(touches_at(self._cwd), self.repo.store, level.conflicts, *ends)
        return level

    def forbidden(self, row: Candidate, main: str) -> list[Finding]:
        history = self.clone.history
        bases = history.bases(main, row.tip)
        if not bases or bases == [row.tip]:
            return []
        base = history.base_of(bases)
        changed, new = history.changed(base, row.tip)
        found = judge_landing(self.repo, row.agent, changed, base=base, tip=row.tip)
        return found + judge_new(self.repo, new)

    def touched(self, row: Candidate) -> list[str]:
        history = self.clone.history
        try:
            # Main as it was then: by now it may hold the candidate.
            bases = history.bases(row.base, row.tip)
            paths = history.changed(history.base_of(bases), row.tip)[0] if bases else []
        except GitFailed:
            return []
        return [resource.path for resource in resources_of(self.repo, paths)]

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

    def move(self, old: str, new: str, why: str) -> Moved:
        if not self._remote:
            with locked_main(self.clone, self.repo.state_directory, LOCK_WAIT_S) as main:
                main.repair()
                return main.move(old, new, why)
        failed = push_leased(self._cwd, self._remote, self.branch, old, new)
        if failed:
            return Moved("stale") if failed == "stale" else Moved("blocked", f"{self._remote}: {failed}")
        self._follow(new)
        return Moved("moved")
