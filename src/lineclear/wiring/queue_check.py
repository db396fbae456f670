"""Landing without landing: does a branch fit main, may its author change what it changes, and on request, do
the repository's checks pass on the merge of both. Nothing moves and no task changes.
"""

from __future__ import annotations

from contextlib import closing

from lineclear.app.queue import candidates
from lineclear.core.queue import landing as words
from lineclear.core.queue.gate import tell
from lineclear.core.queue.landing import NOTHING, Landed, SentBack
from lineclear.core.words.queue import git_failed
from lineclear.git.run import GitFailed
from lineclear.wiring.check_pool import ThreadedCheckPool
from lineclear.wiring.queue_facts import task_of, unsubmitted
from lineclear.wiring.queue_git import CloneQueueGit
from lineclear.wiring.stray_main import agent_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from lineclear.app.ports import Caller
    from lineclear.core.log.tables import Candidate
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
    with closing(CloneQueueGit(repo)) as git:
        main, tip = git.ends_of(branch)
        row = unsubmitted(branch, tip, main, task=task, agent=agent or agent_of(repo, branch))
        try:
            checked = _forbidden(git, row, main) or Checked(_merged(git, row, main), git.branch)
        except GitFailed as error:
            raise git_failed(error.command[0], error.stderr) from error
        if runs_checks and isinstance(checked.result, Landed):
            _run(git, caller, main, checked.result, checked)
    return checked


def _forbidden(git: CloneQueueGit, row: Candidate, main: str) -> Checked | None:
    findings = git.forbidden(row, main)
    if not findings:
        return None
    why = f"it changes files that {row.agent or 'its author'} may not change: {tell(findings)}"
    places = [
        {"path": one.path, "kind": one.kind, "text": f"{one.refusal.what} {one.refusal.who}".strip()}
        for one in findings
    ]
    result = SentBack(why[: words.MOST_WHY], [one.path for one in findings], places)
    return Checked(result, git.branch, is_forbidden=True)


def _merged(git: CloneQueueGit, row: Candidate, main: str) -> Landed | SentBack:
    level = git.level(main, row, task_of(git.repo, row))
    if not level.fits:
        files = sorted({conflict["path"] for conflict in level.conflicts})
        return SentBack(words.tell_conflicts(git.branch, level.conflicts), files, level.conflicts)
    notes = [*level.notes, *(f"then run {command}" for command in level.commands)]
    return Landed(level.commit, level.tree, level.how, main=git.branch, files=level.files, notes=notes)


def _run(git: CloneQueueGit, caller: Caller, main: str, landed: Landed, checked: Checked) -> None:
    """The checks that the queue would ask for, up to the first that fails; verdicts are kept as it keeps
    them, so what passes here is not run again when it lands."""
    if landed.how == NOTHING:
        return
    store = git.repo.store
    with closing(ThreadedCheckPool(git.repo, 1, git.settings.repo_at)) as pool:
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
