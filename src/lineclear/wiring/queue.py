"""The queue, wired: who may run it, what git says of a branch that is submitted, and waiting for its end.

Any process can run the queue, one at a time: a command that waits for its candidate, `queue run`, a
supervisor. In a clone a lock says whose turn it is; between machines a claim in the team's store does.
"""

from __future__ import annotations

import time
from contextlib import closing, contextmanager

from lineclear.app import claims, queue, queue_look
from lineclear.app.ports import Caller
from lineclear.app.queue_runner import News, QueueRules, Runner
from lineclear.core import refusals_landing, refusals_queue
from lineclear.core.candidates import BY_CONFLICT, LANDED, LIVE, SENT_BACK, STOPPED
from lineclear.core.claims import EXCLUSIVE, Request
from lineclear.core.landing import LINEAR, MERGE, Landed, NeedsYou, SentBack, made_in
from lineclear.core.refusals import Refusal
from lineclear.core.resources import parse_resource
from lineclear.core.tables import TASK
from lineclear.core.tasks import HANDED_OVER, show_id
from lineclear.git.landing import GitFooting, LandingLock, commit_of, landing_ref
from lineclear.git.remotes import share_commit, withdraw
from lineclear.git.run import GitFailed, git
from lineclear.wiring import queue_sight
from lineclear.wiring.check_settings import settings_at, stated_checks
from lineclear.wiring.landing import agent_of, contain_stray
from lineclear.wiring.queue_bench import CheckBench
from lineclear.wiring.queue_yard import KEPT, GitYard

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import Any

    from lineclear.app.ports import View
    from lineclear.core.tables import Candidate, Task
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
            raise refusals_queue.queue_runs_elsewhere(str(refusal.facts.get("holder", ""))) from refusal
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
    lock = LandingLock(repo.state_directory, queue_sight.QUEUE_LOCK)
    if not lock.take(wait_s):
        raise refusals_queue.queue_runs_elsewhere("")
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
    """A runner with its git and its check trees; whoever opens it has the turn."""
    settings = repo.settings
    yard = GitYard(repo, lambda ground: contain_stray(repo, ground))
    bench = CheckBench(repo, settings.queue_workers)
    rules = QueueRules(
        batch=settings.queue_batch, workers=settings.queue_workers, review=settings.queue_review
    )

    def pass_on(news: News) -> None:
        if news.kind in ("landed", "sent back"):
            forget(repo, news.candidate)
        tell(news)

    try:
        yield Runner(repo.store, caller, yard, bench, rules, pass_on)
    except GitFailed as error:
        raise refusals_landing.git_failed(error.command[0], error.stderr) from error
    finally:
        bench.close()
        yard.close()


def run_once(
    repo: Repo, caller: Caller, *, tell: Callable[[News], None] = lambda _: None, wait_s: float = 0.0,
    is_over: Callable[[], bool] = lambda: False,
) -> int:  # fmt: skip
    """Until nothing more can be done, or `is_over`; gives how far the log was when that was found."""
    with take_turn(repo, wait_s) as turn:

        def stop() -> bool:
            return is_over() or not turn.keep()

        while True:
            is_more, seen = _round(repo, caller, tell, stop)
            if not is_more or stop():
                return seen


def run(repo: Repo, caller: Caller, *, tell: Callable[[News], None], is_over: Callable[[], bool]) -> None:
    """For as long as nobody says stop."""
    with take_turn(repo) as turn, repo.store.listen() as ear:

        def stop() -> bool:
            return is_over() or not turn.keep()

        while not stop():
            _round(repo, caller, tell, stop, ear.wait)


