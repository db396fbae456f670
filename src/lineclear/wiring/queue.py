"""The queue, wired: who may run it, what git says of a branch that is submitted, and waiting for its end.

Any process can run the queue, one at a time: a command that waits for its candidate, `queue run`, a
supervisor. In a clone a lock says whose turn it is; between machines a claim in the team's store does.
"""

from __future__ import annotations

import time
from contextlib import closing, contextmanager

from lineclear.app import claims
from lineclear.app.ports import Caller
from lineclear.app.queue import candidates as queue
from lineclear.app.queue import overview
from lineclear.app.queue.runner import News, QueueRules, Runner
from lineclear.core.claims.resources import parse_resource
from lineclear.core.claims.rules import EXCLUSIVE, Request
from lineclear.core.log.tables import TASK
from lineclear.core.queue.candidates import BY_CONFLICT, LANDED, LIVE, SENT_BACK, STOPPED
from lineclear.core.queue.landing import LINEAR, MERGE, NOTHING, Landed, NeedsYou, SentBack, made_in
from lineclear.core.tasks.states import HANDED_OVER, MERGED, show_id
from lineclear.core.words.queue import git_failed
from lineclear.core.words.refusals import Refusal, refuse
from lineclear.git.landing import LandingLock
from lineclear.git.remotes import share_commit, withdraw
from lineclear.git.run import GitFailed
from lineclear.git.run import git as run_git
from lineclear.wiring import queue_facts
from lineclear.wiring.check_pool import ThreadedCheckPool
from lineclear.wiring.check_settings import stated_checks
from lineclear.wiring.queue_git import KEPT, CloneQueueGit
from lineclear.wiring.stray_main import agent_on

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import Any

    from lineclear.app.ports import View
    from lineclear.core.log.tables import Candidate, Task
    from lineclear.wiring.repo import Repo

    Result = Landed | SentBack | NeedsYou

__all__ = ["News", "Turn", "land", "open_runner", "result_of", "run_once", "submit", "take_turn"]

_TURN_TTL_MS, _RENEW_S = 60_000, 15.0
_WAIT_S, _SETTLE_S = 0.5, 5.0


# -- whose turn it is -----------------------------------------------------------------------------


class Turn:
    """The right to run the queue, until it is given back, its process dies or (in a team) it is lost."""

    def __init__(self, repo: Repo, lock: LandingLock) -> None:
        self._repo, self._lock = repo, lock
        self._caller = Caller(f"queue@{repo.tree.partition('/')[0]}", tree=repo.tree)
        self._fences: dict[str, int] = {}
        self._renewed_at_s = time.monotonic()
        self.is_lost = False

    def claim(self) -> None:
        """Between machines that share a store. Refused while another one has it."""
        resource = parse_resource("queue:main", schemes=("queue",))
        bond, self._bond = self._repo.hold_bond("queue")
        caller = self._caller
        request = Request(caller.name, caller.tree, EXCLUSIVE, [resource], ttl_ms=_TURN_TTL_MS, bond=bond)
        try:
            granted = claims.ask(self._repo.store, self._repo.liveness, caller, request)
        except Refusal as refusal:
            self._bond.release()
            raise refuse("queue.running", agent=str(refusal.facts.get("holder", ""))) from refusal
        self._fences = {claim["resource"]: claim["fence"] for claim in granted["claims"]}

    def keep(self) -> bool:
        """Say now and then that we are still here; False when somebody else has taken the turn."""
        if self._fences and time.monotonic() - self._renewed_at_s > _RENEW_S:
            self._renewed_at_s = time.monotonic()
            self.is_lost = not claims.renew_exactly(self._repo.store, self._caller, self._fences)
        return not self.is_lost

    def give_back(self) -> None:
        if self._fences:
            claims.release(self._repo.store, self._caller, [], everything=True)
            self._bond.release()
        self._lock.free()


@contextmanager
def take_turn(repo: Repo, wait_s: float = 0.0) -> Iterator[Turn]:
    lock = LandingLock(repo.state_directory, queue_facts.QUEUE_LOCK)
    if not lock.take(wait_s):
        raise refuse("queue.running", agent="")
    turn = Turn(repo, lock)
    try:
        if repo.settings.store_url:
            turn.claim()
    except BaseException:
        lock.free()
        raise
    try:
        yield turn
    finally:
        turn.give_back()


@contextmanager
def open_runner(repo: Repo, caller: Caller, tell: Callable[[News], None]) -> Iterator[Runner]:
    """A runner with its git and its check trees, for one who has the turn."""
    with closing(CloneQueueGit(repo)) as git, _runner(git, caller, tell) as runner:
        yield runner


