"""Taking a landing back: a commit on main without what it brought, on a branch that is submitted like any
other. History is never rewritten, and what landed since stays.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from lineclear.app.queue import candidates as queue
from lineclear.app.queue import overview
from lineclear.app.queue.lock_making import made_of
from lineclear.core.log.tables import CANDIDATE, TASK
from lineclear.core.queue.candidates import LANDED, LIVE, show_number
from lineclear.core.queue.landing_results import conflicts_of, undo_message, with_made
from lineclear.core.tasks.states import show_id
from lineclear.core.words.computed.queue import undo_conflicts
from lineclear.core.words.refusals import not_found, refuse

if TYPE_CHECKING:
    from typing import Any

    from lineclear.app.ports import Caller, Store, View
    from lineclear.core.log.tables import Candidate
    from lineclear.core.queue.landing_results import Author

BRANCH = "lineclear/undo-"


class UndoGit(Protocol):
    """One clone's git. Nothing moves but a branch that `new_branch` makes."""

    def main(self) -> str:
        """Main's commit as it is known here; "" where there is none."""

    def parent_of(self, commit: str, /) -> str:
        """The first one; "" for the first commit of all."""

    def merge(self, base: str, left: str, right: str, /) -> dict[str, Any]:
        """The report of a three-way merge. Lock files are made again where main's settings allow it."""

    def add_sides(self, conflicts: list[dict[str, Any]], left: str, right: str, /) -> list[dict[str, Any]]:
        """The conflicts, with who stands behind each side."""

    def commit_on(self, main: str, tree: str, message: str, author: Author | None, /) -> str:
        """A commit with this tree on main; "" when that is main's own tree."""

    def new_branch(self, name: str, commit: str, /) -> str:
        """A new branch at the commit, under this name or the next one that is free."""


def revert(
    git: UndoGit, commit: str, words: str, author: Author | None = None, *, below: str = ""
) -> str | list[dict[str, Any]]:
    """A commit on main without what `commit` brought in, or where that does not fit what came since, and
    whose that is.

    `below` is what the commit was put on, its first parent unless it is said. Nothing moves. "" when main
    holds nothing of it any more.
    """
    main = git.main()
    below = below or git.parent_of(commit)
    if not below:
        raise not_found("commit", f"{commit[:12]}^1", "git log")
    report = git.merge(commit, main, below)
    conflicts = conflicts_of(report)
    if conflicts:
        return git.add_sides(conflicts, main, commit)
    return git.commit_on(main, report["tree"], with_made(words, made_of(report)), author)


def prepare(store: Store, git: UndoGit, caller: Caller, number: int = 0) -> dict[str, Any]:
    """The branch that takes a candidate's landing back, made and not yet submitted.

    Without a number: one's own last landing that was not taken back yet; a person's is anybody's.
    """
    row, below, title = store.read(lambda view: _landing(view, caller, number))
    name = show_number(row.id)
    words = undo_message(
        name,
        title or row.branch,
        commit=row.commit,
        task=show_id(row.task) if row.task else "",
        agent="" if caller.is_person else caller.name,
    )
    made = revert(git, row.commit, words, below=below)
    if isinstance(made, list):
        raise undo_conflicts(name, made)
    if not made:
        raise refuse("queue.undone", candidate=name, by="")
    branch = git.new_branch(f"{BRANCH}{name}", made)
    return {"undoes": name, "branch": branch, "commit": made, "title": title, "of": row.branch}


def _landing(view: View, caller: Caller, number: int) -> tuple[Candidate, str, str]:
    """(the candidate, what it was put on, the title of its task)."""
    row = _named(view, caller, number) if number else _newest(view, caller)
    below = overview.below_of(view, row)
    if not below:
        raise refuse(
            "queue.not_landed", candidate=show_number(row.id), state="on main without a landing by lineclear"
        )
    task = view.get(TASK, (row.task,)) if row.task else None
    return row, below, task.title if task is not None else ""


def _named(view: View, caller: Caller, number: int) -> Candidate:
    row = queue.known(view, number)
    if row.state != LANDED:
        raise refuse("queue.not_landed", candidate=show_number(number), state=row.state)
    if not caller.is_person and row.agent != caller.name:
        raise refuse("person.only", what="undo another's landing", agent=caller.name)
    undone = _undone(view)
    if number in undone:
        raise refuse("queue.undone", candidate=show_number(number), by=show_number(undone[number]))
    return row


def _newest(view: View, caller: Caller) -> Candidate:
    undone = _undone(view)
    own = [row.id for row in view.scan(CANDIDATE, "key") if row.branch.startswith(BRANCH)]
    agent = "" if caller.is_person else caller.name
    empty = [row.id for row in view.scan(CANDIDATE, "state", (LANDED,)) if not overview.below_of(view, row)]
    row = overview.last_landed(view, agent, [*undone, *own, *empty])
    if row is None:
        raise refuse("queue.nothing_to_undo", agent=caller.name)
    return row


def _undone(view: View) -> dict[int, int]:
    """Candidate -> the one that takes it back, for those that wait and those that have landed."""
    rows = [row for row in view.scan(CANDIDATE, "key") if row.state in (*LIVE, LANDED)]
    return {undoes(row.branch): row.id for row in rows if undoes(row.branch)}


def undoes(branch: str) -> int:
    """The candidate that a branch of ours takes back; 0 for every other branch."""
    word = branch.removeprefix(f"{BRANCH}Q-").partition("-")[0] if branch.startswith(f"{BRANCH}Q-") else ""
    return int(word) if word.isascii() and word.isdigit() else 0