def _round(
    repo: Repo, caller: Caller, tell: Callable[[News], None], stop: Callable[[], bool],
    wait: Callable[[float], object] | None = None,
) -> tuple[bool, int]:  # fmt: skip
    """Reviews that a command gives, the runner, what follows a landing: (whether that made new work, how far
    the log was when nothing more could be done).

    Without `wait` the runner ends when nothing more can be done; with it, when one of the others has a turn.
    """
    from lineclear.wiring.integrator import FAILED, SUBMITTED, after_landing
    from lineclear.wiring.queue_review import has_unreviewed, review_waiting

    review_waiting(repo, caller, tell=tell, is_over=stop)
    landed: list[dict[str, Any]] = []

    def hear(news: News) -> None:
        if news.kind == "landed":
            landed.append(repo.store.read(lambda view: queue.show_brief(queue.known(view, news.candidate))))
        tell(news)

    with open_runner(repo, caller, hear) as runner:

        def is_over() -> bool:
            is_asked = bool(landed) or has_unreviewed(repo)
            return stop() or (wait is not None and is_asked and not runner.is_busy)

        if wait is None:
            runner.run_once(stop)
        else:
            runner.run(is_over, wait)
    try:
        followed = after_landing(repo, caller, landed) if landed else None
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
    if task:
        queue_sight.require_task(repo, task)
    cwd, main_name = repo.layout.worktree, queue_sight.main_name(repo)
    notes = _free_main(repo)
    main, tip = queue_sight.ends_of(repo, branch)
    footing = GitFooting(repo.layout, main_name)
    try:
        bases = footing.history.bases(main, tip)
    finally:
        footing.close()
    if not bases:
        raise refusals_landing.unrelated(branch, main_name)
    if bases == [tip] and not _is_handed_over(repo, task):
        raise refusals_landing.nothing_to_land(branch, main_name, show_id(task) if task else "")
    own = set(git(["rev-list", f"{main}..{tip}"], cwd).decode().split())
    waiting = repo.store.read(queue.live)
    on = [row.id for row in waiting if row.tip in own and row.tip != tip and row.branch != branch]
    keep(repo, tip)
    # An agent that hands in what is nobody's answers for it.
    author = agent or agent_of(repo, branch) or ("" if caller.is_person else caller.name)
    found = queue.submit(
        repo.store, caller, queue.Branch(branch, tip, main, on), task=task, agent=author, after=after,
        priority=priority,
    )  # fmt: skip
    return {**found, "notes": notes}


def _free_main(repo: Repo) -> list[str]:
    """What an agent put on main itself is taken away before anything is compared with it; says so."""
    said: list[str | NeedsYou] = []
    with closing(GitYard(repo, lambda ground: said.append(contain_stray(repo, ground)))) as yard:
        yard.main()
    return [one.why if isinstance(one, NeedsYou) else one for one in said if one]


def keep(repo: Repo, tip: str) -> None:
    """Before anybody can be told of it: whoever runs the queue must find it, on this machine or another."""
    cwd, remote = repo.layout.worktree, repo.settings.queue_remote
    git(["update-ref", f"{KEPT}/{tip}", tip], cwd)
    if remote:
        share_commit(cwd, remote, tip, f"{KEPT}/{tip}")


def _is_handed_over(repo: Repo, task: int) -> bool:
    """Then a branch that is on main already is no mistake: all that is left is to end the task."""
    row = repo.store.read(lambda view: view.get(TASK, (task,))) if task else None
    return row is not None and row.state == HANDED_OVER


def has_to_wait(repo: Repo) -> bool:
    """Something has to happen between a submission and its landing: a check, or somebody's word."""
    main = commit_of(repo.layout.worktree, landing_ref(repo.layout))
    settings = settings_at(repo, main) if main else repo.settings
    return bool(stated_checks(settings)) or repo.settings.queue_review != "none"


def settle(repo: Repo, caller: Caller, *, lands: bool) -> list[str]:
    """After a death: repairs a half-moved tree, finishes landings, and sees that every task that was handed
    over is in the queue; lands what needs no check. Gives the tasks that are on main now."""
    before = {row.id for row in repo.store.read(_handed_over)}
    if lands:
        for row in repo.store.read(_handed_over):
            if repo.store.read(lambda view, branch=row.branch: queue.live_on(view, branch)) is None:  # type: ignore[misc]
                _submit_again(repo, caller, row)
    try:
        if not has_to_wait(repo) and lands:
            run_once(repo, caller, wait_s=_SETTLE_S)
        else:
            with take_turn(repo, _SETTLE_S), open_runner(repo, caller, lambda _: None) as runner:
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
    row = repo.store.read(lambda view: queue.known(view, number))
    cwd, remote, ref = repo.layout.worktree, repo.settings.queue_remote, f"{KEPT}/{row.tip}"
    if any(other.tip == row.tip for other in repo.store.read(queue.live)):
        return
    words = ["for-each-ref", "--contains", row.tip, "--count=1", "refs/heads", "refs/remotes"]
    if row.state == LANDED or git(words, cwd, check=False, timeout_s=120).strip():
        git(["update-ref", "-d", ref], cwd, check=False)
        if remote:
            withdraw(cwd, remote, ref)


