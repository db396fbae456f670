"""A dry run of landing: does the branch merge into main, may its author change these files, and on request,
do the repository's checks pass on the merged tree? Nothing moves and no task changes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lineclear.app.queue import candidates
from lineclear.app.worktrees.rows import agent_on
from lineclear.core.log.tables import TASK, Candidate
from lineclear.core.queue import landing_results as words
from lineclear.core.queue.candidates import WAITING
from lineclear.core.queue.commit_gate import why_not
from lineclear.core.queue.landing_results import NOTHING, Landed, SentBack
from lineclear.core.tasks.states import DEFAULT_PRIORITY

if TYPE_CHECKING:
    from typing import Any

    from lineclear.app.ports import Caller, Store
    from lineclear.app.queue.ports import LandingGit, QueueTools
    from lineclear.core.log.tables import Task

_JOB, _WAIT_S = 1, 1.0


class BranchCheck:
    """`result`: how landing would end. `findings`: the reasons against it, each with `path`, `kind` and
    `text`. `checks`: those that ran now, or had passed on the same tree before. `is_forbidden`: the author
    may not change some of the files."""

    def __init__(self, result: Landed | SentBack, main: str, *, is_forbidden: bool = False) -> None:
        self.result, self.main, self.is_forbidden = result, main, is_forbidden
        self.findings: list[dict[str, Any]] = []
        self.checks: list[dict[str, Any]] = []
        self.output = ""
        if isinstance(result, SentBack):
            self.findings = [{**found, "text": words.tell_conflict(found)} for found in result.conflicts]

    @property
    def is_good(self) -> bool:
        return not self.findings


def check_branch(
    store: Store, tools: QueueTools, caller: Caller, *, branch: str, task: int, agent: str, runs_checks: bool
) -> BranchCheck:
    """Try a landing. Refuses a branch that cannot land at all, as landing does."""
    git = tools.git
    main, tip = git.ends_of(branch)
    owner, named = store.read(
        lambda view: (agent_on(view, branch), view.get(TASK, (task,)) if task else None)
    )
    row = _unsubmitted(branch, tip, main, task=task, agent=agent or owner)
    checked = _forbidden(git, row, main) or BranchCheck(_merged(git, row, named, main), git.branch)
    if runs_checks and isinstance(checked.result, Landed) and checked.result.how != NOTHING:
        _run(store, tools, caller, main, checked.result, checked)
    return checked


def _unsubmitted(branch: str, tip: str, base: str, *, task: int, agent: str) -> Candidate:
    """The candidate that the branch would become, without a number."""
    return Candidate(
        0, branch, tip, base, agent, task, 0, DEFAULT_PRIORITY, 0, "", WAITING, "", "", "", "", "", "", 0,
        0, 0,
    )  # fmt: skip


def _forbidden(git: LandingGit, row: Candidate, main: str) -> BranchCheck | None:
    findings = git.forbidden(row, main)
    if not findings:
        return None
    why = why_not(row.agent, findings)
    places = [
        {"path": one.path, "kind": one.kind, "text": f"{one.refusal.what} {one.refusal.who}".strip()}
        for one in findings
    ]
    result = SentBack(why[: words.MOST_WHY], [one.path for one in findings], places)
    return BranchCheck(result, git.branch, is_forbidden=True)


def _merged(git: LandingGit, row: Candidate, task: Task | None, main: str) -> Landed | SentBack:
    level = git.level(main, row, task)
    if not level.fits:
        files = sorted({conflict["path"] for conflict in level.conflicts})
        return SentBack(words.tell_conflicts(git.branch, level.conflicts), files, level.conflicts)
    notes = [*level.notes, *(f"then run {command}" for command in level.commands)]
    return Landed(level.commit, level.tree, level.how, main=git.branch, files=level.files, notes=notes)


def _run(
    store: Store, tools: QueueTools, caller: Caller, main: str, landed: Landed, checked: BranchCheck
) -> None:
    """Run the checks that the queue would run, up to the first that fails. Their verdicts are stored, so the
    queue does not repeat those that passed."""
    with tools.open_checks(1) as pool:
        pool.prepare(main)
        keys = {pool.key(landed.tree, one): one for one in pool.checks_for(landed.files)}
        passed = store.read(lambda view: candidates.passed_before(view, keys))
        checked.checks = [
            {"command": keys[key].command, "result": "passed before"} for key in keys if key in passed
        ]
        unknown = [one for key, one in keys.items() if key not in passed]
        if not unknown:
            return
        pool.start(_JOB, landed.commit, landed.tree, unknown)
        ended = pool.ended()
        while not ended:
            pool.wait(_WAIT_S)
            ended = pool.ended()
        results = ended[0][1]
    candidates.remember_checks(store, caller, results, [])
    for one in results:
        result = "passed" if one.is_green else "failed"
        checked.checks.append({"command": one.command, "result": result, "took_ms": one.took_ms})
        if not one.is_green:
            checked.output = one.words
            checked.findings.append({"path": "", "kind": "check", "text": one.words.split("\n")[0]})
