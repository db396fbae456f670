"""The phase `integrate`: merges the proposals for resources that are bound to it, one after the other.

The merge engine combines each proposal with main into a commit on its own branch, which becomes a candidate
of its own: a bad one blocks no other, and if two bring a migration with the same number, the queue renumbers
the later one. A proposal is accepted when its candidate has landed. Every step first checks whether it was
done before, so after a crash the whole phase is simply run again.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from lineclear.app.agents.membership import ensure_agent
from lineclear.app.proposals import ACCEPTED, OPEN, REJECTED, decide
from lineclear.app.queue.lock_making import made_of, notes_of, remake_beside
from lineclear.app.queue.merge_trees import merge_two_trees
from lineclear.app.queue.phases import candidate_of, frozen_proposals, phase_of
from lineclear.app.tasks import append_task
from lineclear.code.migrations import is_migration
from lineclear.core.claims.resources import resource_of
from lineclear.core.claims.strategies import strategy_for
from lineclear.core.json_text import parse_json
from lineclear.core.log.tables import CANDIDATE, PROPOSAL, TASK, TASK_DEP, split_names
from lineclear.core.queue import landing_results
from lineclear.core.queue.candidates import LANDED, LIVE, show_number
from lineclear.core.queue.phases import INTEGRATE, INTEGRATOR, branch_of, in_order
from lineclear.core.tasks.lists import TaskDraft
from lineclear.core.tasks.states import HANDED_OVER, give_back, show_id
from lineclear.core.values.file_changes import read_change
from lineclear.merge import Labels
from lineclear.merge.handlers.locks import command_for
from lineclear.merge.registry import has_handler

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any, Protocol

    from lineclear.app.ports import Caller, Store, Tx, View
    from lineclear.app.queue.lock_making import LockMaker
    from lineclear.app.queue.merge_trees import MergeRules, MergeTrees
    from lineclear.core.claims.strategies import Rule
    from lineclear.core.log.tables import Candidate, Proposal
    from lineclear.core.values.file_changes import FileChange

    class IntegrationGit(Protocol):
        """One clone's git, for commits that nobody has checked out."""

        @property
        def branch(self) -> str:
            """Main's name."""

        @property
        def trees(self) -> MergeTrees: ...

        def main(self) -> str: ...

        def tree_of(self, commit: str, /) -> str:
            """The commit's tree; "" if there is no such commit."""

        def mode_of(self, commit: str, path: str, /) -> str:
            """The mode of a file in the commit; a plain file's mode if it is not there."""

        def commit(self, tree: str, parents: Sequence[str], message: str, agent: str, /) -> str:
            """Commit in the agent's name; with "" in that of this clone's git user."""

        def point(self, branch: str, commit: str, /) -> None:
            """Make the branch, or move it, to this commit."""

    # (commit, path, command) -> the file as the command writes it; None if it may not or cannot run.
    Remake = Callable[[str, str, str], bytes | None]
    # (branch, agent, priority) -> the candidate, as the queue shows it.
    Submit = Callable[[str, str, int], dict[str, Any]]

QUEUED, LEFT = "queued", "left to its owner"
_ROUTES = re.compile(r"(?:.*/)?(?:routes?|router|routing|urls)(?:\.\w+)*(?:/.*)?")
_MOST_TOLD = 300


@dataclass(frozen=True, slots=True)
class IntegrationTools:
    """What integration needs from outside. `may`: would the queue let the integrator land a change of this
    path?"""

    store: Store
    caller: Caller
    rules: list[Rule]
    git: IntegrationGit
    merge_rules: MergeRules
    submit: Submit
    remake: Remake
    maker: LockMaker
    may: Callable[[str], bool]


def integrate(tools: IntegrationTools) -> list[dict[str, Any]]:
    """Integrate the open proposals of this phase; returns what became of each, in order. A second call only
    does what the first left."""
    settled = settle(tools.store, tools.caller)
    if tools.store.read(phase_of) != INTEGRATE:
        return settled
    rows = tools.store.read(lambda view: proposals_in_order(view, tools.rules))
    results = [_integrate_one(tools, row) for row in rows]
    _tell_owners(tools, [row for row, found in zip(rows, results, strict=True) if found["result"] == LEFT])
    return settled + results


