"""Hand a branch to the queue and report what became of it: for `land` and `undo`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lineclear.app import tasks
from lineclear.app.ports import Caller
from lineclear.app.queue.landings import branch_of_task, require_task, returned_task, task_on
from lineclear.cli.parser import duration
from lineclear.cli.queue_output import ready_in
from lineclear.cli.render import plain
from lineclear.core.durations import LONGEST_MS
from lineclear.core.queue.landing_results import Landed, SentBack
from lineclear.core.tasks.states import TAKEN, show_id
from lineclear.core.words.refusals import pasted
from lineclear.core.words.row import FINDINGS, TIMED_OUT
from lineclear.wiring.queue import branch_here, landings_of, uncommitted

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from collections.abc import Sequence
    from typing import Any

    from lineclear.cli.command import Context
    from lineclear.core.queue.landing_results import NeedsYou

FEW = 10
# How long to wait: as long as it takes, not at all, or as the repository's checks and reviews suggest.
FOR_EVER_MS, NOT_MS, BY_DEFAULT_MS = -1, 0, -2


def declare_wait(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--wait",
        nargs="?",
        type=duration(0, LONGEST_MS),
        const=FOR_EVER_MS,
        default=BY_DEFAULT_MS,
        metavar="DURATION",
        help="wait until it has landed or gone back (the default if it needs no check and no review)",
    )
    parser.add_argument(
        "--no-wait", dest="wait", action="store_const", const=NOT_MS, help="only add it to the queue"
    )


def hand_in(
    context: Context, facts: dict[str, Any], *, task: int = 0, agent: str = "", after: Sequence[int] = (),
    priority: int = 0, wait_ms: int = BY_DEFAULT_MS,
) -> int:  # fmt: skip
    """Submit the branch in `facts`, wait as long as asked, and return the exit code."""
    found, result = landings_of(context.repo).land(
        context.caller, branch=facts["branch"], task=task, agent=agent, after=after,
        priority=priority, wait_s=None if wait_ms == BY_DEFAULT_MS else wait_ms / 1_000,
    )  # fmt: skip
    facts = {**facts, "candidate": found["candidate"]}
    if result is not None:
        return tell(context, facts, result)
    return _tell_waiting(context, facts, is_new=found["is_new"], has_waited=found["has_waited"])


# -- what became of it ----------------------------------------------------------------------------


def tell(context: Context, facts: dict[str, Any], result: Landed | SentBack | NeedsYou) -> int:
    if isinstance(result, Landed):
        data = {**facts, "result": "landed", "how": result.how, "main": result.main, "commit": result.commit,
                "tree": result.tree, "files": result.files, "notes": result.notes}  # fmt: skip
        context.out.data(data, _landed(facts, result), *result.notes)
        return 0
    if isinstance(result, SentBack):
        data = {**facts, "result": "sent back", "why": result.why, "files": result.files,
                "conflicts": result.conflicts, "next": _next_command(facts)}  # fmt: skip
        context.out.data(data, *_sent_back(facts, result))
        return FINDINGS
    data = {
        **facts,
        "result": "needs you",
        "why": result.why,
        "files": result.files,
        "next": _next_command(facts),
    }
    context.out.data(
        data, f"{facts['branch']} waits: {result.why}.", *(f"  {path}" for path in result.files[:FEW])
    )
    return TIMED_OUT


def _landed(facts: dict[str, Any], result: Landed) -> str:
    if result.how == "nothing":
        return f"{facts['branch']} has no commits that {result.main} lacks."
    count = len(result.files)
    files = f"{count} file{'' if count == 1 else 's'}"
    if facts.get("dry_run"):
        how = f"({result.how}, {files})"
        return f"{facts['branch']} merges cleanly into {result.main} {how}. Nothing was changed."
    task = f"; {facts['task']} is merged" if facts.get("task") else ""
    return f"{facts['branch']} is on {result.main} as {result.commit[:12]} ({result.how}, {files}){task}."


def _sent_back(facts: dict[str, Any], result: SentBack) -> list[str]:
    lines = [f"{facts['branch']}: {result.why}."]
    if not facts.get("dry_run"):
        task = f"; {facts['task']} went back." if facts.get("task") else "."
        lines.append(f"Its branch is unchanged{task}")
    return [*lines, f"`{_next_command(facts)}` shows all of it."]


def _next_command(facts: dict[str, Any]) -> str:
    """The command that shows why it is not on main."""
    if facts["candidate"]:
        return f"lineclear queue show {facts['candidate']}"
    return f"lineclear check {pasted(facts['branch'], 'BRANCH')}"


def _tell_waiting(context: Context, facts: dict[str, Any], *, is_new: bool, has_waited: bool) -> int:
    """Say where it stands in the queue, what it waits for, and which command moves it on."""
    landings = landings_of(context.repo)
    seen = landings.overview()
    own = next((row for row in seen["candidates"] if row["candidate"] == facts["candidate"]), None)
    if own is None:
        return _tell_ended(context, facts)
    name, branch = facts["candidate"], plain(facts["branch"])
    following = _following(name, own, seen, is_running=landings.turns.is_taken())
    data = {**facts, "result": "waiting" if has_waited else "submitted", "position": own["position"],
            "waits_for": own["waits_for"], "eta_ms": own["eta_ms"], "next": following}  # fmt: skip
    head = f"{branch} was submitted as {name}" if is_new else f"{branch} is queued as {name}"
    behind = own["position"] - 1
    head += f", behind {behind} other{'' if behind == 1 else 's'}" if behind else ""
    eta = ready_in(own["eta_ms"])
    lines = [f"{head}; one check takes {eta}." if eta and not behind else f"{head}."]
    if own["waits_for"]:
        lines.append(f"It {own['waits_for']}." if own["waits_for"].startswith("waits") else own["waits_for"])
    lines.append(f"Next: run `{following}`." if following else "The queue that is running here will land it.")
    context.out.data(data, *lines)
    return TIMED_OUT if has_waited else 0


def _tell_ended(context: Context, facts: dict[str, Any]) -> int:
    """It left the queue before we read it: another process landed it, or somebody dropped it."""
    result = landings_of(context.repo).result_of(int(facts["candidate"][2:]))
    if result is not None:
        return tell(context, facts, result)
    words = (
        f"{plain(facts['branch'])} was dropped: `lineclear queue show {facts['candidate']}` shows by whom."
    )
    context.out.data({**facts, "result": "dropped", "next": _next_command(facts)}, words)
    return FINDINGS


def _following(name: str, own: dict[str, Any], seen: dict[str, Any], *, is_running: bool) -> str:
    if seen["queue"] == "paused":
        return "lineclear queue resume"
    if own["state"] == "held":
        return f"lineclear queue retry {name}"
    if own["state"] == "waiting" and own["why"]:
        return f"lineclear land {pasted(own['branch'], 'BRANCH')} --wait"
    if "review" in own["waits_for"]:
        return f"lineclear queue show {name} --diff"
    return "" if is_running else "lineclear queue run --once"


def few(paths: list[str]) -> str:
    more = len(paths) - FEW
    return ", ".join(paths[:FEW]) + (f" and {more} more" if more > 0 else "")


def branch_and_task(context: Context, args: Namespace) -> tuple[str, int]:
    """The branch (given, or the task's, or the current one) and the task (given, or the branch's)."""
    # A branch that was named need not belong to the caller's own task.
    task = args.task or (0 if args.branch else context.own_task)
    if task:
        context.store.read(lambda view: require_task(view, task))
    handed_over = args.branch or context.store.read(lambda view: branch_of_task(view, task))
    branch = handed_over or branch_here(context.repo)
    task = task or _followed(context, branch)
    left = uncommitted(context.repo, branch)
    if left:
        context.out.warn(f"uncommitted files on {branch} do not land: {few(left)}")
    return branch, task


def _followed(context: Context, branch: str) -> int:
    """The task that the branch is the work for; 0 if it has none, or if another agent is still at work on
    it."""
    row = context.store.read(lambda view: task_on(view, branch))
    if row is None:
        return 0
    if row.state == TAKEN and row.agent != context.caller.name:
        context.out.hint(f"{show_id(row.id)} stays with {row.agent}, who is still working on it.")
        return 0
    return row.id


def take_again(context: Context, branch: str) -> int:
    """Take the branch's task again if it has gone back to the caller, who now lands better work; 0 if not."""
    me = context.caller
    row = context.store.read(lambda view: returned_task(view, branch, me.name))
    if row is None:
        return 0
    # Without `--key`, which is that of the landing.
    caller = Caller(me.name, tree=me.tree, client=me.client, session=me.session, bond=me.bond, seen=me.seen)
    tasks.take(context.store, context.repo.liveness, caller, number=row.id)
    return row.id