@contextmanager
def _runner(git: CloneQueueGit, caller: Caller, tell: Callable[[News], None]) -> Iterator[Runner]:
    repo, settings = git.repo, git.repo.settings
    checks = ThreadedCheckPool(repo, settings.queue_workers, git.settings.repo_at)
    rules = QueueRules(
        batch=settings.queue_batch, workers=settings.queue_workers, review=settings.queue_review
    )

    def pass_on(news: News) -> None:
        if news.kind in ("landed", "sent back"):
            forget(repo, news.candidate)
        tell(news)

    try:
        yield Runner(repo.store, caller, git, checks, rules, pass_on)
    except GitFailed as error:
        raise git_failed(error.command[0], error.stderr) from error
    finally:
        checks.close()


def run_once(
    repo: Repo, caller: Caller, *, tell: Callable[[News], None] = lambda _: None, wait_s: float = 0.0,
    is_over: Callable[[], bool] = lambda: False,
) -> int:  # fmt: skip
    """Until nothing more can be done, or `is_over`; gives how far the log was when that was found."""
    with closing(CloneQueueGit(repo)) as git:
        return _run_once(git, caller, tell=tell, wait_s=wait_s, is_over=is_over)


def _run_once(
    git: CloneQueueGit, caller: Caller, *, tell: Callable[[News], None], is_over: Callable[[], bool],
    wait_s: float = 0.0,
) -> int:  # fmt: skip
    with take_turn(git.repo, wait_s) as turn:

        def stop() -> bool:
            return is_over() or not turn.keep()

        while True:
            is_more, seen = _round(git, caller, tell, stop)
            if not is_more or stop():
                return seen


def run(repo: Repo, caller: Caller, *, tell: Callable[[News], None], is_over: Callable[[], bool]) -> None:
    """For as long as nobody says stop."""
    with take_turn(repo) as turn, repo.store.listen() as ear:

        def stop() -> bool:
            return is_over() or not turn.keep()

        while not stop():
            with closing(CloneQueueGit(repo)) as git:
                _round(git, caller, tell, stop, ear.wait)


def _round(
    git: CloneQueueGit, caller: Caller, tell: Callable[[News], None], stop: Callable[[], bool],
    wait: Callable[[float], object] | None = None,
) -> tuple[bool, int]:  # fmt: skip
    """Reviews that a command gives, the runner, what follows a landing: (whether that made new work, how far
    the log was when nothing more could be done).

    Without `wait` the runner ends when nothing more can be done; with it, when one of the others has a turn.
    """
    from lineclear.wiring.integrator import FAILED, SUBMITTED, after_landing
    from lineclear.wiring.queue_review import has_unreviewed, review_waiting

    repo = git.repo
    review_waiting(repo, caller, tell=tell, is_over=stop)
    landed: list[dict[str, Any]] = []

    def hear(news: News) -> None:
        if news.row is not None:
            landed.append(queue.show_brief(news.row))
        tell(news)

    with _runner(git, caller, hear) as runner:

        def is_over() -> bool:
            is_asked = bool(landed) or has_unreviewed(repo)
            return stop() or (wait is not None and is_asked and not runner.is_busy)

        if wait is None:
            runner.run_once(stop)
        else:
            runner.run(is_over, wait)
    try:
        followed = after_landing(git, caller, landed) if landed else None
    except Refusal as refusal:  # what landed has landed
        tell(News("warned", 0, f"after the landing: {refusal.what}"))
        return False, runner.seen
    if followed is not None and followed["result"] == FAILED:
        tell(News("warned", 0, f"after the landing: {followed['why']}"))
    return followed is not None and followed["result"] == SUBMITTED, runner.seen


# -- submit and wait ------------------------------------------------------------------------------


def submit(
    repo: Repo, caller: Caller, *, branch: str, task: int = 0, agent: str = "", after: Sequence[int] = (),
    priority: int = 0,
) -> dict[str, Any]:  # fmt: skip
    """The branch as it is now, as a candidate; refused when it cannot land or holds nothing new."""
    with closing(CloneQueueGit(repo)) as git:
        return _submit(git, caller, branch=branch, task=task, agent=agent, after=after, priority=priority)


