"""Review by a command: an agent of the repository's choice looks at each candidate as it would land, in a
check tree of its own, and says yes by ending with 0.

The command is main's, and runs only when a person trusts it.
"""

from __future__ import annotations

import os
import threading
from contextlib import closing

from lineclear.app.ports import Caller
from lineclear.app.queue import candidates as queue
from lineclear.app.queue.overview import is_unreviewed
from lineclear.app.queue.runner import News
from lineclear.core.queue import landing as words
from lineclear.core.queue.candidates import (
    BY_CONFLICT,
    BY_GONE,
    LIVE,
    SENT_BACK,
    WAITING,
    in_order,
    show_number,
)
from lineclear.core.queue.checks import Check
from lineclear.core.words.refusals import Refusal
from lineclear.git.snapshots.refs import diff
from lineclear.host.files import write_atomically
from lineclear.wiring.check_runner import LOGS, CheckRunner
from lineclear.wiring.check_trees import CheckTrees
from lineclear.wiring.queue_facts import task_of
from lineclear.wiring.queue_git import CloneQueueGit

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from lineclear.app.ports import Tx
    from lineclear.app.queue.stacking import Level
    from lineclear.core.log.tables import Candidate
    from lineclear.wiring.repo import Repo

REVIEWER, BY_AGENT = "reviewer", "agent"
_WHERE = "queue.reviewer"
# The author needs the end of it, not a book.
_MOST_NOTE = 2_000


def review_waiting(
    repo: Repo, caller: Caller, *, is_over: Callable[[], bool] = lambda: False,
    tell: Callable[[News], None] = lambda _: None,
) -> list[int]:  # fmt: skip
    """Every candidate that waits for a review gets it now, in landing order; gives those that were decided.
    What goes back is told, as the runner tells it. `is_over` calls the command off that is at work.

    Nothing happens unless the repository asks for review by an agent and names a command for it.
    """
    if repo.settings.queue_review != BY_AGENT:
        return []
    decided = []
    with closing(CloneQueueGit(repo)) as git:
        main = git.known_main()
        runner = CheckRunner(git.settings.repo_at(main)) if main else None
        if runner is None or not runner.repo.settings.queue_reviewer:
            return []
        for row in in_order(repo.store.read(queue.live)):
            if row.state != WAITING or not is_unreviewed(row, BY_AGENT):
                continue
            if is_over():
                break
            if _decide(repo, caller, runner, git, main, row, _Over(is_over)):
                decided.append(row.id)
                _pass_on(repo, row.id, tell)
    return decided


class _Over(threading.Event):
    """Set as soon as somebody says stop; asked again and again by who waits for it."""

    def __init__(self, is_over: Callable[[], bool]) -> None:
        super().__init__()
        self._is_over = is_over

    def is_set(self) -> bool:
        return self._is_over()


def has_unreviewed(repo: Repo) -> bool:
    """Is there a candidate that a command is to look at?"""
    if repo.settings.queue_review != BY_AGENT or not repo.settings.queue_reviewer:
        return False
    waiting = repo.store.read(queue.live)
    return any(row.state == WAITING and is_unreviewed(row, BY_AGENT) for row in waiting)


def _pass_on(repo: Repo, number: int, tell: Callable[[News], None]) -> None:
    row = repo.store.read(lambda view: queue.known(view, number))
    if row.state == SENT_BACK:
        tell(News(SENT_BACK, number, f"{row.branch}: {row.reason.partition(chr(10))[0]}"))


def _decide(
    repo: Repo, caller: Caller, runner: CheckRunner, git: CloneQueueGit, main: str, row: Candidate,
    cancel: threading.Event,
) -> bool:  # fmt: skip
    try:
        level = git.level(main, row, task_of(repo, row))
    except Refusal as refusal:
        return _send_back(repo, caller, row, BY_GONE, refusal.what)
    if not level.fits:
        why = words.tell_conflicts(git.branch, level.conflicts)
        files = sorted({conflict["path"] for conflict in level.conflicts})
        return _send_back(repo, caller, row, BY_CONFLICT, why, files)
    ended = _ask(repo, runner, main, row, level, cancel)
    if ended is None:
        return False
    is_good, note = ended
    reviewer = Caller(REVIEWER, tree=repo.tree)
    try:
        queue.review(repo.store, reviewer, row.id, is_good=is_good, note=note, tip=row.tip, by_agents=True)
    except Refusal as refusal:
        if refusal.code not in ("queue.changed", "queue.ended"):
            raise
        return False  # it changed or ended while it was looked at
    return True


def _ask(
    repo: Repo, runner: CheckRunner, main: str, row: Candidate, level: Level, cancel: threading.Event
) -> tuple[bool, str] | None:
    """(yes?, its last words); None when it was called off."""
    settings = runner.repo.settings
    check = Check(
        settings.queue_reviewer, timeout_ms=settings.checks_gate_timeout_ms, name="review", where=_WHERE
    )
    place = CheckTrees(repo, settings.queue_workers + 1).hold(cancel)
    if place is None:
        return None
    name = show_number(row.id)
    patch = os.path.join(repo.state_directory, LOGS, f"{name}.diff")
    os.makedirs(os.path.dirname(patch), mode=0o700, exist_ok=True)
    try:
        with place:
            text = diff(repo.layout.common_dir, main, level.commit, [])
            write_atomically(patch, text.encode("utf-8", "surrogateescape"))
            env = {"LINECLEAR_CANDIDATE": name, "LINECLEAR_DIFF": patch}
            ended = runner.run(level.commit, place, [check], cancel=cancel, env=env)
    finally:
        if os.path.exists(patch):
            os.unlink(patch)
    if not ended:
        return None
    last = ended[-1]
    note = last.tail if last.is_green or not last.is_set_up else last.words
    return last.is_green, (note.strip() or last.words.strip())[-_MOST_NOTE:]


def _send_back(
    repo: Repo, caller: Caller, row: Candidate, kind: str, why: str, files: Sequence[str] = ()
) -> bool:
    """Nobody is asked about what cannot land: its author gets it back at once."""

    def work(tx: Tx) -> bool:
        now = queue.known(tx, row.id)
        is_same = now.state in LIVE and now.tip == row.tip
        if is_same:
            queue.send_back(tx, now, kind, why, files=files)
        return is_same

    return repo.store.transact(caller, work)
