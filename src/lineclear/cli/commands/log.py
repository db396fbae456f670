"""log, audit."""

from __future__ import annotations

from json import dumps
from typing import TYPE_CHECKING

from lineclear.app.log import MOST_SEARCHED, is_cut, order_of, tail
from lineclear.app.log import audit as run_audit
from lineclear.app.waiting_for_news import follow
from lineclear.cli.command import Command, Context
from lineclear.cli.parser import whole_number
from lineclear.cli.render import TextTable, plain
from lineclear.core.durations import parse_duration
from lineclear.core.log.causality import AFTER, BEFORE, CONCURRENT, SAME
from lineclear.core.words.refusals import shorten
from lineclear.core.words.row import FINDINGS

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from typing import Any

    from lineclear.app.ports import View

MOST_POSITION = 10**18 - 1
NEWEST, SINCE = 50, 1_000
# Bookkeeping of the engine: shown in JSON, of no use on a line.
_HIDDEN = frozenset(("bond", "id", "node", "resource", "ttl_ms", "until_ns"))
_RELATIONS = {
    BEFORE: "event {} happened before event {}",
    AFTER: "event {} happened after event {}",
    CONCURRENT: "event {} and event {} are concurrent",
    SAME: "event {} and event {} are the same",
}


def _since(text: str) -> tuple[int | None, int]:
    """(position, milliseconds): a bare number is a log position, everything else a duration."""
    if text.isascii() and text.isdigit():
        return whole_number(0, MOST_POSITION)(text), 0

    return None, parse_duration(text, least_ms=1)


def _declare_log(parser: ArgumentParser) -> None:
    position = whole_number(1, MOST_POSITION)
    parser.add_argument("-f", "--follow", action="store_true", help="keep printing new events")
    parser.add_argument(
        "--since",
        type=_since,
        default=(None, 0),
        metavar="AGE|POSITION",
        help="from this long ago (1h), or after an event",
    )
    parser.add_argument("--agent", default="", help="only events of this agent")
    parser.add_argument(
        "--kind", default="", help="only kinds that begin with this, such as claim or TaskTaken"
    )
    parser.add_argument("--subject", default="", help="only about this subject, such as T-3 or file:src/a.py")
    parser.add_argument("--limit", type=position, help=f"how many at most ({NEWEST}; {SINCE} with --since)")
    parser.add_argument(
        "--before", type=position, nargs=2, metavar=("E1", "E2"), help="tell which of two events came first"
    )


def log(context: Context, args: Namespace) -> None:
    if args.before:
        _compare(context, *args.before)
        return
    events, head, is_partial = _first(context, args)
    if is_partial:
        context.out.warn(
            f"only the newest {MOST_SEARCHED:,} events were searched; `--since 0` begins with the first event"
        )
    if args.follow:
        _follow(context, args, events, head)
        return
    rows = [[e["position"], e["at"], e["actor"], e["kind"], e["subject"], _detail(e["body"])] for e in events]
    table = TextTable(["EVENT", "AT", "BY", "KIND", "ABOUT", "DETAILS"], rows, empty="No matching events.")
    context.out.data({"events": events, "head": head}, table)
    context.delivered(head)


def _first(context: Context, args: Namespace) -> tuple[list[dict[str, Any]], int, bool]:
    """(the events, the head of the log, whether older events were not searched)."""
    after, age_ms = args.since
    is_since = after is not None or age_ms > 0
    limit = args.limit or (SINCE if is_since else NEWEST)
    is_search = bool(args.kind or args.agent) and not (is_since or args.subject)

    def look(view: View) -> tuple[list[dict[str, Any]], int, bool]:
        since_ns = view.now.wall_ns - age_ms * 1_000_000 if age_ms else 0
        events = tail(
            view, after=after, since_ns=since_ns, agent=args.agent, kind=args.kind, subject=args.subject,
            limit=limit,
        )  # fmt: skip
        return events, view.head, is_search and is_cut(view, len(events), limit)

    return context.store.read(look)


def _follow(context: Context, args: Namespace, events: list[dict[str, Any]], head: int) -> None:
    """Print the events that are there, then new ones as they come, each once."""
    after, _ = args.since
    if after is not None and events:
        head = events[-1]["position"]  # a limit may have cut the rest off
    _stream(context, events, head)
    for more, position in follow(context.store, head, agent=args.agent, kind=args.kind, subject=args.subject):
        _stream(context, more, position)


def _stream(context: Context, events: list[dict[str, Any]], position: int) -> None:
    for event in events:
        context.out.stream(event, _line(event))
    context.delivered(position)


def _line(event: dict[str, Any]) -> str:
    parts = [
        str(event["position"]),
        event["at"],
        event["actor"],
        event["kind"],
        event["subject"],
        _detail(event["body"]),
    ]
    return plain("  ".join(part for part in parts if part))


def _detail(body: dict[str, Any]) -> str:
    shown = [
        f"{name}={_shown(value)}"
        for name, value in body.items()
        if name not in _HIDDEN and value not in ("", [], 0)
    ]
    return shorten(" ".join(shown), 120)


def _shown(value: Any) -> str:
    """Quote texts, so that they cannot look like a field of ours."""
    if isinstance(value, str) and value.isalnum():
        return value
    return shorten(dumps(value, ensure_ascii=False), 60)


def _compare(context: Context, first: int, second: int) -> None:
    answer = context.store.read(lambda view: order_of(view, first, second))
    context.out.data(answer, _RELATIONS[answer["relation"]].format(first, second))


def audit(context: Context, _args: Namespace) -> int:
    answer = run_audit(context.store)
    findings = answer["findings"]
    count = f"{answer['events']} events"
    if not findings:
        context.out.data(answer, f"{count}: the log and the tables agree")
        return 0
    rows = [[found["position"] or "", found["kind"], found["text"]] for found in findings]
    lines: list[str | TextTable] = [f"{count}: {len(findings) + answer['missed']} findings"]
    lines.append(TextTable(["EVENT", "FINDING", "WHAT"], rows))
    context.out.data(answer, *lines)
    return FINDINGS


COMMANDS = {"log": Command(log, _declare_log), "audit": Command(audit)}
