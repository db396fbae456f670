"""Work that the queue sent back: where its next attempt starts, and what its author should
know."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from lineclear.app.queue.conflict_sides import hands, known_owners, owner_from
from lineclear.core.log.codec import event_of
from lineclear.core.log.tables import CANDIDATE, LOG
from lineclear.core.queue.candidates import BY_CHECK, BY_CONFLICT, BY_GATE, BY_REVIEW, SENT_BACK, show_number
from lineclear.core.queue.return_letter import Brief, render, symbols_of
from lineclear.core.tasks.states import show_id
from lineclear.core.words.refusals import Refusal

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from lineclear.app.ports import Caller, Store, View
    from lineclear.app.worktrees.worktree_sync import WorktreeSync
    from lineclear.core.log.events import Event
    from lineclear.core.log.tables import Candidate, Task
    from lineclear.core.queue.conflict_sides import Touch

_KINDS = (BY_CONFLICT, BY_CHECK, BY_REVIEW, BY_GATE)


class ReturnedGit(Protocol):
    """What git knows about a branch that came back."""

    def has(self, commit: str, /) -> bool: ...

    def main(self) -> tuple[str, str]:
        """(name, commit) of the branch that work lands on."""

    def touches(self, tip: str, other: str, paths: Sequence[str], /) -> list[Touch]:
        """The commits of `tip` since the merge base that touch these paths."""

    def is_open(self, path: str, /) -> bool:
        """Does the worktree have a merge with unresolved conflicts?"""


class ReturnedWork:
    """`sync_at` gives the sync of the worktree at a path, in a caller's name."""

    def __init__(
        self, store: Store, git: ReturnedGit, sync_at: Callable[[Caller, str], WorktreeSync]
    ) -> None:
        self._store, self._git, self._sync_at = store, git, sync_at

    def candidate(self, task: Task) -> Candidate | None:
        """The candidate of the last attempt, if it was sent back and its commits still exist."""
        newest = self._store.read(
            lambda view: view.scan(CANDIDATE, "task", (task.id,), reverse=True, limit=1)
        )
        if not newest or newest[0].state != SENT_BACK or newest[0].kind not in _KINDS:
            return None
        row = newest[0]
        return row if row.attempt == task.attempt - 1 and self._git.has(row.tip) else None

    def bring_main(self, caller: Caller, path: str, task: int) -> None:
        """Merge main into the fresh worktree at `path`, and leave conflicts open."""
        try:
            self._sync_at(caller, path).prepare_conflict(task=task)
        except Refusal:
            pass  # what the author reads says that the merge is not prepared

    def end_sync(self, caller: Caller, path: str) -> None:
        """Repair what an agent that was killed during a sync left half done there."""
        try:
            self._sync_at(caller, path).repair()
        except Refusal:
            pass  # the next sync there repairs it, or says why it cannot

    def tell(self, task: Task, path: str) -> str:
        """Why the work came back, for the author in the worktree at this path; "" if it did not."""
        row = self.candidate(task)
        if row is None:
            return ""
        event = self._store.read(lambda view: _sent_back(view, row))
        files = list(event.body["files"])
        main, commit = self._git.main()
        theirs, own = self._git.touches(commit, row.tip, files), self._git.touches(row.tip, commit, files)
        brief = self._store.read(
            lambda view: brief_for(
                view,
                row.kind,
                task,
                branch=row.branch,
                main=main,
                why=row.reason,
                files=files,
                touches=theirs,
                own=own,
                output=event.body["output"],
                is_prepared=self._git.is_open(path),
            )
        )
        return render(brief)


def _sent_back(view: View, row: Candidate) -> Event:
    entries = view.scan(LOG, "subject", (show_number(row.id),), reverse=True)
    return next(event_of(entry) for entry in entries if entry.kind == "CandidateSentBack")


def brief_for(
    view: View, kind: str, task: Task, *, branch: str, main: str, why: str, files: Sequence[str] = (),
    conflicts: Sequence[dict[str, Any]] = (), touches: Sequence[Touch] = (), own: Sequence[Touch] = (),
    command: str = "", output: str = "", is_prepared: bool = False,
) -> Brief:  # fmt: skip
    """`conflicts` as in a merge report; `touches` are main's commits since the merge base, `own` those of the
    branch, which may be another agent's."""
    known = known_owners(view, (*touches, *own))
    paths = [*files, *(conflict["path"] for conflict in conflicts if conflict["path"])]
    return Brief(
        kind,
        task=show_id(task.id),
        branch=branch,
        main=main,
        why=why,
        files=list(dict.fromkeys(paths)),
        symbols=symbols_of(conflicts),
        others=[hand for hand in hands(view, touches, known) if hand.task != show_id(task.id)],
        own=hands(view, own, known, owner_from(task.id, "")),
        command=command,
        output=output,
        is_prepared=is_prepared,
    )
