"""Undo a landing: a commit on top of main that reverts it, on a branch that is submitted like any other.
History is never rewritten, and later landings stay.
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
    """One clone's git. Only `new_branch` changes a branch."""

    def main(self) -> str:
        """Main's commit as known here; "" if there is none."""

    def parent_of(self, commit: str, /) -> str:
        """The first parent; "" for a root commit."""

    def merge(self, base: str, left: str, right: str, /) -> dict[str, Any]:
        """The report of a three-way merge. Lock files are regenerated where main's settings allow it."""

    def add_sides(self, conflicts: list[dict[str, Any]], left: str, right: str, /) -> list[dict[str, Any]]:
        """The conflicts, with the authors of each side."""

    def commit_on(self, main: str, tree: str, message: str, author: Author | None, /) -> str:
        """A commit with this tree on top of main; "" if main has the same tree."""

    def new_branch(self, name: str, commit: str, /) -> str:
        """Make a branch at the commit, under this name or the next free one; returns its name."""


def revert(
    git: UndoGit, commit: str, words: str, author: Author | None = None, *, below: str = ""
) -> str | list[dict[str, Any]]:
    """A commit on top of main that reverts `commit`, or the conflicts with later work and whose it is; "" if
    main contains nothing of it any more. No branch moves.

    `below`: the commit before it on main; its first parent by default.
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
    """Make the branch that undoes a candidate's landing; the caller submits it.

    Without a number: the agent's own last landing that was not undone yet; for a person, anybody's.
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
    """(the candidate, the commit it landed on, the title of its task)."""
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
    """candidate -> the live or landed candidate that undoes it."""
    rows = [row for row in view.scan(CANDIDATE, "key") if row.state in (*LIVE, LANDED)]
    return {undoes(row.branch): row.id for row in rows if undoes(row.branch)}


def undoes(branch: str) -> int:
    """The candidate that an undo branch of ours reverts; 0 for every other branch."""
    word = branch.removeprefix(f"{BRANCH}Q-").partition("-")[0] if branch.startswith(f"{BRANCH}Q-") else ""
    return int(word) if word.isascii() and word.isdigit() else 0
