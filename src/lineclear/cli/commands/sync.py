"""sync: merge main into the current worktree's branch; list the conflicts, or leave them in the files."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lineclear.cli.command import Command, Context
from lineclear.cli.parser import task_number
from lineclear.core.queue.conflict_sides import tell_places
from lineclear.core.queue.landing_results import tell_conflict
from lineclear.core.words.computed.worktrees import sync_conflicts
from lineclear.core.words.row import FINDINGS
from lineclear.core.worktrees.syncing import Conflicted
from lineclear.wiring.queue import branch_here
from lineclear.wiring.strays import strays_of
from lineclear.wiring.sync import sync_in

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from typing import Any

    from lineclear.core.worktrees.syncing import Synced

_FEW = 20


def _declare(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--task",
        type=task_number,
        default=0,
        metavar="T",
        help="the task that the merge commit names (an agent's own: LINECLEAR_TASK)",
    )
    parser.add_argument(
        "--keep-conflicts",
        action="store_true",
        help="leave conflicts in the worktree, as git does: edit, git add, git commit",
    )
    parser.add_argument("--dry-run", action="store_true", help="only show the result; change nothing")


def sync(context: Context, args: Namespace) -> int:
    repo, task = context.repo, args.task or context.own_task
    wired = sync_in(repo, context.caller)
    result = wired.preview(task=task) if args.dry_run else wired.sync(task=task, keep=args.keep_conflicts)
    facts = {"branch": branch_here(repo), "main": strays_of(repo).main_name(), "dry_run": args.dry_run}
    return _tell(context, facts, result)


def _tell(context: Context, facts: dict[str, Any], result: Synced | Conflicted) -> int:
    if not isinstance(result, Conflicted):
        data = {**facts, "result": "synced", "how": result.how, "commit": result.commit,
                "files": result.files, "notes": result.notes}  # fmt: skip
        context.out.data(data, _synced(facts, result), *result.notes)
        return 0
    if result.is_kept:
        data = {**facts, "result": "conflicts kept", "open": result.open_paths,
                "conflicts": result.conflicts, "notes": result.notes}  # fmt: skip
        context.out.data(data, *_kept(facts, result), *result.notes)
        return FINDINGS
    # Print all places first: the refusal names only the first file (its JSON has them all).
    for line in _places(facts, result):
        context.out.hint(line)
    raise sync_conflicts(facts["branch"], facts["main"], result.conflicts)


def _places(facts: dict[str, Any], result: Conflicted) -> list[str]:
    main, branch = facts["main"], facts["branch"]
    names = (branch, main) if result.is_kept else (main, branch)
    lines = tell_places(result.conflicts[:_FEW], names, tell_conflict)
    more = len(result.conflicts) - _FEW
    return [*lines, *([f"  and {more} more"] if more > 0 else [])]


def _synced(facts: dict[str, Any], result: Synced) -> str:
    branch, main, count = facts["branch"], facts["main"], len(result.files)
    if result.how == "up to date":
        return f"{branch} already contains all of {main}."
    files = f"{count} file{'' if count == 1 else 's'}"
    if facts["dry_run"]:
        return f"{main} merges cleanly into {branch} ({result.how}, {files}). Nothing was changed."
    return f"{branch} now contains all of {main}, as {result.commit[:12]} ({result.how}, {files})."


def _kept(facts: dict[str, Any], result: Conflicted) -> list[str]:
    return [
        f"{facts['main']} is being merged into {facts['branch']}, with these conflicts:",
        *_places(facts, result),
        "Everything else is staged. Edit, `git add` and `git commit`; `git merge --abort` cancels the merge.",
    ]


COMMANDS = {"sync": Command(sync, _declare)}
