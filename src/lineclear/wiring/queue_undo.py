"""Taking a landing back: a commit on main without what it brought, on a branch that is submitted like any
other. History is never rewritten, and what landed since stays.
"""

from __future__ import annotations

from lineclear.app.queue import candidates as queue
from lineclear.app.queue import overview
from lineclear.app.queue.lock_making import made_of
from lineclear.core.log.tables import CANDIDATE, TASK
from lineclear.core.queue.candidates import LANDED, LIVE, show_number
from lineclear.core.queue.landing import conflicts_of, undo_message, with_made
from lineclear.core.tasks.states import show_id
from lineclear.core.words.queue import undo_conflicts
from lineclear.core.words.refusals import not_found, refuse
from lineclear.git.landing import CloneGit, commit_of
from lineclear.git.run import git
from lineclear.wiring.lock_making import by_settings
from lineclear.wiring.merging import merge_tree
from lineclear.wiring.queue_facts import main_commit, main_name
from lineclear.wiring.sides import End, add_sides

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from lineclear.app.ports import Caller, View
    from lineclear.core.log.tables import Candidate
    from lineclear.core.queue.landing import Author
    from lineclear.wiring.repo import Repo

BRANCH = "lineclear/undo-"


def revert(
    repo: Repo, commit: str, words: str, author: Author | None = None, *, below: str = ""
) -> str | list[dict[str, Any]]:
    """A commit on main without what `commit` brought in, or where that does not fit what came since, and
    whose that is.

    `below` is what the commit was put on, its first parent unless it is said. Nothing moves. "" when main
    holds nothing of it any more. Lock files are made anew where main's settings allow it.
    """
    cwd, main = repo.layout.worktree, main_commit(repo)
    below = below or commit_of(cwd, f"{commit}^1")
    if not below:
        raise not_found("commit", f"{commit[:12]}^1", "git log")
    report = merge_tree(cwd, commit, main, below, by_settings(repo, lambda: main))
    conflicts = conflicts_of(report)
    if conflicts:
        return add_sides(cwd, repo.store, conflicts, End(main), End(commit))
    clone = CloneGit(repo.layout, main_name(repo))
    try:
        if report["tree"] == clone.history.tree_of(main):
            return ""
        return clone.commit(report["tree"], [main], with_made(words, made_of(report)), author)
    finally:
        clone.close()


def prepare(repo: Repo, caller: Caller, number: int = 0) -> dict[str, Any]:
    """The branch that takes a candidate's landing back, made and not yet submitted.

    Without a number: one's own last landing that was not taken back yet; a person's is anybody's.
    """
    row, below, title = repo.store.read(lambda view: _landing(view, caller, number))
    name = show_number(row.id)
    words = undo_message(
        name,
        title or row.branch,
        commit=row.commit,
        task=show_id(row.task) if row.task else "",
        agent="" if caller.is_person else caller.name,
    )
    made = revert(repo, row.commit, words, below=below)
    if isinstance(made, list):
        raise undo_conflicts(name, made)
    if not made:
        raise refuse("queue.undone", candidate=name, by="")
    branch = _free_branch(repo, name)
    git(["update-ref", f"refs/heads/{branch}", made, "0" * len(made)], repo.layout.worktree)
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


def _free_branch(repo: Repo, name: str) -> str:
    """Whatever an earlier try left behind stays: somebody may have gone on working there."""
    branch, count = f"{BRANCH}{name}", 1
    while commit_of(repo.layout.worktree, f"refs/heads/{branch}"):
        count += 1
        branch = f"{BRANCH}{name}-{count}"
    return branch
