"""claim, release, who, with.

`claim` and `release` run often: costly modules that they do not need are imported inside `who` and `with`.
"""

from __future__ import annotations

from shutil import which
from time import monotonic
from typing import TYPE_CHECKING

from lineclear.app import claims
from lineclear.app.waiting_in_line import claim_or_wait
from lineclear.cli.command import Command, Context
from lineclear.cli.parser import duration, task_number
from lineclear.cli.render import TextTable
from lineclear.core.claims.granting import EXCLUSIVE, MODES, Request, usual_mode
from lineclear.core.instants import show_duration
from lineclear.core.words.refusals import Refusal, not_found, quote, refuse
from lineclear.core.words.row import FAILED, STALE

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from collections.abc import Callable
    from typing import Any

    from lineclear.app.ports import Caller, Store
    from lineclear.host.bonds import HeldBond

HOUR_MS = 3_600_000


def _declare_lease(parser: ArgumentParser) -> None:
    parser.add_argument("--ttl", type=duration(1_000, 24 * HOUR_MS), help="how long the lease lasts (30m)")
    parser.add_argument(
        "--wait", type=duration(0, 24 * HOUR_MS), default=0, help="wait in line at most this long (0)"
    )
    parser.add_argument(
        "--note", default="", help='the purpose, shown to others ("working on the auth module")'
    )
    parser.add_argument("--task", type=task_number, default=0, help="the task this is for")


def _declare_claim(parser: ArgumentParser) -> None:
    parser.add_argument(
        "resources", nargs="+", metavar="RESOURCE", help="file:PATH (or just PATH), symbol:PATH#NAME, ..."
    )
    parser.add_argument(
        "--mode",
        choices=MODES,
        help="exclusive, intent or shared (intent for an agent's own copy in its worktree, else exclusive)",
    )
    parser.add_argument("--take-over", action="store_true", help="take it from its holder (a person only)")
    _declare_lease(parser)


def _request(context: Context, args: Namespace) -> Request:
    repo, caller = context.repo, context.caller
    resources = context.resources(args.resources)
    mode = args.mode or usual_mode(
        resources, repo.settings.rules, is_person=caller.is_person, tree=caller.tree
    )
    request = Request(
        caller.name,
        caller.tree,
        mode,
        resources,
        ttl_ms=args.ttl or repo.settings.claims_ttl_ms,
        note=args.note,
        task=args.task,
    )
    claims.refuse_owned(repo.settings.rules, caller, request)
    return request


def claim(context: Context, args: Namespace) -> None:
    request = _request(context, args)
    repo, caller = context.repo, context.caller
    if not args.take_over:
        _refuse_locked(context, request)
    if args.take_over:
        answer = claims.take_over(context.store, repo.liveness, caller, request)
    elif args.wait:
        answer = _wait(context, request, args.wait)
    else:
        answer = claims.ask(context.store, repo.liveness, caller, request)
    is_gone = answer.get("replayed") and not answer["still_valid"]
    lines = [] if is_gone else [_claim_line(shown) for shown in answer["claims"]]
    if answer["told"]:
        lines.append(f"Told: {', '.join(answer['told'])}, who announced work there.")
    if answer.get("replayed"):
        held = ", ".join(shown["resource"] for shown in answer["claims"])
        lines.append(f"replayed: {held} {'is no longer yours' if is_gone else 'is still yours'}.")
    context.out.data(answer, *lines)


def _refuse_locked(context: Context, request: Request) -> None:
    """Refuse what another tool's lock file covers, if [mirror] locks is on."""
    if context.repo.settings.mirror_locks:
        from lineclear.mirror.locks import refuse_foreign

        refuse_foreign(context.repo, request)


def _wait(context: Context, request: Request, limit_ms: int) -> dict[str, Any]:
    """Wait in line with a bond, so that nobody waits for us if this process dies."""
    request.ticket_bond, bond = context.repo.hold_bond("wait")
    try:
        return claim_or_wait(
            context.store,
            context.repo.liveness,
            context.caller,
            request,
            limit_ms,
            on_wait=_tell_wait(context),
        )
    finally:
        bond.release()


def _tell_wait(context: Context) -> Callable[[dict[str, Any]], None]:
    def tell(blocker: dict[str, Any]) -> None:
        verb = "waits for" if blocker["waits"] else "holds"
        until = "" if blocker["waits"] else f" until {blocker['until_at'][11:16]} UTC"
        context.out.hint(f"Waiting: {blocker['agent']} {verb} {blocker['resource']}{until}.")
        context.publish()

    return tell


def _claim_line(shown: dict[str, Any]) -> str:
    left = show_duration(shown["seconds_left"] * 1000)
    return f"{shown['resource']} is yours ({shown['mode']}) for {left}, fence {shown['fence']}."


def _declare_release(parser: ArgumentParser) -> None:
    parser.add_argument("resources", nargs="*", metavar="RESOURCE", help="what to release")
    parser.add_argument("--all", action="store_true", help="everything you hold")


def release(context: Context, args: Namespace) -> None:
    if bool(args.resources) == args.all:
        raise refuse("usage", command="lineclear release", message="name resources, or use --all")
    answer = claims.release(
        context.store, context.caller, context.resources(args.resources), everything=args.all
    )
    released = answer["released"]
    context.out.data(
        answer, *(f"{text} is free." for text in released) if released else ("You hold nothing.",)
    )


