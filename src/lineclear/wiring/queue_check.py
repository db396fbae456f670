"""Landing without landing: does a branch fit main, may its author change what it changes, and on request, do
the repository's checks pass on the merge of both. Nothing moves and no task changes.
"""

from __future__ import annotations

from contextlib import closing

from lineclear.app import queue
from lineclear.core import landing as words
from lineclear.core import refusals_landing
from lineclear.core.gate import tell
from lineclear.core.landing import NOTHING, Landed, SentBack
from lineclear.git.run import GitFailed
from lineclear.wiring.landing import agent_of
from lineclear.wiring.queue_bench import CheckBench
from lineclear.wiring.queue_sight import ends_of, main_name, task_of, unsubmitted
from lineclear.wiring.queue_yard import GitYard

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from lineclear.app.ports import Caller
    from lineclear.core.tables import Candidate
    from lineclear.wiring.repo import Repo

_JOB, _WAIT_S = 1, 1.0


class Checked:
    """`result`: what landing would come to. `findings` are what speaks against it, each with `path`, `kind`
    and `text`; `checks` are those that were run or had passed on this very tree before;
    `is_forbidden`: its author may not change what it changes."""

    __slots__ = ("checks", "findings", "is_forbidden", "main", "output", "result")

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


def check(
    repo: Repo, caller: Caller, *, branch: str, task: int = 0, agent: str = "", runs_checks: bool = False
) -> Checked:
    """Refuses what cannot be landed at all, as landing does."""
    main, tip = ends_of(repo, branch)
    name = main_name(repo)
    row = unsubmitted(branch, tip, main, task=task, agent=agent or agent_of(repo, branch))
    try:
        with closing(GitYard(repo, lambda _: "")) as yard:
            checked = _forbidden(yard, row, main, name) or Checked(_merged(repo, yard, row, main, name), name)
    except GitFailed as error:
        raise refusals_landing.git_failed(error.command[0], error.stderr) from error
    if runs_checks and isinstance(checked.result, Landed):
        _run(repo, caller, main, checked.result, checked)
    return checked


def _forbidden(yard: GitYard, row: Candidate, main: str, name: str) -> Checked | None:
    findings = yard.forbidden(row, main)
    if not findings:
        return None
    why = f"it changes what {row.agent or 'its author'} may not change: {tell(findings)}"
    places = [
        {"path": one.path, "kind": one.kind, "text": f"{one.refusal.what} {one.refusal.who}".strip()}
        for one in findings
    ]
    result = SentBack(why[: words.MOST_WHY], [one.path for one in findings], places)
    return Checked(result, name, is_forbidden=True)


def _merged(repo: Repo, yard: GitYard, row: Candidate, main: str, name: str) -> Landed | SentBack:
    level = yard.level(main, row, task_of(repo, row))
    if not level.fits:
        files = sorted({conflict["path"] for conflict in level.conflicts})
        return SentBack(words.tell_conflicts(name, level.conflicts), files, level.conflicts)
    notes = [*level.notes, *(f"then run {command}" for command in level.commands)]
    return Landed(level.commit, level.tree, level.how, main=name, files=level.files, notes=notes)


def _run(repo: Repo, caller: Caller, main: str, landed: Landed, checked: Checked) -> None:
    """The checks that the queue would ask for, up to the first that fails; verdicts are kept as it keeps
    them, so what passes here is not run again when it lands."""
    if landed.how == NOTHING:
        return
    with closing(CheckBench(repo, 1)) as bench:
        bench.prepare(main)
        keys = {bench.key(landed.tree, one): one for one in bench.checks_for(landed.files)}
        passed = repo.store.read(lambda view: queue.passed_before(view, keys))
        checked.checks = [
            {"command": keys[key].command, "result": "passed before"} for key in keys if key in passed
        ]
        unknown = [one for key, one in keys.items() if key not in passed]
        if not unknown:
            return
        bench.start(_JOB, landed.commit, landed.tree, unknown)
        ended = bench.ended()
        while not ended:
            bench.wait(_WAIT_S)
            ended = bench.ended()
        results = ended[0][1]
    queue.remember_checks(repo.store, caller, results, [])
    for one in results:
        result = "passed" if one.is_green else "failed"
        checked.checks.append({"command": one.command, "result": result, "took_ms": one.took_ms})
        if not one.is_green:
            checked.output = one.words
            checked.findings.append({"path": "", "kind": "check", "text": one.words.split("\n")[0]})
