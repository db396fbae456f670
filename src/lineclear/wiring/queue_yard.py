"""The queue's git: levels are merged without a work tree, main moves under the landing lock."""

from __future__ import annotations

import time

from lineclear.app.sides import NOBODY, owner_from
from lineclear.app.stacking import Shipment, put_on
from lineclear.core.tasks import show_id
from lineclear.git.checkouts import Moved
from lineclear.git.landing import GitFooting, GitGround, LandingLock, commit_of, landing_ref
from lineclear.git.remotes import fetch_branch, fetch_commit, push_leased
from lineclear.git.run import GitFailed, git
from lineclear.wiring.gate import judge_landing, judge_new, resources_of
from lineclear.wiring.lock_making import by_settings
from lineclear.wiring.merging import spread
from lineclear.wiring.sides import End, add_sides

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from lineclear.app.stacking import Level
    from lineclear.core.gate import Finding
    from lineclear.core.tables import Candidate, Task
    from lineclear.wiring.repo import Repo

# What a candidate holds is kept from git's housekeeping, here and on the remote, while it may be wanted.
KEPT = "refs/lineclear/queue"
# How many states of main are looked at for the one that a candidate fails with.
MOST_STATES = 128
LOCK_WAIT_S = 120.0
FETCH_EVERY_S = 2.0


class GitYard:
    """The `Yard` of app/queue_ports.py. With a remote, that one's branch is main, and this clone follows."""

    def __init__(self, repo: Repo, contain: Callable[[GitGround], object]) -> None:
        """`contain` takes away what an agent put on main itself."""
        self._repo, self._contain = repo, contain
        self._cwd = repo.layout.worktree
        self._ref = landing_ref(repo.layout)
        self.branch = self._ref.removeprefix("refs/heads/")
        self._style, self._remote = repo.settings.queue_history, repo.settings.queue_remote
        self._footing = GitFooting(repo.layout, self.branch)
        self._maker = by_settings(repo, self._known_main)
        self._seen, self._fetched_at_s = "", 0.0

    def close(self) -> None:
        self._footing.close()

    def main(self) -> str:
        local = commit_of(self._cwd, self._ref)
        if local != self._seen:
            local = self._look_closer()
        if self._remote:
            if time.monotonic() - self._fetched_at_s >= FETCH_EVERY_S:
                self._follow(fetch_branch(self._cwd, self._remote, self.branch))
                self._fetched_at_s = time.monotonic()
            local = self._known_main()
        self._seen = commit_of(self._cwd, self._ref)
        return local

    def _known_main(self) -> str:
        """As it was last seen, wherever main is; nobody is asked."""
        there = f"refs/remotes/{self._remote}/{self.branch}" if self._remote else ""
        return (commit_of(self._cwd, there) if there else "") or commit_of(self._cwd, self._ref)

    def _look_closer(self) -> str:
        """Somebody moved main: a person may, an agent's work is put back to where it belongs."""
        with self._ground() as ground:
            ground.repair()
            self._contain(ground)
            return ground.main()

    def _follow(self, there: str) -> None:
        """This clone's main goes where the remote's went, if that is forward and nobody is in the way."""
        here = commit_of(self._cwd, self._ref)
        if there and here and here != there and self._is_ancestor(here, there):
            with self._ground() as ground:
                ground.move(here, there, f"lineclear: follow {self._remote}")

    def level(self, below: str, row: Candidate, task: Task | None) -> Level:
        if self._remote and not commit_of(self._cwd, row.tip):  # submitted on another machine
            fetch_commit(self._cwd, self._remote, f"{KEPT}/{row.tip}")
        shipment = Shipment(
            row.branch,
            row.tip,
            id=row.id,
            task=show_id(row.task) if row.task else "",
            title=task.title if task is not None else "",
            agent=row.agent,
        )
        level = put_on(self._footing, spread, below, shipment, style=self._style, maker=self._maker)
        if not level.fits:
            owner = owner_from(row.task, row.agent) if row.task else NOBODY
            ends = End(below), End(row.tip, branch=row.branch, owner=owner)
            level.conflicts = add_sides(self._cwd, self._repo.store, level.conflicts, *ends)
        return level

    def forbidden(self, row: Candidate, main: str) -> list[Finding]:
        history = self._footing.history
        bases = history.bases(main, row.tip)
        if not bases or bases == [row.tip]:
            return []
        base = history.base_of(bases)
        changed, new = history.changed(base, row.tip)
        found = judge_landing(self._repo, row.agent, changed, base=base, tip=row.tip)
        return found + judge_new(self._repo, new)

    def touched(self, row: Candidate) -> list[str]:
        history = self._footing.history
        try:
            # Main as it was then: by now it may hold the candidate.
            bases = history.bases(row.base, row.tip)
            paths = history.changed(history.base_of(bases), row.tip)[0] if bases else []
        except GitFailed:
            return []
        return [resource.path for resource in resources_of(self._repo, paths)]

    def chain(self, row: Candidate, top: str) -> list[str]:
        base = (self._footing.history.bases(top, row.tip) or [top])[0]
        words = ["rev-list", "--first-parent", f"--max-count={MOST_STATES}", f"{base}..{top}"]
        return [base, *reversed(git(words, self._cwd).decode().split())]

    def tree_of(self, commit: str) -> str:
        return self._footing.history.tree_of(commit)

    def is_on_main(self, commit: str) -> bool:
        if self._remote:
            self._fetched_at_s = 0.0
        return self._is_ancestor(commit, self.main())

    def _is_ancestor(self, old: str, new: str) -> bool:
        return self._footing.history.bases(new, old) == [old]

    def move(self, old: str, new: str, why: str) -> Moved:
        if not self._remote:
            with self._ground() as ground:
                ground.repair()
                return ground.move(old, new, why)
        failed = push_leased(self._cwd, self._remote, self.branch, old, new)
        if failed:
            return Moved("stale") if failed == "stale" else Moved("blocked", f"{self._remote}: {failed}")
        self._follow(new)
        return Moved("moved")

    def _ground(self) -> _Held:
        return _Held(self._repo)


class _Held:
    """The clone's ground while the landing lock is held."""

    def __init__(self, repo: Repo) -> None:
        self._repo = repo

    def __enter__(self) -> GitGround:
        from lineclear.core import refusals_landing

        self._lock = LandingLock(self._repo.state_directory)
        if not self._lock.take(LOCK_WAIT_S):
            raise refusals_landing.landing_busy(int(LOCK_WAIT_S))
        self._ground = GitGround(self._repo.layout, self._repo.state_directory, self._lock)
        return self._ground

    def __exit__(self, *_: object) -> None:
        self._ground.close()
        self._lock.free()