def _declare_who(parser: ArgumentParser) -> None:
    parser.add_argument("resource", metavar="RESOURCE")


def who(context: Context, args: Namespace) -> None:
    from lineclear.app.status import who as explain

    repo = context.repo
    resource = repo.resource(args.resource, context.cwd)
    answer, head = context.store.read(lambda view: (explain(view, resource, repo.settings.rules), view.head))
    context.out.data(answer, *_who_lines(answer))
    context.delivered(head)


def _who_lines(answer: dict[str, Any]) -> list[str | TextTable]:
    owner = f", written by {answer['owner']}" if answer["owner"] else ""
    owner += f", only in the {answer['phase']} phase" if answer["phase"] else ""
    lines: list[str | TextTable] = [
        f"{answer['resource']}: {answer['strategy']}{owner} ({answer['strategy_from']})"
    ]
    lines += [f"  inside: {rule['resource']} is {rule['strategy']}" for rule in answer["inside"]]
    held = [
        [
            c["agent"],
            c["mode"],
            c["resource"],
            show_duration(c["seconds_left"] * 1000),
            c["fence"],
            c["task"],
            c["note"],
        ]
        for c in answer["holders"]
    ]
    lines.append(
        TextTable(
            ["HOLDER", "MODE", "RESOURCE", "LEFT", "FENCE", "TASK", "NOTE"], held, empty="Nobody holds it."
        )
    )
    lines += [f"waits: {w['agent']} for {', '.join(w['resources'])} ({w['mode']})" for w in answer["waiters"]]
    lines += [f'expected by {t["id"]} of {t["agent"]}: "{t["title"]}"' for t in answer["tasks"]]
    if answer["proposals"]:
        lines.append(f"{answer['proposals']} open proposals")
    lines += [f"last: {e['what']} by {e['by']} at {e['at']} (event {e['position']})" for e in answer["last"]]
    return lines


def _declare_with(parser: ArgumentParser) -> None:
    parser.usage = "lineclear with RESOURCE... [--ttl T] [--wait T] [--mode M] -- COMMAND..."
    parser.add_argument("resources", nargs="+", metavar="RESOURCE")
    parser.add_argument(
        "--mode", choices=MODES, default=EXCLUSIVE, help="exclusive (default), intent or shared"
    )
    _declare_lease(parser)


def with_(context: Context, args: Namespace) -> int:
    """Claim, run the command, renew while it runs, release; return the command's exit code."""
    if not args.command:
        raise refuse("usage", command="lineclear with", message="a command is needed after --")
    if which(args.command[0], path=context.environ.get("PATH")) is None:
        raise not_found("program", args.command[0], "lineclear with --help")
    request = _request(context, args)
    _refuse_locked(context, request)
    request.bond, bond = context.repo.hold_bond("with")
    request.ticket_bond = request.bond
    try:
        return _run_holding(context, request, args.wait, args.command, bond)
    except Refusal as refusal:
        if refusal.code in ("claim.held", "claim.waiting"):
            words = " ".join(quote(word) for word in (*args.resources, "--wait", "10m", "--", *args.command))
            refusal.next = f"lineclear with {words}"
        raise
    finally:
        bond.release()


def _run_holding(context: Context, request: Request, wait_ms: int, command: list[str], bond: HeldBond) -> int:
    from lineclear.host.guarded_command import run_guarded

    store, caller = context.store, context.caller
    answer = claim_or_wait(
        store, context.repo.liveness, caller, request, wait_ms, on_wait=_tell_wait(context)
    )
    fences = {shown["resource"]: shown["fence"] for shown in answer["claims"]}
    code = FAILED
    try:
        context.publish()
        code = run_guarded(
            command,
            _environ_inside(context, answer["fence"], list(fences)),
            keep_fds=[bond.inheritable()],
            poll=_renewer(store, caller, fences, request.ttl_ms),
            every_s=max(0.1, request.ttl_ms / 3_000),
        )
    finally:
        is_ours = claims.renew_exactly(store, caller, fences)
        if is_ours:
            claims.release(store, caller, request.resources)
    if not is_ours:
        context.out.hint(
            f"{', '.join(fences)} was lost while the command ran; its writes since then were not protected."
        )
        return code or STALE
    return code


def _renewer(store: Store, caller: Caller, fences: dict[str, int], ttl_ms: int) -> Callable[[], bool]:
    """A function that renews the claims; if the store is out of reach, they last until the lease ends."""
    until = monotonic() + ttl_ms / 1000

    def renew() -> bool:
        nonlocal until
        asked = monotonic()
        try:
            is_ours = claims.renew_exactly(store, caller, fences)
        except Refusal:
            return asked < until
        until = asked + ttl_ms / 1000
        return is_ours

    return renew


def _environ_inside(context: Context, fence: int, held: list[str]) -> dict[str, str]:
    inside = {**context.environ, "LINECLEAR_FENCE": str(fence), "LINECLEAR_RESOURCES": "\n".join(held)}
    if not context.caller.is_person:  # the variable marks agents; a person's command stays a person's
        inside["LINECLEAR_AGENT"] = context.caller.name
    return inside


COMMANDS = {
    "claim": Command(claim, _declare_claim, is_write=True),
    "release": Command(release, _declare_release, is_write=True),
    "who": Command(who, _declare_who),
    "with": Command(with_, _declare_with, wraps_command=True),
}
