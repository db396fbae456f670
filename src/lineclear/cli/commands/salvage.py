"""salvage list, show, restore, take; and what a hook starts beside itself."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

from lineclear.cli.command import Command, Context
from lineclear.cli.render import TextTable, plain
from lineclear.core.agents.names import agent_name
from lineclear.core.instants import show_duration
from lineclear.core.words.refusals import refuse
from lineclear.core.worktrees.snapshots import AT_WORK
from lineclear.wiring.worktrees import agent_work_in, salvage_at, saved_work_in

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from typing import Any

    from lineclear.core.worktrees.snapshots import Kept


def _declare_list(parser: ArgumentParser) -> None:
    parser.add_argument("--agent", type=agent_name, metavar="A", help="only snapshots of this agent")


def list_(context: Context, args: Namespace) -> None:
    found = salvage_at(context.cwd, context.environ).kept(args.agent or "")
    now_s = int(time.time())
    columns = ["SNAPSHOT", "AGE", "TASK", "WORKTREE", "WHY", "LEFT OUT"]
    rows = [
        [
            short_name(kept),
            show_duration(max(0, now_s - kept.at_s) * 1_000),
            f"T-{kept.task}" if kept.task else "",
            kept.worktree,
            kept.why,
            len(kept.left_out) or "",
        ]
        for kept in found
    ]
    table = TextTable(columns, rows, empty="There are no snapshots.")
    context.out.data({"snapshots": [as_data(kept) for kept in found]}, table)


def short_name(kept: Kept) -> str:
    """What can be typed for it: `ada/3`."""
    return f"{kept.agent}/{kept.number}"


def as_data(kept: Kept) -> dict[str, Any]:
    names = ("ref", "agent", "number", "commit", "tree", "parent", "task", "worktree", "why", "at_s")
    return {name: getattr(kept, name) for name in names} | {"left_out": list(kept.left_out)}


def _declare_name(parser: ArgumentParser) -> None:
    parser.add_argument(
        "name", metavar="SNAPSHOT", help="AGENT/N, a ref, a commit's id, or an agent for its newest"
    )


def _declare_show(parser: ArgumentParser) -> None:
    _declare_name(parser)
    parser.add_argument("--patch", action="store_true", help="print only the patch, for `git apply`")


def show(context: Context, args: Namespace) -> None:
    salvage = salvage_at(context.cwd, context.environ)
    kept = salvage.find(args.name)
    if args.patch or context.out.is_json:
        patch = salvage.patch(kept)
        context.out.content(as_data(kept) | {"files": salvage.files(kept), "patch": patch}, patch)
        return
    stat, patch = salvage.text(kept, stat=True), salvage.text(kept, stat=False)
    lines = [
        f"snapshot {short_name(kept)} of {kept.worktree}: {plain(kept.why)}",
        f"commit {kept.commit}",
        f"on {kept.parent or 'no commit yet'}",
        *(f"not in it: {item}" for item in kept.left_out),
        "",
        stat.rstrip("\n") or "It equals its commit: nothing was uncommitted.",
        *(["", patch.rstrip("\n")] if patch else []),
    ]
    context.out.data(None, *lines)


def _declare_restore(parser: ArgumentParser) -> None:
    _declare_name(parser)
    parser.add_argument("--branch", default="", metavar="NAME", help="the new branch (salvage/AGENT/N)")
    parser.add_argument("--patch", default="", metavar="FILE", help="write a patch instead of a branch")


def restore(context: Context, args: Namespace) -> None:
    if args.branch and args.patch:
        raise refuse(
            "usage", command="lineclear salvage restore", message="give --branch or --patch, not both"
        )
    salvage = salvage_at(context.cwd, context.environ)
    kept = salvage.find(args.name)
    for item in kept.left_out:
        context.out.warn(f"not in the snapshot: {item}")
    if args.patch:
        path = os.path.join(context.cwd, args.patch)
        size_bytes = salvage.restore_patch(kept, path)
        data = as_data(kept) | {"patch_file": path, "size_bytes": size_bytes}
        context.out.data(data, f"{args.patch} holds snapshot {short_name(kept)} as a patch on {kept.parent}")
        return
    branch = salvage.restore_branch(kept, args.branch)
    context.out.data(
        as_data(kept) | {"branch": branch},
        f"The branch {branch} is at snapshot {short_name(kept)}",
        f"Its parent is {kept.parent}" if kept.parent else "It has no parent",
    )


def _declare_take(parser: ArgumentParser) -> None:
    parser.add_argument(
        "name",
        nargs="?",
        default="",
        metavar="AGENT",
        help="an agent, task or worktree (default: the current one)",
    )


def take(context: Context, args: Namespace) -> None:
    repo, caller = context.repo, context.caller
    agent, tree, path, task = caller.name, repo.tree, repo.layout.worktree, 0
    if args.name:
        work = agent_work_in(repo).find(args.name)
        agent, tree, path, task = work.agent or caller.name, work.tree, work.path, work.task
    why = "asked for" if caller.is_person or args.name else AT_WORK
    saved = saved_work_in(repo)
    taken = saved.take(agent=agent, tree=tree, path=path, why=why, task=task)
    for item in taken.left_out if taken is not None else ():
        context.out.warn(f"not in the snapshot: {item}")
    found = taken or saved.latest(agent)
    ref = found.ref if found is not None else ""
    name = f"{agent}/{ref.rpartition('/')[2]}"
    words = "is taken" if taken is not None else "already holds all of it"
    data = {
        "is_new": taken is not None,
        "ref": ref,
        "commit": found.commit if found is not None else "",
        "left_out": list(found.left_out) if found is not None else [],
    }
    context.out.data(data, f"Snapshot {name} {words}")


def beside(context: Context, _args: Namespace) -> None:
    from lineclear.wiring.radar import save_beside

    save_beside(context.repo, context.caller)


COMMANDS = {
    "salvage list": Command(list_, _declare_list),
    "salvage show": Command(show, _declare_show),
    "salvage restore": Command(restore, _declare_restore),
    "salvage take": Command(take, _declare_take),
    "salvage beside": Command(beside),
}
