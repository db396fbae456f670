"""land, check, undo: hand a branch to the queue, check whether it would land, undo a landing.

Only work for a task needs the supervisor's modules, so `_examine` imports them itself.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lineclear.app.queue.landings import taken_task
from lineclear.app.queue.undo import prepare
from lineclear.cli.command import Command, Context
from lineclear.cli.landing import branch_and_task, declare_wait, hand_in, take_again, tell
from lineclear.cli.parser import candidate_number, task_number, whole_number
from lineclear.core.queue.conflict_sides import tell_places
from lineclear.core.queue.landing_results import Landed
from lineclear.core.tasks.states import LEAST_PRIORITY
from lineclear.core.words.computed.queue import not_as_asked
from lineclear.core.words.row import FINDINGS
from lineclear.wiring.checks import require_gates
from lineclear.wiring.queue import landings_of, pull_requests_of, undo_git_of

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from typing import Any

    from lineclear.app.queue.trial_landing import BranchCheck


def _declare_branch(parser: ArgumentParser, help_: str) -> None:
    parser.add_argument("branch", nargs="?", default="", metavar="BRANCH", help=help_)
    parser.add_argument(
        "--task",
        type=task_number,
        default=0,
        metavar="T",
        help="the task it ends (the branch's own)",
    )


def _declare_land(parser: ArgumentParser) -> None:
    _declare_branch(parser, "the branch to land (the current branch)")
    parser.add_argument("--dry-run", action="store_true", help="only show the result; change nothing")
    parser.add_argument(
        "--after", type=candidate_number, action="append", default=[], metavar="N",
        help="a candidate that must land first (repeat it for more)",
    )  # fmt: skip
    parser.add_argument(
        "--priority", type=whole_number(1, LEAST_PRIORITY), default=0, metavar="P",
        help=f"1 (first) to {LEAST_PRIORITY} (the task's own, else 5)",
    )  # fmt: skip
    declare_wait(parser)
    parser.add_argument(
        "--pr", action="store_true", help="push it and open a pull request with gh or glab instead"
    )


def land(context: Context, args: Namespace) -> int:
    branch, task = branch_and_task(context, args)
    context.warn_of_idle_settings()
    require_gates(context.repo, branch)
    if not task and not args.dry_run:
        task = take_again(context, branch)
    if task:
        _examine(context, task, branch)
    facts = {"branch": branch, "task": f"T-{task}" if task else "", "dry_run": args.dry_run}
    if args.dry_run:
        found = landings_of(context.repo).check(context.caller, branch=branch, task=task)
        return tell(context, {**facts, "candidate": ""}, found.result)
    if args.pr:
        return _pull_request(context, facts, task)
    return hand_in(context, facts, task=task, after=args.after, priority=args.priority, wait_ms=args.wait)


def _examine(context: Context, task: int, branch: str) -> None:
    """Refuse work that lacks what its task asks for, while its agent can still fix it."""

    from lineclear.wiring.runs import deliveries_of

    row = context.store.read(lambda view: taken_task(view, task))
    deliveries = deliveries_of(context.repo)
    found = deliveries.examine(row, agent=row.agent, branch=branch) if row is not None else None
    if found is not None:
        for note in found.notes:
            context.out.warn(note)
        if found.reason:
            raise not_as_asked(f"T-{task}", found.reason)


def _pull_request(context: Context, facts: dict[str, Any], task: int) -> int:
    """Push and open a pull request, unless the author may not change these files; warn of conflicts."""
    found = landings_of(context.repo).check(context.caller, branch=facts["branch"], task=task)
    if found.is_forbidden:
        return tell(context, {**facts, "dry_run": True, "candidate": ""}, found.result)
    for finding in found.findings:
        context.out.warn(f"it conflicts with the current {found.main}: {finding['text']}")
    made = pull_requests_of(context.repo).open(context.caller, branch=facts["branch"], task=task)
    is_new = "is open" if made["is_new"] else "was already open"
    words = f"{facts['branch']} was pushed to {made['remote']}; its pull request {is_new}: {made['url']}"
    context.out.data({**facts, "result": "pull request", **made}, words)
    return 0


# -- check ----------------------------------------------------------------------------------------


def _declare_check(parser: ArgumentParser) -> None:
    _declare_branch(parser, "the branch to check (the current branch)")
    parser.add_argument("--run", action="store_true", help="also run the repository's checks on the merge")


def check(context: Context, args: Namespace) -> int:
    branch, task = branch_and_task(context, args)
    context.warn_of_idle_settings()
    found = landings_of(context.repo).check(context.caller, branch=branch, task=task, runs_checks=args.run)
    data = {"branch": branch, "main": found.main, "fits": found.is_good, "findings": found.findings,
            "checks": found.checks, "output": found.output}  # fmt: skip
    context.out.data(data, *_check_lines(branch, found))
    return 0 if found.is_good else FINDINGS


def _check_lines(branch: str, found: BranchCheck) -> list[str]:
    result = found.result
    checks = [f"  `{one['command']}` {one['result']}" for one in found.checks]
    if isinstance(result, Landed) and found.is_good:
        if result.how == "nothing":
            return [f"{branch} has no commits that {found.main} lacks."]
        count = len(result.files)
        files = f"{count} file{'' if count == 1 else 's'}"
        return [f"{branch} merges cleanly into {found.main} ({result.how}, {files}).", *checks, *result.notes]
    places = tell_places(found.findings, (found.main, branch), lambda one: str(one["text"]))
    if isinstance(result, Landed):
        return [
            f"{branch} merges cleanly into {found.main}, but its checks fail:",
            *checks,
            found.output.rstrip("\n"),
        ]
    if found.is_forbidden:
        return [f"{branch} cannot land:", *places]
    return [f"{branch} conflicts with the current {found.main}:", *places]


# -- undo -----------------------------------------------------------------------------------------


def _declare_undo(parser: ArgumentParser) -> None:
    parser.add_argument(
        "number", type=candidate_number, nargs="?", default=0, metavar="N",
        help="the candidate to undo (your own last landing)",
    )  # fmt: skip
    declare_wait(parser)


def undo(context: Context, args: Namespace) -> int:
    context.warn_of_idle_settings()
    require_gates(context.repo)
    made = prepare(context.store, undo_git_of(context.repo), context.caller, args.number)
    context.out.hint(f"{made['branch']} undoes {made['undoes']} ({made['title'] or made['of']}).")
    facts = {"branch": made["branch"], "task": "", "undoes": made["undoes"]}
    agent = "" if context.caller.is_person else context.caller.name
    return hand_in(context, facts, agent=agent, wait_ms=args.wait)


COMMANDS = {
    "land": Command(land, _declare_land, is_write=True),
    "check": Command(check, _declare_check),
    "undo": Command(undo, _declare_undo, is_write=True),
}
