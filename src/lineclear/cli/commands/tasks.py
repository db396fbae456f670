"""task add, edit, note, list, ready, show, and every move: next, done, fail, cancel, reopen, same.

task_lists.py imports and exports whole lists. `task next` runs often: costly modules that only other verbs
need are imported inside those.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lineclear.app import tasks
from lineclear.app.waiting_for_news import await_task
from lineclear.cli.command import Command, Context
from lineclear.cli.inputs import given_text
from lineclear.cli.parser import duration, task_number, whole_number
from lineclear.cli.render import TextTable, plain, quoted
from lineclear.core.agents.names import task_id
from lineclear.core.instants import show_duration
from lineclear.core.tasks.states import ENDED, FAILED, LEAST_PRIORITY, STATES
from lineclear.core.words.refusals import refuse

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from typing import Any

HOUR_MS = 3_600_000
MOST_ATTEMPTS = 100
# On the command line a state is one word.
STATE_WORDS = {state.replace(" ", "-"): state for state in STATES}
UNFINISHED = tuple(state for state in STATES if state not in ENDED or state == FAILED)


def _declare_task(parser: ArgumentParser) -> None:
    parser.add_argument("task", type=task_number, metavar="TASK", help="T-12, or just 12")


def _declare_several(parser: ArgumentParser, option: str, metavar: str, help_: str) -> None:
    # One value each time: an option that takes several would swallow the title behind it.
    parser.add_argument(option, action="append", metavar=metavar, help=f"{help_} (repeat it for more)")


def _several(values: list[str] | None) -> list[str] | None:
    """The values of a repeated option; a single empty value empties the list of an edited task."""
    return None if values is None else [value for value in values if value]


def _declare_fields(parser: ArgumentParser) -> None:
    parser.add_argument("--body", help="the full description; - reads stdin")
    parser.add_argument(
        "--priority", type=whole_number(0, LEAST_PRIORITY), help="0 (first) to 9 (last) (default: 5)"
    )
    _declare_several(parser, "--scope", "RESOURCE", "what it is expected to touch")
    _declare_several(parser, "--produces", "PATH", "a file or directory that it must produce")
    _declare_several(parser, "--label", "LABEL", "labels to find it by")
    _declare_several(parser, "--needs", "SKILL", "clients or skills that may take it")
    parser.add_argument("--attempts", type=whole_number(1, MOST_ATTEMPTS), help="how many attempts it gets")
    _declare_several(parser, "--after", "TASK", "tasks that must be done before it")


def _fields(context: Context, args: Namespace) -> dict[str, Any]:
    """The fields that were given, checked and in the form that we store."""
    from lineclear.core.tasks.lists import read_fields

    scope, produces = _several(args.scope), _several(args.produces)
    fields = {
        "scope": scope and [resource.text for resource in context.resources(scope)],
        "produces": produces and context.paths_from_root(produces, context.cwd),
        "labels": _several(args.label),
        "needs": _several(args.needs),
        "priority": args.priority,
        "title": args.title,
        "body": None if args.body is None else given_text(args.body),
    }
    given = {name: value for name, value in fields.items() if value is not None}
    draft = read_fields({"title": "-", **given})
    return {name: getattr(draft, name) for name in given}


# -- texts and order --------------------------------------------------------------------------


def _declare_add(parser: ArgumentParser) -> None:
    parser.add_argument("title", metavar="TITLE", help="one line")
    _declare_fields(parser)


def add(context: Context, args: Namespace) -> None:
    from lineclear.core.tasks.lists import TaskDraft

    fields = _fields(context, args)
    draft = TaskDraft("1", fields.pop("title"), after=[task_id(text) for text in args.after or ()], **fields)
    attempts_max = args.attempts or context.repo.settings.tasks_attempts
    answer = tasks.add(context.store, context.caller, draft, attempts_max=attempts_max)
    task = answer["task"]
    lines = [f'{task["id"]} is added: "{plain(task["title"])}"{_replayed(answer)}']
    lines += [
        f'maybe the same: {other["id"]} "{plain(other["title"])}" ({other["state"]}); '
        f"if so, run `lineclear task same {task['id']} {other['id']}`"
        for other in answer["similar"]
    ]
    context.out.data(answer, *lines)


def _declare_edit(parser: ArgumentParser) -> None:
    _declare_task(parser)
    parser.add_argument("--title", help="one line")
    _declare_fields(parser)
    _declare_several(parser, "--not-after", "TASK", "tasks it no longer waits for")


def edit(context: Context, args: Namespace) -> None:
    changes = _fields(context, args)
    if args.attempts is not None:
        changes["attempts_max"] = args.attempts
    after, not_after = args.after or [], args.not_after or []
    if not (changes or after or not_after):
        raise refuse("usage", command="lineclear task edit", message="name what to change")
    answer = tasks.edit(context.store, context.caller, args.task, changes, after=after, not_after=not_after)
    context.out.data(
        answer, f"{answer['task']['id']} was changed{_replayed(answer)}", *_facts(answer["task"])
    )


def _declare_note(parser: ArgumentParser) -> None:
    _declare_task(parser)
    parser.add_argument("text", metavar="TEXT", help="the status update; - reads stdin")


def note(context: Context, args: Namespace) -> None:
    answer = tasks.note(context.store, context.caller, args.task, given_text(args.text))
    context.out.data(answer, f"Noted at {answer['task']['id']}{_replayed(answer)}")


# -- looking ----------------------------------------------------------------------------------


def _declare_list(parser: ArgumentParser) -> None:
    choices = (*STATE_WORDS, "all")
    parser.add_argument(
        "--state", nargs="+", action="extend", choices=choices, metavar="STATE",
        help=f"{', '.join(choices)} (default: all unfinished)",
    )  # fmt: skip
    parser.add_argument("--label", default="", help="only with this label")


def list_(context: Context, args: Namespace) -> None:
    words = list(dict.fromkeys(args.state or ()))
    states = STATES if "all" in words else tuple(STATE_WORDS[word] for word in words) or UNFINISHED
    found, head = context.store.read(
        lambda view: (tasks.list_tasks(view, states=states, label=args.label), view.head)
    )
    context.out.data({"tasks": found}, _table(found, "No matching tasks."))
    context.delivered(head)


def ready(context: Context, _args: Namespace) -> None:
    found, head = context.store.read(lambda view: (tasks.list_ready(view), view.head))
    context.out.data({"tasks": found}, _table(found, "No task can be taken now."))
    context.delivered(head)


def _table(found: list[dict[str, Any]], empty: str) -> TextTable:
    rows = [
        [
            t["id"],
            t["state"],
            t["priority"],
            t["waits_for"] or "",
            t["agent"],
            t["title"],
            t["labels"],
            t["scope"],
        ]
        for t in found
    ]
    return TextTable(
        ["TASK", "STATE", "PRIORITY", "WAITS FOR", "AGENT", "TITLE", "LABELS", "SCOPE"], rows, empty=empty
    )


def show(context: Context, args: Namespace) -> None:
    task, head = context.store.read(lambda view: (tasks.show(view, args.task), view.head))
    lines = [f'{task["id"]} is {task["state"]}: "{plain(task["title"])}"', *_facts(task)]
    lines += [_history_line(entry) for entry in task["notes"]]
    context.out.data(task, *lines)
    context.delivered(head)


def _facts(task: dict[str, Any]) -> list[str]:
    """The fields that are set, one per line; the body is quoted, since somebody else wrote it."""
    lines = [f"  priority {task['priority']}, attempt {task['attempt']} of {task['attempts_max']}"]
    if task["agent"]:
        left = f", {show_duration(task['seconds_left'] * 1000)} left" if "seconds_left" in task else ""
        lines.append(f"  agent: {task['agent']}{left}")
    for name in ("scope", "produces", "labels", "needs", "after", "unblocks", "branch", "same_as"):
        given = task[name]
        if given:
            shown = ", ".join(given) if isinstance(given, list) else given
            lines.append(f"  {name.replace('_', ' ')}: {plain(shown)}")
    if task["reason"]:
        lines.append(f'  reason: "{plain(task["reason"])}"')
    return [*lines, quoted(task["body"])] if task["body"] else lines


def _history_line(entry: dict[str, Any]) -> str:
    known = ("text", "reason", "why", "result", "branch")
    words = next((entry[name] for name in known if entry.get(name)), "")
    head = f"{entry['at']} {entry['by']} {entry['kind']}"
    return f"{head}:\n{quoted(words)}" if words else head


# -- moves ------------------------------------------------------------------------------------


def _declare_next(parser: ArgumentParser) -> None:
    parser.add_argument(
        "task", nargs="?", type=task_number, metavar="TASK", help="take this task instead of the next one"
    )
    # Not `nargs="+"`: it would swallow the task.
    parser.add_argument(
        "--can", action="append", default=[], metavar="SKILL", help="what you can do (repeat for more)"
    )
    parser.add_argument(
        "--lease",
        type=duration(10_000, 24 * HOUR_MS),
        help="how long it stays yours without a sign of life (30m)",
    )
    parser.add_argument(
        "--wait", type=duration(0, 24 * HOUR_MS), default=0, help="wait this long for a task (0)"
    )


def next_(context: Context, args: Namespace) -> None:
    repo, store, caller = context.repo, context.store, context.caller
    number, skills = args.task or 0, frozenset(args.can)
    lease_ms = args.lease or repo.settings.tasks_lease_ms
    if args.wait:
        answer = await_task(
            store, repo.liveness, caller, args.wait, number=number, skills=skills, lease_ms=lease_ms
        )
    else:
        answer = tasks.take(store, repo.liveness, caller, number=number, skills=skills, lease_ms=lease_ms)
    task = answer["task"]
    lines = [f'{task["id"]} is yours: "{plain(task["title"])}"', *_facts(task)]
    if answer["also_yours"]:
        lines.append(f"You also work on {', '.join(answer['also_yours'])}.")
    if answer["crowded"]:
        lines.append(
            "Others work in the same places; look with `lineclear who RESOURCE` before you change anything."
        )
    if answer.get("replayed"):
        lines.append(
            "replayed: " + ("it is still yours." if answer["still_valid"] else "it is no longer yours.")
        )
    context.out.data(answer, *lines)


def _declare_done(parser: ArgumentParser) -> None:
    _declare_task(parser)
    parser.add_argument("--branch", default="", help="the branch with the work, to hand it over")
    parser.add_argument("--result", default="", help="the result; - reads stdin")


def done(context: Context, args: Namespace) -> None:
    def has_branch(name: str) -> bool:
        from lineclear.wiring.queue import tip_of

        return bool(tip_of(context.repo, name))

    answer = tasks.finish(
        context.store, context.caller, args.task, branch=args.branch, result=given_text(args.result),
        has_branch=has_branch,
    )  # fmt: skip
    held = f"Still held for it: {', '.join(answer['still_held'])}." if answer["still_held"] else ""
    _moved(context, answer, held)


def _declare_fail(parser: ArgumentParser) -> None:
    _declare_task(parser)
    parser.add_argument("--reason", required=True, help="the reason, for the next attempt")


def fail(context: Context, args: Namespace) -> None:
    _moved(context, tasks.fail(context.store, context.caller, args.task, args.reason))


def _declare_cancel(parser: ArgumentParser) -> None:
    _declare_task(parser)
    parser.add_argument("--reason", default="", help="why")


def cancel(context: Context, args: Namespace) -> None:
    _moved(context, tasks.cancel(context.store, context.caller, args.task, args.reason))


def _declare_reopen(parser: ArgumentParser) -> None:
    _declare_task(parser)
    parser.add_argument("--why", default="", help="why")


def reopen(context: Context, args: Namespace) -> None:
    _moved(context, tasks.reopen(context.store, context.caller, args.task, args.why))


def _declare_same(parser: ArgumentParser) -> None:
    _declare_task(parser)
    parser.add_argument("other", type=task_number, metavar="OTHER", help="the task that stays open")


def same(context: Context, args: Namespace) -> None:
    _moved(context, tasks.mark_same(context.store, context.caller, args.task, args.other))


def _moved(context: Context, answer: dict[str, Any], more: str = "") -> None:
    task = answer["task"]
    same = f", the same as {task['same_as']}" if task["same_as"] else ""
    context.out.data(
        answer, f"{task['id']} is {task['state']}{same}{_replayed(answer)}", *((more,) if more else ())
    )


def _replayed(answer: dict[str, Any]) -> str:
    return " (replayed)" if answer.get("replayed") else ""


COMMANDS = {
    "task add": Command(add, _declare_add, is_write=True),
    "task list": Command(list_, _declare_list),
    "task ready": Command(ready),
    "task next": Command(next_, _declare_next, is_write=True),
    "task show": Command(show, _declare_task),
    "task edit": Command(edit, _declare_edit, is_write=True),
    "task note": Command(note, _declare_note, is_write=True),
    "task done": Command(done, _declare_done, is_write=True),
    "task fail": Command(fail, _declare_fail, is_write=True),
    "task cancel": Command(cancel, _declare_cancel, is_write=True),
    "task reopen": Command(reopen, _declare_reopen, is_write=True),
    "task same": Command(same, _declare_same, is_write=True),
}