def proposals_in_order(view: View, rules: list[Rule]) -> list[Proposal]:
    """The proposals of a task come after those of the tasks that it depends on; otherwise oldest first."""
    rows = {row.id: row for row in frozen_proposals(view, rules)}
    pairs = [(row.id, _task_in(row)) for row in rows.values()]
    return [rows[number] for number in in_order(pairs, lambda task: _needs(view, task))]


def _task_in(row: Proposal) -> int:
    change = read_change(parse_json(row.payload))
    return change.task if change is not None else 0


def _needs(view: View, task: int) -> set[int]:
    """All tasks that it depends on, directly or indirectly."""
    found: set[int] = set()
    left = [task]
    while left:
        more = [link.dep for link in view.pick(TASK_DEP, "key", left) if link.dep not in found]
        found.update(more)
        left = more
    return found


def is_built_in(path: str) -> bool:
    """Can the merge engine integrate this kind of file, such as a migration, lock file or route table?"""
    return bool(is_migration(path) or command_for(path) or has_handler(path) or _ROUTES.fullmatch(path))


# -- one proposal ---------------------------------------------------------------------------------


def _integrate_one(tools: IntegrationTools, row: Proposal) -> dict[str, Any]:
    waits = tools.store.read(lambda view: candidate_of(view, row.id))
    if waits is not None:
        return _result(row, QUEUED, candidate=waits.id)
    path, owner = resource_of(row.resource).path, strategy_for(resource_of(row.resource), tools.rules).owner
    change = read_change(parse_json(row.payload))
    if change is None or (owner and not is_built_in(path)):
        return _result(row, LEFT, owner=owner)
    main = tools.git.main()
    report, why = _merge(tools, row, path, change, main)
    if why and owner and command_for(path):
        return _result(row, LEFT, owner=owner)
    if why:
        return _conclude(tools, row, REJECTED, why)
    if report["tree"] == tools.git.tree_of(main):
        return _conclude(tools, row, ACCEPTED, f"{tools.git.branch} has it already")
    return _submit(tools, row, change, main, report)


def _merge(
    tools: IntegrationTools, row: Proposal, path: str, change: FileChange, main: str
) -> tuple[dict[str, Any], str]:
    """(the merge report of main with the proposal, why it does not fit or "")."""
    git = tools.git
    base = change.commit if git.tree_of(change.commit) else main
    content = change.text.encode() if change.text is not None else None
    entry = (git.mode_of(base, path), content)
    theirs = git.trees.write(git.tree_of(base), {path: entry})
    labels = Labels(git.branch, "base", f"proposal {row.id}")
    report = merge_two_trees(
        git.trees, git.tree_of(base), git.tree_of(main), theirs, labels, tools.merge_rules, tools.maker
    )
    if report["commands"] and command_for(path):
        made = tools.remake(main, path, command_for(path))
        if made is not None:
            tree = git.trees.write(git.tree_of(main), {path: (entry[0], made)})
            return report | {"tree": tree, "locks": []}, ""
    conflicts = landing_results.conflicts_of(report)
    if conflicts:
        return report, landing_results.tell_conflicts(git.branch, conflicts)
    remake_beside(git.trees, git.tree_of(main), path, report, tools.maker, tools.may)
    return report, ""


def _submit(
    tools: IntegrationTools, row: Proposal, change: FileChange, main: str, report: dict[str, Any]
) -> dict[str, Any]:
    branch = branch_of(row.id)
    words = landing_results.with_made(_message(row, change), made_of(report))
    tools.git.point(branch, tools.git.commit(report["tree"], [main], words, row.author))
    shown = tools.submit(branch, INTEGRATOR, 0)
    return _result(row, QUEUED, why="; ".join(notes_of(report))) | {"candidate": shown["candidate"]}


def _message(row: Proposal, change: FileChange) -> str:
    """A landing's message with the proposal as one more trailer."""
    name = f"proposal {row.id}: {row.resource.removeprefix('file:')}"
    words = landing_results.message(
        task="", title="", branch=name, agent=row.author, co_authors=(), verb="Integrate"
    )
    task = f"Task: {show_id(change.task)}\n" if change.task else ""
    return f"{words}{task}Proposal: {row.id}\n"


