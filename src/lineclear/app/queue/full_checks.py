"""The phase `test`: all tests on main, in parts at once; and when they fail, which landing broke them.

That one is found by halving over main's own line since the last full run that passed, with the first part
that failed. It is taken back by a candidate of its own, and its work comes back as a task. What passed is
remembered under its tree, so a run that was killed is simply run again.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from lineclear.app.agents.membership import ensure_agent
from lineclear.app.queue import candidates as queue
from lineclear.app.queue.merge_trees import merge_two_trees
from lineclear.app.queue.phases import NAME
from lineclear.app.tasks import append_task
from lineclear.core.log.events import Draft
from lineclear.core.log.tables import PROPOSAL, TASK, VERDICT, split_names
from lineclear.core.queue import landing_results
from lineclear.core.queue.candidates import show_number
from lineclear.core.queue.checks import verdict_key
from lineclear.core.queue.phases import proposal_on, revert_branch
from lineclear.core.queue.stack import Search
from lineclear.core.tasks.lists import MAX_TITLE_CHARS, TaskDraft
from lineclear.core.tasks.states import DEFAULT_PRIORITY, show_id
from lineclear.core.words.computed.queue import full_check_unsettled
from lineclear.merge import Labels

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any, Protocol

    from lineclear.app.ports import Caller, Store, Tx, View
    from lineclear.app.queue.integrating import IntegrationGit, Submit
    from lineclear.app.queue.merge_trees import MergeRules
    from lineclear.app.queue.ports import EndedCheck
    from lineclear.core.log.tables import Candidate

    class FullCheckGit(IntegrationGit, Protocol):
        def parent_of(self, commit: str, /) -> str:
            """The first one; "" for the first commit of all."""

        def subject_of(self, commit: str, /) -> str: ...

    class FullCheck(Protocol):
        """Runs parts of the full check, each in a place of its own."""

        @property
        def parts(self) -> int: ...

        def require_trust(self) -> None:
            """Refuse a command that no person trusts."""

        def name(self, part: int, /) -> str:
            """The part's command, as it is kept and shown."""

        def key(self, tree: str, part: int, /) -> str:
            """What a verdict is kept under."""

        def run(
            self, commit: str, tree: str, parts: Sequence[int], done: Callable[[int, EndedCheck], None], /
        ) -> None:
            """All of these at once; `done` is called as each ends. A part that was called off is not told."""


GREEN, RED, REVERTING, NEEDS_YOU = "green", "red", "reverting", "needs you"
# So far back a culprit is looked for when no full run is known to have passed.
MOST_BACK = 128
MOST_LANDED = 1_000
FIRST = 1
_MOST_OUTPUT = 6_000


@dataclass(frozen=True, slots=True)
class FullRun:
    """Everything that a full run needs. `tell` hears of each part that ends, in words."""

    store: Store
    caller: Caller
    git: FullCheckGit
    check: FullCheck
    merge_rules: MergeRules
    submit: Submit
    tell: Callable[[str], None]


def run_all(run: FullRun) -> dict[str, Any]:
    """`result`: green, red (with the culprit), reverting (what takes it back has not landed), needs you."""
    main = run.git.main()
    waits = run.store.read(_revert_under_way)
    if waits is not None:
        return _answer(REVERTING, main, revert=show_number(waits.id))
    failed = _run_parts(run, main)
    if not failed:
        _remember_all(run, main)
        return _answer(GREEN, main)
    part = min(failed)
    chain = _chain(run, main, part)
    place = _find(run, chain, part)
    if place == 0:
        why = f"{run.check.name(part)} fails on {chain[0][:12]} too, the oldest state that was checked"
        return _answer(NEEDS_YOU, main, part=part, why=why, output=failed[part].words)
    return _take_back(run, main, chain[place], part, failed[part].words)


def progress(view: View, check: FullCheck, tree: str) -> dict[str, int]:
    """How many parts have passed on this tree, of how many."""
    done = [part for part in _all(check) if view.get(VERDICT, (check.key(tree, part),)) is not None]
    return {"done": len(done), "parts": check.parts}


