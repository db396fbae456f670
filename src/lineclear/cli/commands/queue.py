"""The queue: list, show, checks, run, approve, reject, hold, move, drop, retry, pause, resume."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lineclear.app.queue import candidates as queue
from lineclear.app.queue.overview import explain
from lineclear.cli.command import Command, Context
from lineclear.cli.parser import candidate_number
from lineclear.cli.queue_output import as_data, check_lines, list_lines, show_lines
from lineclear.cli.render import plain
from lineclear.core.queue.candidates import show_number
from lineclear.core.queue.landing_results import tell_conflict
from lineclear.core.words.refusals import Refusal, refuse
from lineclear.host.stop_signals import Stopping
from lineclear.wiring import queue as wired
from lineclear.wiring.checks import settings_in_force

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from typing import Any

    from lineclear.app.queue.runner import QueueNews

MOST_ENDED = 50
INTERRUPTED = 130


# -- look -----------------------------------------------------------------------------------------


def _declare_list(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--all", action="store_true", help=f"also show the newest {MOST_ENDED} that have ended"
    )


def list_(context: Context, args: Namespace) -> None:
    facts = wired.landings_of(context.repo).overview(ended=MOST_ENDED if args.all else 0)
    data = {
        **facts,
        "candidates": [as_data(found) for found in facts["candidates"]],
        "ended": [as_data(found) for found in facts["ended"]],
    }
    context.out.data(data, *list_lines(facts, with_ended=args.all))


def _declare_number(parser: ArgumentParser) -> None:
    parser.add_argument("number", type=candidate_number, metavar="N", help="the candidate: 7 or Q-7")


def _declare_show(parser: ArgumentParser) -> None:
    _declare_number(parser)
    parser.add_argument("--diff", action="store_true", help="show what it changes on main, as it would land")


def show(context: Context, args: Namespace) -> int:
    review = settings_in_force(context.repo).queue_review
    found = context.store.read(lambda view: explain(view, args.number, review))
    data = {**as_data(found), "history": [as_data(item) for item in found["history"]]}
    if args.diff:
        return _show_diff(context, args.number, data)
    context.out.data(data, *show_lines(found))
    return 0


def _show_diff(context: Context, number: int, data: dict[str, Any]) -> int:
    change = wired.landings_of(context.repo).change_of(number)
    for conflict in change.conflicts:
        context.out.warn(f"it conflicts with the current main: {tell_conflict(conflict)}")
    if context.out.is_rich:
        context.out.flush()
        return wired.show_change(context.repo, change)
    patch = wired.patch_of(context.repo, change)
    context.out.content({**data, "conflicts": change.conflicts, "patch": patch}, patch)
    return 0


def checks(context: Context, args: Namespace) -> None:
    del args
    found = context.store.read(queue.check_records)
    context.out.data({"checks": found}, *check_lines(found))


# -- run ------------------------------------------------------------------------------------------


def _declare_run(parser: ArgumentParser) -> None:
    parser.add_argument("--once", action="store_true", help="stop when nothing more can be done")


def run(context: Context, args: Namespace) -> int:
    """Print news as it happens; after a stop, the next run continues from the log."""
    told: list[dict[str, str]] = []
    context.warn_of_idle_settings()  # not refused: a candidate may bring the missing gate
    _greet(context, is_once=args.once)

    def tell(news: QueueNews) -> None:
        item = {"candidate": show_number(news.candidate), "kind": news.kind, "text": news.text}
        told.append(item)
        if not (args.once and context.out.is_json):
            context.out.stream(item, f"{item['candidate']} {news.kind}: {plain(news.text)}")
            context.publish()

    with Stopping() as stopping:
        landings = wired.landings_of(context.repo)
        work = landings.run_once if args.once else landings.run
        try:
            work(context.caller, tell=tell, is_over=stopping.is_asked)
        except Refusal as refusal:
            # Ctrl-C also reaches the git processes that we started: their failure is expected.
            if refusal.code != "git.failed" or not stopping.is_asked():
                raise
        is_stopped = stopping.is_asked()
        if is_stopped:
            context.out.hint("Stopped. Nothing is lost: `lineclear queue run` continues from here.")
        if args.once:  # also after a stop: say what was done
            _sum_up(context, told, is_stopped=is_stopped)
    return INTERRUPTED if is_stopped else 0


def _greet(context: Context, *, is_once: bool) -> None:
    """Refuse `--once` on a paused queue; otherwise say that the run waits for it to be resumed."""
    state, who, why = context.store.read(queue.state)
    if state == queue.PAUSED:
        if is_once:
            raise refuse("queue.paused", agent=who, why=why)
        context.out.hint(str(refuse("queue.paused", agent=who, why=why)))
    elif not is_once:
        context.out.hint("The queue is running; Ctrl-C stops it, and the next run continues.")


def _sum_up(context: Context, told: list[dict[str, str]], *, is_stopped: bool) -> None:
    facts = wired.landings_of(context.repo).overview()
    waiting = [{"candidate": row["candidate"], "waits_for": row["waits_for"]} for row in facts["candidates"]]
    counts = [f"{sum(item['kind'] == kind for item in told)} {kind}" for kind in ("landed", "sent back")]
    still = f"{len(waiting)} still waiting" + (": see `lineclear queue list`" if waiting else "")
    context.out.data(
        {"events": told, "waiting": waiting, "is_stopped": is_stopped}, f"{', '.join(counts)}, {still}."
    )


# -- decide ---------------------------------------------------------------------------------------


def _declare_review(parser: ArgumentParser) -> None:
    _declare_number(parser)
    parser.add_argument("--note", default="", metavar="TEXT", help="a note for its author")


def approve(context: Context, args: Namespace) -> None:
    _review(context, args, is_good=True)


def reject(context: Context, args: Namespace) -> None:
    _review(context, args, is_good=False)


def _review(context: Context, args: Namespace, *, is_good: bool) -> None:
    row = context.store.read(lambda view: queue.known(view, args.number))
    found = queue.review(
        context.store, context.caller, args.number, is_good=is_good, note=args.note, tip=row.tip,
        by_agents=settings_in_force(context.repo).queue_review == "agent",
    )  # fmt: skip
    name = f"{found['candidate']} ({plain(found['branch'])} at {row.tip[:12]})"
    words = f"{name} was approved." if is_good else f"{name} was rejected and goes back to its author."
    _answer(context, {**found, "tip": row.tip}, words)


def _declare_why(parser: ArgumentParser) -> None:
    _declare_number(parser)
    parser.add_argument("--why", default="", metavar="TEXT", help="the reason, shown to others")


def hold(context: Context, args: Namespace) -> None:
    found = queue.hold(context.store, context.caller, args.number, args.why)
    name = found["candidate"]
    _answer(context, found, f"{name} is held. `lineclear queue retry {name}` releases it.")


def drop(context: Context, args: Namespace) -> None:
    found = queue.drop(context.store, context.caller, args.number, args.why)
    _answer(context, found, f"{found['candidate']} was dropped; the branch {plain(found['branch'])} stays.")


def retry(context: Context, args: Namespace) -> None:
    found = queue.retry(context.store, context.caller, args.number)
    _answer(context, found, f"{found['candidate']} will be tried again.")


def _declare_move(parser: ArgumentParser) -> None:
    _declare_number(parser)
    where = parser.add_mutually_exclusive_group(required=True)
    where.add_argument(
        "--before", type=candidate_number, default=0, metavar="M", help="directly before this one"
    )
    where.add_argument("--first", action="store_true", help="before all others")
    where.add_argument("--last", action="store_true", help="after all that wait now")


def move(context: Context, args: Namespace) -> None:
    before = args.before
    if args.first:
        order = context.store.read(queue.in_line)
        before = next((row.id for row in order if row.id != args.number), 0)
    found = queue.move(context.store, context.caller, args.number, before=before)
    _answer(context, found, f"The order is now {', '.join(found['order'])}")


def _declare_pause(parser: ArgumentParser) -> None:
    parser.add_argument("--why", default="", metavar="TEXT", help="the reason, shown to others")


def pause(context: Context, args: Namespace) -> None:
    found = queue.pause(context.store, context.caller, args.why)
    _answer(context, found, "The queue is paused: nothing lands until you run `lineclear queue resume`.")


def resume(context: Context, args: Namespace) -> None:
    del args
    _answer(context, queue.resume(context.store, context.caller), "The queue is running again.")


def _answer(context: Context, found: dict[str, Any], words: str) -> None:
    context.out.data(as_data(found), words)


COMMANDS = {
    "queue list": Command(list_, _declare_list),
    "queue show": Command(show, _declare_show),
    "queue checks": Command(checks),
    "queue run": Command(run, _declare_run),
    "queue approve": Command(approve, _declare_review, is_write=True),
    "queue reject": Command(reject, _declare_review, is_write=True),
    "queue hold": Command(hold, _declare_why, is_write=True),
    "queue move": Command(move, _declare_move, is_write=True),
    "queue drop": Command(drop, _declare_why, is_write=True),
    "queue retry": Command(retry, _declare_number, is_write=True),
    "queue pause": Command(pause, _declare_pause, is_write=True),
    "queue resume": Command(resume, is_write=True),
}
