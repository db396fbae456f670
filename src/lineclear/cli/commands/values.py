"""value get, put, delete, list, history, fork, merge, drop."""

from __future__ import annotations

from json import dumps
from typing import TYPE_CHECKING

from lineclear.app import values
from lineclear.cli.command import Command, Context
from lineclear.cli.inputs import given_text
from lineclear.cli.parser import whole_number
from lineclear.cli.render import TextTable
from lineclear.core.claims.write_rule import fence_from
from lineclear.core.json_text import canonical
from lineclear.core.words.refusals import shorten

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from collections.abc import Callable
    from typing import Any

MOST_NUMBER = 10**15
WIDTH = 60


def _declare_key(parser: ArgumentParser) -> None:
    parser.add_argument("key", metavar="KEY", help="the value's name")


def _declare_copy(parser: ArgumentParser) -> None:
    parser.add_argument("--copy", default="", metavar="COPY", help="use this isolated copy")


def _declare_write(parser: ArgumentParser) -> None:
    number = whole_number(0, MOST_NUMBER)
    parser.add_argument(
        "--version", type=number, metavar="N", help="the version that you read; 0 if it must be new"
    )
    parser.add_argument("--fence", type=number, metavar="N", help="the fence of your claim (LINECLEAR_FENCE)")
    _declare_copy(parser)


# -- reading ----------------------------------------------------------------------------------


def _declare_get(parser: ArgumentParser) -> None:
    _declare_key(parser)
    _declare_copy(parser)


def get(context: Context, args: Namespace) -> None:
    found, head = context.store.read(lambda view: (values.get(view, args.key, copy=args.copy), view.head))
    context.out.data(found, _shown(found["value"]))
    if args.copy:
        context.out.hint(f"copy {args.copy}, based on version {found['base_version']}")
    else:
        context.out.hint(f"version {found['version']}, written by {found['by']}")
    context.delivered(head)


def _shown(value: Any) -> str:
    """JSON that reads back as exactly this value, with invisible characters escaped."""
    return "".join(ch if ch.isprintable() else dumps(ch)[1:-1] for ch in canonical(value))


def list_(context: Context, _args: Namespace) -> None:
    found, copies, head = context.store.read(
        lambda view: (values.list_values(view), values.list_copies(view), view.head)
    )
    rows = [[v["key"], v["version"], v["by"], _short(v["value"])] for v in found]
    lines: list[str | TextTable] = [
        TextTable(["KEY", "VERSION", "BY", "VALUE"], rows, empty="There are no values.")
    ]
    if copies:
        copied = [
            [c["copy"], c["key"], c["base_version"], "yes" if c["changed"] else "no", _short(c["value"])]
            for c in copies
        ]
        lines += ["", TextTable(["COPY", "KEY", "BASE", "CHANGED", "VALUE"], copied)]
    context.out.data({"values": found, "copies": copies}, *lines)
    context.delivered(head)


def _declare_history(parser: ArgumentParser) -> None:
    _declare_key(parser)
    parser.add_argument("--limit", type=whole_number(1, 10_000), default=20, help="how many at most (20)")


def history(context: Context, args: Namespace) -> None:
    versions, head = context.store.read(lambda view: (values.history(view, args.key, args.limit), view.head))
    rows = [
        [v["version"], v["at"], v["by"], "(deleted)" if v["deleted"] else _short(v["value"]), v["position"]]
        for v in versions
    ]
    table = TextTable(["VERSION", "AT", "BY", "VALUE", "EVENT"], rows, empty="It was never written.")
    context.out.data({"key": args.key, "versions": versions}, table)
    context.delivered(head)


def _short(value: Any) -> str:
    return shorten(canonical(value), WIDTH)


# -- writing ----------------------------------------------------------------------------------


def _declare_put(parser: ArgumentParser) -> None:
    _declare_key(parser)
    parser.add_argument("json_text", metavar="JSON", help="the new content; - reads stdin")
    _declare_write(parser)


def put(context: Context, args: Namespace) -> None:
    _write(context, args, values.put, given_text(args.json_text))


def _declare_delete(parser: ArgumentParser) -> None:
    _declare_key(parser)
    _declare_write(parser)


def delete(context: Context, args: Namespace) -> None:
    _write(context, args, values.delete)


def _write(context: Context, args: Namespace, change: Callable[..., dict[str, Any]], *content: str) -> None:
    fence = args.fence
    if fence is None:  # inside `with` it is in the environment
        fence = fence_from(context.environ, values.value_resource(args.key))
    repo = context.repo
    written = change(
        context.store, repo.liveness, context.caller, repo.settings.rules, args.key, *content,
        version=args.version, fence=fence, copy=args.copy,
    )  # fmt: skip
    if args.copy:
        context.out.data(written, f"{args.key} was changed in the copy {args.copy}.")
        return
    what = "was deleted" if written.get("deleted") else f"is now version {written['version']}"
    context.out.data(written, f"{args.key} {what}{' (replayed)' if written.get('replayed') else ''}.")


# -- isolated copies --------------------------------------------------------------------------


def _declare_fork(parser: ArgumentParser) -> None:
    parser.add_argument("copy", metavar="COPY", help="a new name for the copy")
    parser.add_argument("keys", nargs="+", metavar="KEY", help="what to copy")


def fork(context: Context, args: Namespace) -> None:
    made = values.fork(context.store, context.caller, args.copy, args.keys)
    keys = ", ".join(value["key"] for value in made["values"])
    context.out.data(
        made,
        f"The copy {args.copy} holds {keys}.",
        f"Next: `lineclear value put KEY JSON --copy {args.copy}`, then `lineclear value merge {args.copy}`.",
    )


def _declare_one_copy(parser: ArgumentParser) -> None:
    parser.add_argument("copy", metavar="COPY", help="the copy's name")


def merge(context: Context, args: Namespace) -> None:
    answer = values.merge(
        context.store, context.repo.liveness, context.caller, context.repo.settings.rules, args.copy
    )
    lines = [
        f"{v['key']} was deleted." if v.get("deleted") else f"{v['key']} is now version {v['version']}."
        for v in answer["merged"]
    ]
    context.out.data(answer, *lines or ["Nothing changed."], f"The copy {args.copy} has ended.")


def drop(context: Context, args: Namespace) -> None:
    answer = values.drop_copy(context.store, context.caller, args.copy)
    context.out.data(answer, f"The copy {args.copy} was dropped.")


COMMANDS = {
    "value get": Command(get, _declare_get),
    "value put": Command(put, _declare_put, is_write=True),
    "value delete": Command(delete, _declare_delete, is_write=True),
    "value list": Command(list_),
    "value history": Command(history, _declare_history),
    "value fork": Command(fork, _declare_fork, is_write=True),
    "value merge": Command(merge, _declare_one_copy, is_write=True),
    "value drop": Command(drop, _declare_one_copy, is_write=True),
}
