"""The next attempt of work that came back from the queue: what it starts from, and what it is told."""

from __future__ import annotations

from lineclear.app.queue.sending_back import brief_for
from lineclear.core.log.codec import event_of
from lineclear.core.log.tables import CANDIDATE, LOG
from lineclear.core.queue.candidates import BY_CHECK, BY_CONFLICT, BY_GATE, BY_REVIEW, SENT_BACK, show_number
from lineclear.core.queue.sending_back import render
from lineclear.core.words.refusals import Refusal
from lineclear.git.landing import commit_of
from lineclear.git.merging_state import unmerged_paths
from lineclear.git.touches import touches
from lineclear.wiring.strays import strays_of
from lineclear.wiring.sync import prepare_conflict, repair

TYPE_CHECKING = False
if TYPE_CHECKING:
    from lineclear.app.ports import Caller, View
    from lineclear.core.log.events import Event
    from lineclear.core.log.tables import Candidate, Task
    from lineclear.wiring.repo import Repo

_TOLD = (BY_CONFLICT, BY_CHECK, BY_REVIEW, BY_GATE)


def returned_candidate(repo: Repo, task: Task) -> Candidate | None:
    """What the last attempt handed over, if it came back and its commits are still there."""
    newest = repo.store.read(lambda view: view.scan(CANDIDATE, "task", (task.id,), reverse=True, limit=1))
    if not newest or newest[0].state != SENT_BACK or newest[0].kind not in _TOLD:
        return None
    row = newest[0]
    is_last = row.attempt == task.attempt - 1
    return row if is_last and commit_of(repo.layout.worktree, row.tip) else None


def bring_main(repo: Repo, caller: Caller, path: str, task: int) -> None:
    """Main merged into the fresh worktree, conflicts left open; the author is told where that cannot be."""
    try:
        prepare_conflict(repo, caller, path, task=task)
    except Refusal:
        pass


def end_sync(repo: Repo, caller: Caller, path: str) -> None:
    """What an agent that was killed amid a sync left half done there."""
    try:
        repair(repo, caller, path)
    except Refusal:
        pass


def tell(repo: Repo, task: Task, path: str) -> str:
    """ "" when nothing came back."""
    row = returned_candidate(repo, task)
    if row is None:
        return ""
    event = repo.store.read(lambda view: _sent_back(view, row))
    main_ref, main = strays_of(repo).main()
    files = list(event.body["files"])
    cwd = repo.layout.worktree
    theirs, own = (touches(cwd, *ends, files) for ends in ((main, row.tip), (row.tip, main)))
    brief = repo.store.read(
        lambda view: brief_for(
            view,
            row.kind,
            task,
            branch=row.branch,
            main=main_ref.removeprefix("refs/heads/"),
            why=row.reason,
            files=files,
            touches=theirs,
            own=own,
            output=event.body["output"],
            is_prepared=bool(unmerged_paths(path)),
        )
    )
    return render(brief)


def _sent_back(view: View, row: Candidate) -> Event:
    entries = view.scan(LOG, "subject", (show_number(row.id),), reverse=True)
    return next(event_of(entry) for entry in entries if entry.kind == "CandidateSentBack")
