"""propose, proposal list, show, accept, reject.

Only a proposal for a file needs git and the queue, which take a tenth of a second to load.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lineclear.app import proposals
from lineclear.cli.command import Command, Context
from lineclear.cli.inputs import given_text, read_input
from lineclear.cli.parser import task_number, whole_number
from lineclear.cli.render import TextTable, plain, quoted
from lineclear.core.json_text import canonical
from lineclear.core.queue.phases import INTEGRATE
from lineclear.core.values.file_changes import read_change
from lineclear.core.words.refusals import refuse, shorten

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from typing import Any

    from lineclear.core.claims.resources import Resource
    from lineclear.core.values.file_changes import FileChange

STATES = ("open", "accepted", "rejected", "superseded", "all")
MOST_NUMBER = 10**15


def _declare_propose(parser: ArgumentParser) -> None:
    parser.add_argument("resource", metavar="RESOURCE", help="the resource to change")
    parser.add_argument(
        "payload", metavar="JSON", nargs="?", help="the change; for a value, its new content; - reads stdin"
    )
    parser.add_argument("--file", metavar="PATH", help="for a file: its new content; - reads stdin")
    parser.add_argument("--text", help="for a file: its new content as an argument")
    parser.add_argument(
        "--patch", metavar="PATH", help="for a file: a patch against main's version; - reads stdin"
    )
    parser.add_argument("--remove", action="store_true", help="for a file: remove it")
    parser.add_argument(
        "--task", type=task_number, default=0, metavar="T", help="the task it is for (your own)"
    )
    parser.add_argument("--note", default="", help="why")
    parser.add_argument(
        "--version", type=whole_number(0, MOST_NUMBER), help="the version it is based on (the newest)"
    )
    parser.add_argument(
        "--supersedes",
        type=whole_number(1, MOST_NUMBER),
        default=0,
        metavar="N",
        help="your earlier proposal that it replaces",
    )


def propose(context: Context, args: Namespace) -> None:
    resource = context.repo.resource(args.resource, context.cwd)
    answer = proposals.propose(
        context.store,
        context.caller,
        context.repo.settings.rules,
        resource,
        _payload(context, args, resource),
        note=args.note,
        version=args.version,
        supersedes=args.supersedes,
    )
    made = answer["proposal"]
    what = _what_follows(answer, context.caller.name)
    context.out.data(answer, f"Proposal {made['id']} for {made['resource']} was created. {what}")


def _payload(context: Context, args: Namespace, resource: Resource) -> str:
    ways = (args.payload, args.file, args.text, args.patch, args.remove or None)
    if sum(way is not None for way in ways) != 1:
        raise refuse(
            "usage",
            command="lineclear propose",
            message="give one of JSON, --file, --text, --patch and --remove",
        )
    if args.payload is not None:
        return given_text(args.payload)
    from lineclear.app.file_proposals import file_payload
    from lineclear.wiring.queue import main_files_of

    text = read_input(args.file, context.cwd, "propose") if args.file is not None else args.text
    patch = read_input(args.patch, context.cwd, "propose") if args.patch is not None else ""
    task = args.task or context.own_task
    files = main_files_of(context.repo)
    return file_payload(context.store, files, context.caller, resource, text=text, patch=patch, task=task)


def _what_follows(answer: dict[str, Any], me: str) -> str:
    owner = answer["owner"]
    if answer["bound"] == INTEGRATE:
        when = "the next time a person starts" if answer["phase"] == INTEGRATE else "when a person starts"
        return f"It will be integrated {when} the integrate phase."
    if owner == me:
        return "You own it: accept it yourself."
    return f"{owner} decides and has been notified." if owner else "It has no owner now; a person may decide."


def _declare_list(parser: ArgumentParser) -> None:
    parser.add_argument("--resource", default="", help="only for this resource")
    parser.add_argument(
        "--state", choices=STATES, default="open", help="open (default), accepted, ..., or all"
    )


def list_(context: Context, args: Namespace) -> None:
    resource = context.repo.resource(args.resource, context.cwd).text if args.resource else ""
    found, head = context.store.read(
        lambda view: (proposals.list_proposals(view, resource=resource, state=args.state), view.head)
    )
    columns = ["NUMBER", "STATE", "RESOURCE", "BY", "BASE", "PAYLOAD", "NOTE"]
    table = TextTable(columns, [_row(proposal) for proposal in found], empty="No matching proposals.")
    context.out.data({"proposals": found}, table)
    context.delivered(head)


def _row(found: dict[str, Any]) -> list[Any]:
    change = read_change(found["payload"])
    payload = canonical(found["payload"]) if change is None else _what_changes(change)
    words = [shorten(payload, 60), shorten(found["note"], 40)]
    return [found[name] for name in ("id", "state", "resource", "author", "base_version")] + words


def _declare_number(parser: ArgumentParser) -> None:
    parser.add_argument(
        "number", type=whole_number(1, MOST_NUMBER), metavar="N", help="the proposal's number"
    )


def show(context: Context, args: Namespace) -> None:
    found, head = context.store.read(lambda view: (proposals.show(view, args.number), view.head))
    context.out.data(found, *_lines(found))
    context.delivered(head)


def _lines(found: dict[str, Any]) -> list[str]:
    lines = [
        f"proposal {found['id']} for {found['resource']} is {found['state']}",
        f"made by {found['author']}, based on version {found['base_version']}",
        *_payload_lines(found["payload"]),
    ]
    if found["note"]:
        lines += ["note:", quoted(found["note"])]
    if found["decided_by"]:
        why = f': "{plain(found["reason"])}"' if found["reason"] else ""
        lines.append(f"decided by {found['decided_by']}{why}")
    return lines


def _payload_lines(payload: object) -> list[str]:
    change = read_change(payload)
    if change is None:
        return [quoted(canonical(payload))]
    made_from = f"made from main at {change.commit[:12]}" + (f", for T-{change.task}" if change.task else "")
    what = f"{_what_changes(change)} ({made_from})"
    return [what] if change.text is None else [f"{what}:", quoted(change.text)]


def _what_changes(change: FileChange) -> str:
    if change.text is None:
        return "the file is removed"
    return "new content" if change.blob else "new file"


def accept(context: Context, args: Namespace) -> None:
    answer = proposals.accept(
        context.store, context.repo.liveness, context.caller, context.repo.settings.rules, args.number
    )
    made, version = answer["proposal"], answer["version"]
    written = f"; {made['resource']} is now version {version}" if version else ""
    context.out.data(answer, f"Proposal {made['id']} of {made['author']} was accepted{written}.")


def _declare_reject(parser: ArgumentParser) -> None:
    _declare_number(parser)
    parser.add_argument("--reason", required=True, help="the reason, sent to its author")


def reject(context: Context, args: Namespace) -> None:
    answer = proposals.reject(
        context.store, context.caller, context.repo.settings.rules, args.number, args.reason
    )
    made = answer["proposal"]
    context.out.data(answer, f"Proposal {made['id']} of {made['author']} was rejected.")


COMMANDS = {
    "propose": Command(propose, _declare_propose, is_write=True),
    "proposal list": Command(list_, _declare_list),
    "proposal show": Command(show, _declare_number),
    "proposal accept": Command(accept, _declare_number, is_write=True),
    "proposal reject": Command(reject, _declare_reject, is_write=True),
}