def _result(
    row: Proposal, result: str, *, candidate: int = 0, owner: str = "", why: str = ""
) -> dict[str, Any]:
    return {
        "proposal": row.id,
        "resource": row.resource,
        "author": row.author,
        "result": result,
        "candidate": show_number(candidate) if candidate else "",
        "owner": owner,
        "why": why,
    }


# -- the end of a proposal ------------------------------------------------------------------------


def settle(store: Store, caller: Caller) -> list[dict[str, Any]]:
    """Decide the proposals whose candidates have ended: accept what landed, reject the others."""

    def work(tx: Tx) -> list[dict[str, Any]]:
        ensure_agent(tx, caller)
        return [_decide(tx, caller, row, *_end_of(found)) for row, found in _ended(tx)]

    return store.transact(caller, work) if store.read(_ended) else []


def _ended(view: View) -> list[tuple[Proposal, Candidate]]:
    found = []
    for row in view.scan(PROPOSAL, "key"):
        if row.state == OPEN:
            newest = view.scan(CANDIDATE, "branch", (branch_of(row.id),), reverse=True, limit=1)
            found += [(row, candidate) for candidate in newest if candidate.state not in LIVE]
    return found


def _end_of(candidate: Candidate) -> tuple[str, str]:
    if candidate.state == LANDED:
        return ACCEPTED, f"it is on main as {candidate.commit[:12]}"
    return REJECTED, candidate.reason or f"its candidate was {candidate.state}"


def _conclude(tools: IntegrationTools, row: Proposal, state: str, why: str) -> dict[str, Any]:
    def work(tx: Tx) -> dict[str, Any]:
        ensure_agent(tx, tools.caller)
        now = tx.get(PROPOSAL, (row.id,))
        if now is None or now.state != OPEN:
            return _result(row, now.state if now is not None else state, why=why)
        return _decide(tx, tools.caller, now, state, why)

    return tools.store.transact(tools.caller, work)


def _decide(tx: Tx, caller: Caller, row: Proposal, state: str, why: str) -> dict[str, Any]:
    """Decide the proposal and tell its author. A handed-over task whose proposal is rejected goes back."""
    decide(tx, caller, row, state, why)
    task = tx.get(TASK, (_task_in(row),)) if state == REJECTED and _task_in(row) else None
    if task is not None and task.state == HANDED_OVER:
        tx.append(
            give_back(task, f"its proposal {row.id} for {row.resource} is rejected: {why}"[:_MOST_TOLD])
        )
    return _result(row, state, why=why)


# -- proposals that their owner must integrate ----------------------------------------------------


def _tell_owners(tools: IntegrationTools, rows: list[Proposal]) -> None:
    """Make one task for each owner, with the proposals that no earlier task lists."""
    owners: dict[str, list[Proposal]] = {}
    for row in rows:
        owner = strategy_for(resource_of(row.resource), tools.rules).owner
        if owner:
            owners.setdefault(owner, []).append(row)

    def work(tx: Tx) -> None:
        ensure_agent(tx, tools.caller)
        told = {label for task in tx.scan(TASK, "key") for label in split_names(task.labels)}
        for owner, theirs in owners.items():
            new = [row for row in theirs if _label(row) not in told]
            if new:
                append_task(tx, _owners_task(owner, new), [])

    if owners:
        tools.store.transact(tools.caller, work)


def _label(row: Proposal) -> str:
    return f"proposal-{row.id}"


def _owners_task(owner: str, rows: list[Proposal]) -> TaskDraft:
    lines = [
        f"- `lineclear proposal show {row.id}` (by {row.author}), then `lineclear proposal accept {row.id}` "
        f"or `lineclear proposal reject {row.id} --reason TEXT`"
        for row in rows
    ]
    count = "a proposal" if len(rows) == 1 else f"{len(rows)} proposals"
    body = "You own the files to change. Make the changes on your branch, then decide in this order:\n\n"
    return TaskDraft(
        "",
        f"Integrate {count} as the owner",
        body=body + "\n".join(lines),
        scope=list(dict.fromkeys(row.resource for row in rows)),
        labels=[_label(row) for row in rows],
        needs=[owner],
    )
