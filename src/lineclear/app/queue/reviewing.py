"""Review by a command: a command of the repository's choice looks at each candidate as it would land, in a
check tree, and approves it by exiting with 0.

The command comes from main's settings and runs only if a person trusts it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lineclear.app.ports import Caller
from lineclear.app.queue import candidates as queue
from lineclear.app.queue.overview import is_unreviewed
from lineclear.app.queue.runner import QueueNews
from lineclear.app.queue.sending_back import send_back
from lineclear.core.log.tables import TASK
from lineclear.core.queue import landing_results as words
from lineclear.core.queue.candidates import BY_CONFLICT, BY_GONE, LIVE, SENT_BACK, WAITING
from lineclear.core.words.refusals import Refusal

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from lineclear.app.ports import Store, Tx
    from lineclear.app.queue.ports import LandingGit, QueueTools, Reviewer
    from lineclear.core.log.tables import Candidate

REVIEWER, BY_AGENT = "reviewer", "agent"


def review_waiting(
    store: Store, tools: QueueTools, caller: Caller, *, review: str, tree: str, is_over: Callable[[], bool],
    tell: Callable[[QueueNews], None],
) -> list[int]:  # fmt: skip
    """Review every candidate that waits for it, in landing order; returns those that were decided. `tell`
    gets news of each that was sent back. `is_over` cancels the running command.

    Does nothing unless the repository asks for review by an agent and main's settings name a command.
    """
    if review != BY_AGENT:
        return []
    decided: list[int] = []
    main = tools.git.known_main()
    reviewer = tools.reviewer(main) if main else None
    if reviewer is None:
        return []
    for row in store.read(queue.in_line):
        if row.state != WAITING or not is_unreviewed(row, BY_AGENT):
            continue
        if is_over():
            break
        if _decide(store, caller, reviewer, tools.git, main, row, tree, is_over):
            decided.append(row.id)
            now = store.read(lambda view, number=row.id: queue.known(view, number))  # type: ignore[misc]
            if now.state == SENT_BACK:
                tell(QueueNews(SENT_BACK, now.id, f"{now.branch}: {now.reason.partition(chr(10))[0]}"))
    return decided


def has_unreviewed(store: Store, review: str) -> bool:
    """Does a candidate wait for the review command?"""
    if review != BY_AGENT:
        return False
    waiting = store.read(queue.live)
    return any(row.state == WAITING and is_unreviewed(row, BY_AGENT) for row in waiting)


def _decide(
    store: Store, caller: Caller, reviewer: Reviewer, git: LandingGit, main: str, row: Candidate, tree: str,
    is_over: Callable[[], bool],
) -> bool:  # fmt: skip
    """Review one candidate, or send it back if it cannot land anyway. False if it was not decided."""
    task = store.read(lambda view: view.get(TASK, (row.task,))) if row.task else None
    try:
        level = git.level(main, row, task)
    except Refusal as refusal:
        return _send_back(store, caller, row, BY_GONE, refusal.what)
    if not level.fits:
        why = words.tell_conflicts(git.branch, level.conflicts)
        files = sorted({conflict["path"] for conflict in level.conflicts})
        return _send_back(store, caller, row, BY_CONFLICT, why, files)
    answer = reviewer.review(row, main, level, is_over)
    if answer is None:
        return False
    is_good, note = answer
    by = Caller(REVIEWER, tree=tree)
    try:
        queue.review(store, by, row.id, is_good=is_good, note=note, tip=row.tip, by_agents=True)
    except Refusal as refusal:
        if refusal.code not in ("queue.changed", "queue.ended"):
            raise
        return False  # it changed or ended during the review
    return True


def _send_back(
    store: Store, caller: Caller, row: Candidate, kind: str, why: str, files: Sequence[str] = ()
) -> bool:
    def work(tx: Tx) -> bool:
        now = queue.known(tx, row.id)
        is_same = now.state in LIVE and now.tip == row.tip
        if is_same:
            send_back(tx, now, kind, why, files=files)
        return is_same

    return store.transact(caller, work)