def _all(check: FullCheck) -> range:
    return range(FIRST, FIRST + check.parts)


def _answer(result: str, main: str, **facts: Any) -> dict[str, Any]:
    empty = {"part": 0, "why": "", "culprit": "", "agent": "", "task": "", "proposal": 0, "revert": "",
             "follow_up": "", "output": ""}  # fmt: skip
    return {"result": result, "main": main, **empty, **facts}


def _revert_under_way(view: View) -> Candidate | None:
    return next((row for row in queue.live(view) if row.branch.startswith(revert_branch(""))), None)


# -- running --------------------------------------------------------------------------------------


def _run_parts(run: FullRun, commit: str, parts: Sequence[int] = ()) -> dict[int, EndedCheck]:
    """The parts that failed on a commit; what passed on its tree before is not run again."""
    check, tree = run.check, run.git.tree_of(commit)
    wanted = parts or _all(check)
    unknown = [part for part in wanted if not _has_passed(run, check.key(tree, part))]
    ended: dict[int, EndedCheck] = {}

    def done(part: int, found: EndedCheck) -> None:
        ended[part] = found
        _remember(run, check.key(tree, part), tree, check.name(part), found)
        run.tell(f"{check.name(part)} {'passed' if found.is_green else 'failed'} on {commit[:12]}")

    if unknown:
        check.run(commit, tree, unknown, done)
    if len(ended) < len(unknown):
        raise full_check_unsettled(commit, "a part was cancelled")
    return {part: found for part, found in ended.items() if not found.is_green}


def _has_passed(run: FullRun, key: str) -> bool:
    return run.store.read(lambda view: view.get(VERDICT, (key,)) is not None)


def _remember(run: FullRun, key: str, tree: str, name: str, ended: EndedCheck | None) -> None:
    def work(tx: Tx) -> None:
        ensure_agent(tx, run.caller)
        tx.append(
            Draft(
                "CheckEnded",
                NAME,
                key=key,
                tree=tree,
                command=name,
                green=ended is None or ended.is_green,
                flaky=ended is not None and ended.is_flaky,
                took_ms=ended.took_ms if ended is not None else 0,
                ids=[],
            )
        )

    run.store.transact(run.caller, work)


def _whole_key(commit: str) -> str:
    return verdict_key(commit, "all tests", "")


def _remember_all(run: FullRun, main: str) -> None:
    """That all parts passed on this very commit: from here a later failure is looked for."""
    if not _has_passed(run, _whole_key(main)):
        _remember(run, _whole_key(main), run.git.tree_of(main), "all tests", None)


# -- the culprit ----------------------------------------------------------------------------------