def _submit(
    git: CloneQueueGit, caller: Caller, *, branch: str, task: int, agent: str, after: Sequence[int],
    priority: int,
) -> dict[str, Any]:  # fmt: skip
    repo = git.repo
    row, waiting, owner = repo.store.read(
        lambda view: (_task(view, task), queue.live(view), agent_on(view, branch))
    )
    if task:
        queue_facts.check_task(row, task)
    git.main()  # what an agent put on main itself is taken away before anything is compared with it
    notes = git.take_notes()
    main, tip = git.ends_of(branch)
    bases = git.clone.history.bases(main, tip)
    if not bases:
        raise refuse("land.unrelated", branch=branch, main=git.branch)
    # What is on main already is no mistake for a task that was handed over: all that is left is to end it.
    if bases == [tip] and not (row is not None and row.state == HANDED_OVER):
        raise refuse("land.nothing", branch=branch, main=git.branch, task=show_id(task) if task else "")
    others = [other for other in waiting if other.tip != tip and other.branch != branch]
    own = git.clone.history.own(main, tip) if others else []
    on = [other.id for other in others if other.tip in own]
    keep(repo, tip)
    # An agent that hands in what is nobody's answers for it.
    author = agent or owner or ("" if caller.is_person else caller.name)
    found = queue.submit(
        repo.store, caller, queue.Branch(branch, tip, main, on), task=task, agent=author, after=after,
        priority=priority,
    )  # fmt: skip
    return {**found, "notes": notes}


def _task(view: View, number: int) -> Task | None:
    return view.get(TASK, (number,)) if number else None


def keep(repo: Repo, tip: str) -> None:
    """Before anybody can be told of it: whoever runs the queue must find it, on this machine or another."""
    cwd, remote = repo.layout.worktree, repo.settings.queue_remote
    run_git(["update-ref", f"{KEPT}/{tip}", tip], cwd)
    if remote:
        share_commit(cwd, remote, tip, f"{KEPT}/{tip}")


def _has_to_wait(git: CloneQueueGit) -> bool:
    """Something has to happen between a submission and its landing: a check, or somebody's word."""
    main = git.clone.commit_of(git.clone.ref)
    settings = git.settings.at(main) if main else git.repo.settings
    return bool(stated_checks(settings)) or git.repo.settings.queue_review != "none"


def settle(repo: Repo, caller: Caller, *, lands: bool) -> list[str]:
    """After a death: repairs a half-moved tree, finishes landings, and sees that every task that was handed
    over is in the queue; lands what needs no check. Gives the tasks that are on main now."""
    before = {row.id for row in repo.store.read(_handed_over)}
    if lands:
        for row in repo.store.read(_handed_over):
            if repo.store.read(lambda view, branch=row.branch: queue.live_on(view, branch)) is None:  # type: ignore[misc]
                _submit_again(repo, caller, row)
    try:
        with closing(CloneQueueGit(repo)) as git:
            if not _has_to_wait(git) and lands:
                _run_once(git, caller, tell=lambda _: None, is_over=lambda: False, wait_s=_SETTLE_S)
            else:
                with take_turn(repo, _SETTLE_S), _runner(git, caller, lambda _: None) as runner:
                    runner.settle()
    except Refusal as refusal:
        if refusal.code != "queue.running":
            raise
        # Whoever runs the queue, for as long as a check may take, settles it in every round.
    after = {row.id for row in repo.store.read(_handed_over)}
    return [show_id(number) for number in sorted(before - after)]


def _handed_over(view: View) -> list[Task]:
    found = [task for task in view.scan(TASK, "ready", (HANDED_OVER,)) if task.branch]
    return sorted(found, key=lambda task: (task.priority, task.id))


def _submit_again(repo: Repo, caller: Caller, task: Task) -> None:
    try:
        submit(repo, caller, branch=task.branch, task=task.id, agent=task.agent)
    except Refusal:
        pass  # its branch is gone, or it ended meanwhile: the others go on


def forget(repo: Repo, number: int) -> None:
    """A candidate's commit needs no ref of ours once main or a branch holds it."""

    def look(view: View) -> tuple[Candidate, bool]:
        row = queue.known(view, number)
        return row, any(other.tip == row.tip for other in queue.live(view))

    row, is_wanted = repo.store.read(look)
    if is_wanted:
        return
    cwd, remote, ref = repo.layout.worktree, repo.settings.queue_remote, f"{KEPT}/{row.tip}"
    words = ["for-each-ref", "--contains", row.tip, "--count=1", "refs/heads", "refs/remotes"]
    if row.state == LANDED or run_git(words, cwd, check=False, timeout_s=120).strip():
        run_git(["update-ref", "-d", ref], cwd, check=False)
        if remote:
            withdraw(cwd, remote, ref)


