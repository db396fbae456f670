"""land: a branch to main, now; what does not fit goes back, what is in a person's way waits."""

from __future__ import annotations

from lineclear.cli.command import Command, Context
from lineclear.cli.parser import task_number
from lineclear.core.refusals import FINDINGS, TIMED_OUT

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from typing import Any

    from lineclear.core.landing import Landed, NeedsYou, SentBack

_FEW = 10


def _declare(parser: ArgumentParser) -> None:
    parser.add_argument(
        "branch", nargs="?", default="", metavar="BRANCH", help="what lands (the branch you stand on)"
    )
    parser.add_argument(
        "--task",
        type=task_number,
        default=0,
        metavar="T",
        help="the task it ends (an agent's own: LINECLEAR_TASK)",
    )
    parser.add_argument("--dry-run", action="store_true", help="only say what it would come to")


def land(context: Context, args: Namespace) -> int:
    from lineclear.wiring import landing

    repo, caller = context.repo, context.caller
    task = args.task or _own_task(context, args.branch)
    branch = args.branch or landing.branch_of_task(repo, task) or landing.branch_here(repo)
    left = landing.uncommitted(repo, branch)
    if left:
        context.out.warn(f"what is not committed on {branch} does not land: {_few(left)}")
    if task:
        _examine(context, task, branch)
    if args.dry_run:
        result = landing.preview(repo, task=task, branch=branch)
    else:
        result = landing.land(repo, caller, task=task, branch=branch)
    facts = {"branch": branch, "task": f"T-{task}" if task else "", "dry_run": args.dry_run}
    return _tell(context, facts, result)


def _examine(context: Context, task: int, branch: str) -> None:
    """What the task asks for is asked before it is handed over: its agent can still mend it."""
    from lineclear.core.refusals_landing import not_as_asked
    from lineclear.wiring.landing import taken_task
    from lineclear.wiring.outputs import examine

    row = taken_task(context.repo, task)
    found = examine(context.repo, row, agent=row.agent, branch=branch) if row is not None else None
    if found is not None:
        for note in found.notes:
            context.out.warn(note)
        if found.reason:
            raise not_as_asked(f"T-{task}", found.reason)


def _own_task(context: Context, branch: str) -> int:
    """Who runs under the supervisor was given its task; another branch than its own is another matter."""
    given = context.environ.get("LINECLEAR_TASK", "")
    return task_number(given) if given and not branch and not context.caller.is_person else 0


def _tell(context: Context, facts: dict[str, Any], result: Landed | SentBack | NeedsYou) -> int:
    from lineclear.core.landing import Landed, SentBack

    if isinstance(result, Landed):
        data = {**facts, "result": "landed", "how": result.how, "main": result.main, "commit": result.commit,
                "tree": result.tree, "files": result.files, "notes": result.notes}  # fmt: skip
        context.out.data(data, _landed(facts, result), *result.notes)
        return 0
    if isinstance(result, SentBack):
        data = {**facts, "result": "sent back", "why": result.why, "files": result.files,
                "conflicts": result.conflicts}  # fmt: skip
        context.out.data(data, *_sent_back(facts, result))
        return FINDINGS
    data = {**facts, "result": "needs you", "why": result.why, "files": result.files}
    context.out.data(
        data, f"{facts['branch']} waits: {result.why}.", *(f"  {path}" for path in result.files[:_FEW])
    )
    return TIMED_OUT


def _landed(facts: dict[str, Any], result: Landed) -> str:
    if result.how == "nothing":
        return f"{facts['branch']} holds nothing that {result.main} does not have."
    count = len(result.files)
    files = f"{count} file{'' if count == 1 else 's'}"
    if facts["dry_run"]:
        return f"{facts['branch']} fits {result.main} ({result.how}, {files}). Nothing was changed."
    task = f"; {facts['task']} is merged" if facts["task"] else ""
    return f"{facts['branch']} is on {result.main} as {result.commit[:12]} ({result.how}, {files}){task}."


def _sent_back(facts: dict[str, Any], result: SentBack) -> list[str]:
    lines = [f"{facts['branch']}: {result.why}."]
    if not facts["dry_run"]:
        lines.append("Its branch is as it was" + (f"; {facts['task']} went back." if facts["task"] else "."))
    return lines


def _few(paths: list[str]) -> str:
    more = len(paths) - _FEW
    return ", ".join(paths[:_FEW]) + (f" and {more} more" if more > 0 else "")


COMMANDS = {"land": Command(land, _declare, is_write=True)}