def _chain(run: FullRun, main: str, part: int) -> list[str]:
    """Main's own line, oldest first, from the last commit on which all passed. Where none is known, one that
    passes is looked for in growing steps back: the oldest states may not even have the tests."""
    found = [main]
    while len(found) <= MOST_BACK:
        parent = run.git.parent_of(found[-1])
        if not parent:
            break
        found.append(parent)
        if _has_passed(run, _whole_key(parent)):
            return found[::-1]
    back = 1
    while back < len(found) - 1 and _run_parts(run, found[back], [part]):
        back += max(1, back // 2)
    return found[back::-1] if back < len(found) else found[::-1]


def _find(run: FullRun, chain: list[str], part: int) -> int:
    """The place in the chain that fails while the one before passes; 0 when the first one fails already."""
    search = Search(len(chain) - 1)
    while search.answer < 0:
        point = search.next_point
        if _run_parts(run, chain[point], [part]):
            search.failed(point)
        else:
            search.passed(point)
    return search.answer


def _take_back(run: FullRun, main: str, culprit: str, part: int, output: str) -> dict[str, Any]:
    row = run.store.read(lambda view: queue.landed_as(view, culprit, MOST_LANDED))
    facts = {"part": part, "culprit": culprit, "output": output}
    if row is None:
        why = f"{culprit[:12]} broke it, which a person put on {run.git.branch}"
        return _answer(NEEDS_YOU, main, **facts, why=why)
    facts |= run.store.read(lambda view: _whose(view, row))
    facts["follow_up"] = _ask_again(run, row, culprit, facts)
    tree, why = _reverted(run, main, culprit)
    if why:
        return _answer(NEEDS_YOU, main, **facts, why=why)
    branch = revert_branch(culprit)
    words = landing_results.message(
        task="", title="", branch=run.git.subject_of(culprit), agent="", co_authors=(), verb="Revert"
    )
    commit = run.git.commit(tree, [main], f"{words}\nIt broke the tests; this reverts {culprit}.\n", "")
    run.git.point(branch, commit)
    shown = run.submit(branch, "", FIRST)
    return _answer(RED, main, **facts, revert=shown["candidate"])


def _reverted(run: FullRun, main: str, culprit: str) -> tuple[str, str]:
    """(main's tree without what the culprit brought, why that cannot be had)."""
    git = run.git
    ids = [git.tree_of(commit) for commit in (culprit, main, git.parent_of(culprit))]
    labels = Labels(git.branch, culprit[:12], f"before {culprit[:12]}")
    report = merge_two_trees(git.trees, ids[0], ids[1], ids[2], labels, run.merge_rules)
    conflicts = landing_results.conflicts_of(report)
    if not conflicts:
        return report["tree"], ""
    places = "; ".join(
        landing_results.tell_conflict(conflict) for conflict in conflicts[: landing_results.MOST_TOLD]
    )
    return "", f"{culprit[:12]} broke it and cannot be reverted because later work builds on it: {places}"


def _whose(view: View, row: Candidate) -> dict[str, Any]:
    """Who gets it back: of an integrated proposal its author, else the candidate's agent."""
    proposal = view.get(PROPOSAL, (proposal_on(row.branch),)) if proposal_on(row.branch) else None
    return {
        "agent": proposal.author if proposal is not None else row.agent,
        "proposal": proposal.id if proposal is not None else 0,
        "task": show_id(row.task) if row.task else "",
    }


def _ask_again(run: FullRun, row: Candidate, culprit: str, facts: dict[str, Any]) -> str:
    """A task with what is known, once for each culprit. One that is merged has had its one end, so it is a
    new one; its author gets a message."""
    label = revert_branch(culprit).rpartition("/")[2]

    def work(tx: Tx) -> str:
        ensure_agent(tx, run.caller)
        for task in tx.scan(TASK, "key", reverse=True):
            if label in split_names(task.labels):
                return show_id(task.id)
        made = append_task(tx, _follow_up(tx, row, label, facts), [])
        if facts["agent"]:
            text = f"{row.branch} broke the tests and is being reverted; {show_id(made.id)} has the details."
            audience = f"agent:{facts['agent']}"
            tx.append(Draft("MessageSent", audience, audience=audience, urgent=1, text=text))
        return show_id(made.id)

    return run.store.transact(run.caller, work)


def _follow_up(view: View, row: Candidate, label: str, facts: dict[str, Any]) -> TaskDraft:
    old = view.get(TASK, (row.task,)) if row.task else None
    proposal = view.get(PROPOSAL, (facts["proposal"],)) if facts["proposal"] else None
    what = old.title if old is not None else proposal.resource if proposal is not None else row.branch
    where = [f"It landed as {show_number(row.id)} ({row.branch}, by {facts['agent'] or 'a person'})."]
    if old is not None:
        where.append(f"Its task: `lineclear task show {show_id(old.id)}`.")
    if proposal is not None:
        where.append(f"Its proposal: `lineclear proposal show {proposal.id}`; fix it and propose it again.")
    body = "With this work on main the tests fail, so it is being reverted. Fix it and land it again.\n\n"
    return TaskDraft(
        "",
        f"Again: {landing_results.one_line(what)}"[:MAX_TITLE_CHARS],
        body=body + "\n".join(where) + "\n\n" + facts["output"][:_MOST_OUTPUT],
        priority=old.priority if old is not None else DEFAULT_PRIORITY,
        scope=split_names(old.scope) if old is not None else [],
        labels=[label],
    )