def land(
    repo: Repo, caller: Caller, *, branch: str, task: int = 0, agent: str = "", after: Sequence[int] = (),
    priority: int = 0, wait_s: float = -1.0, tell: Callable[[News], None] = lambda _: None,
) -> tuple[dict[str, Any], Result | None]:  # fmt: skip
    """Submit, then stay until the candidate has come to an end, running the queue whenever nobody else does.

    `wait_s` < 0: as long as it takes; 0: not at all; None as result: it still waits. Once more is harmless:
    what is on main already, for a task that has ended so or for none, is answered without a candidate.
    """
    try:
        found = submit(repo, caller, branch=branch, task=task, agent=agent, after=after, priority=priority)
    except Refusal as refusal:
        if refusal.code != "land.nothing" or (task and not queue_sight.is_merged(repo, task)):
            raise
        nothing = {"candidate": "", "is_new": False, "renewed": False, "notes": []}
        return nothing, queue_sight.nothing_new(repo)
    number = int(found["candidate"][2:])
    end_at_s = time.monotonic() + wait_s if wait_s >= 0 else float("inf")

    def is_over() -> bool:
        return _has_ended(repo, number) or time.monotonic() >= end_at_s

    with repo.store.listen() as ear:
        while not is_over():
            try:
                run_once(repo, caller, tell=tell, is_over=is_over)
            except Refusal as refusal:
                if refusal.code != "queue.running":
                    raise
                ear.wait(_WAIT_S)
                continue
            break  # if it has not ended: it is held, unreviewed, in the way, or behind such a one
    result = result_of(repo, number)
    if isinstance(result, Landed):
        result.notes += found["notes"]
    return found, result


def _row(repo: Repo, number: int) -> Candidate:
    return repo.store.read(lambda view: queue.known(view, number))


def _has_ended(repo: Repo, number: int) -> bool:
    return _row(repo, number).state not in LIVE


def result_of(repo: Repo, number: int) -> Result | None:
    """What a candidate has come to; None while it waits."""
    row = _row(repo, number)
    main = landing_ref(repo.layout).removeprefix("refs/heads/")
    footing = GitFooting(repo.layout, main)
    try:
        if row.state == LANDED:
            below = repo.store.read(lambda view: queue_look.below_of(view, row))
            files = footing.history.changed(below, row.commit)[0] if below else []
            tree, how = footing.history.tree_of(row.commit), _how(repo, row)
            notes = _made_anew(footing, row.commit) if how in (MERGE, LINEAR) else []
            return Landed(row.commit, tree, how, main=main, files=files, notes=notes)
    finally:
        footing.close()
    if row.state == SENT_BACK:
        told = _told(repo, row)
        return SentBack(row.reason, told["files"], _conflicts(repo, row) if row.kind == BY_CONFLICT else [])
    return NeedsYou(row.reason, _told(repo, row)["files"]) if row.state == STOPPED else None


def _made_anew(footing: GitFooting, commit: str) -> list[str]:
    """As the landing's own commit tells it."""
    message = footing.trees.read([commit])[commit].decode("utf-8", "replace")
    return [f"made anew: {words}" for words in made_in(message)]


def _how(repo: Repo, row: Candidate) -> str:
    return str(_told(repo, row)["how"])


def _told(repo: Repo, row: Candidate) -> dict[str, Any]:
    """What its last event says besides."""
    shown = repo.store.read(lambda view: queue.show(view, row.id))
    last = shown["history"][-1]
    return {"files": last.get("files", []), "how": last.get("how", ""), "output": last.get("output", "")}


def _conflicts(repo: Repo, row: Candidate) -> list[dict[str, Any]]:
    """The places where it does not fit, looked at once more: the log only keeps the files."""
    yard = GitYard(repo, lambda _: "")
    try:
        return yard.level(yard.main(), row, None).conflicts
    except Refusal:
        return []
    finally:
        yard.close()