def land(
    repo: Repo, caller: Caller, *, branch: str, task: int = 0, agent: str = "", after: Sequence[int] = (),
    priority: int = 0, wait_s: float | None = -1.0, tell: Callable[[News], None] = lambda _: None,
) -> tuple[dict[str, Any], Result | None]:  # fmt: skip
    """Submit, then stay until the candidate has come to an end, running the queue whenever nobody else does.

    `wait_s` < 0: as long as it takes; 0: not at all; None: as long as it takes unless something has to happen
    first, a check or a review. None as result: it still waits; `has_waited` says whether anybody stayed for
    it. Once more is harmless: what is on main already, for a task that has ended so or for none, is answered
    without a candidate.
    """
    with closing(CloneQueueGit(repo)) as git:
        if wait_s is None:
            wait_s = 0.0 if _has_to_wait(git) else -1.0
        try:
            found = _submit(
                git, caller, branch=branch, task=task, agent=agent, after=after, priority=priority
            )
        except Refusal as refusal:
            if refusal.code != "land.nothing" or (task and not _is_merged(repo, task)):
                raise
            nothing = {"candidate": "", "is_new": False, "renewed": False, "notes": [], "has_waited": False}
            return nothing, _nothing_new(git)
        number = int(found["candidate"][2:])
        if wait_s != 0:
            _stay(git, caller, number, wait_s, tell)
        result = _result_of(git, number)
        if isinstance(result, Landed):
            result.notes += found["notes"]
        return {**found, "has_waited": wait_s != 0}, result


def _stay(
    git: CloneQueueGit, caller: Caller, number: int, wait_s: float, tell: Callable[[News], None]
) -> None:
    """Until the candidate has ended, the time is over, or the queue can do nothing more for it now."""
    end_at_s = time.monotonic() + wait_s if wait_s >= 0 else float("inf")
    ended: set[int] = set()

    def hear(news: News) -> None:
        if news.kind in ("landed", "sent back"):
            ended.add(news.candidate)
        tell(news)

    def is_over() -> bool:
        return number in ended or time.monotonic() >= end_at_s or _has_ended(git.repo, number)

    with git.repo.store.listen() as ear:
        while True:
            try:
                _run_once(git, caller, tell=hear, is_over=is_over)
                return  # if it has not ended: it is held, unreviewed, in the way, or behind such a one
            except Refusal as refusal:
                if refusal.code != "queue.running":
                    raise
            if is_over():
                return
            git.close()  # nothing to ask while somebody else runs the queue
            ear.wait(_WAIT_S)


def _is_merged(repo: Repo, task: int) -> bool:
    row = repo.store.read(lambda view: _task(view, task))
    return row is not None and row.state == MERGED


def _nothing_new(git: CloneQueueGit) -> Landed:
    """What landing comes to where main holds all of it."""
    main = git.known_main()
    return Landed(main, git.tree_of(main), NOTHING, main=git.branch)


def _has_ended(repo: Repo, number: int) -> bool:
    return repo.store.read(lambda view: queue.known(view, number)).state not in LIVE


def result_of(repo: Repo, number: int) -> Result | None:
    """What a candidate has come to; None while it waits."""
    with closing(CloneQueueGit(repo)) as git:
        return _result_of(git, number)


def _result_of(git: CloneQueueGit, number: int) -> Result | None:
    row, below, last = git.repo.store.read(lambda view: _last_known(view, number))
    files = last.get("files", [])
    if row.state == LANDED:
        history, how = git.clone.history, str(last.get("how", ""))
        files = history.changed(below, row.commit)[0] if below else []
        notes = _made_anew(git, row.commit) if how in (MERGE, LINEAR) else []
        return Landed(row.commit, git.tree_of(row.commit), how, main=git.branch, files=files, notes=notes)
    if row.state == SENT_BACK:
        return SentBack(row.reason, files, _conflicts(git, row) if row.kind == BY_CONFLICT else [])
    return NeedsYou(row.reason, files) if row.state == STOPPED else None


def _last_known(view: View, number: int) -> tuple[Candidate, str, dict[str, Any]]:
    """(the candidate, what it was put on if it has landed, what its last event says)."""
    row = queue.known(view, number)
    below = overview.below_of(view, row) if row.state == LANDED else ""
    return row, below, queue.show(view, number)["history"][-1]


def _made_anew(git: CloneQueueGit, commit: str) -> list[str]:
    """As the landing's own commit tells it."""
    message = git.clone.objects.read([commit])[commit].decode("utf-8", "replace")
    return [f"regenerated: {words}" for words in made_in(message)]


def _conflicts(git: CloneQueueGit, row: Candidate) -> list[dict[str, Any]]:
    """The places where it does not fit, looked at once more: the log only keeps the files."""
    try:
        return git.level(git.main(), row, None).conflicts
    except Refusal:
        return []
