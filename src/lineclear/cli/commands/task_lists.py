"""task import, task export: whole lists of tasks as Markdown checklists or JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lineclear.app.task_lists import export_all, import_all
from lineclear.cli.command import Command, Context
from lineclear.cli.inputs import read_input
from lineclear.cli.render import plain
from lineclear.core.json_text import canonical
from lineclear.core.tasks.lists import read_json, read_markdown, write_markdown

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

MARKDOWN, JSON = "markdown", "json"
FORMATS = (MARKDOWN, JSON)
_ENDINGS = {".json": JSON, ".md": MARKDOWN, ".markdown": MARKDOWN}


def _declare_import(parser: ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE", help="a list of tasks; - reads stdin")
    parser.add_argument("--format", choices=FORMATS, help="markdown or json (default: detected)")


def import_(context: Context, args: Namespace) -> None:
    text = read_input(args.file, context.cwd)
    format_ = args.format or _guess_format(args.file, text)
    drafts = read_json(text) if format_ == JSON else read_markdown(text)
    for draft in drafts:
        draft.scope = [resource.text for resource in context.resources(draft.scope)]
        # Relative to the root, wherever the list is read: an export means the same everywhere.
        draft.produces = context.paths_from_root(draft.produces, context.repo.layout.worktree)
    answer = import_all(
        context.store, context.caller, drafts, attempts_max=context.repo.settings.tasks_attempts
    )
    lines = [f'{task["id"]} is added: "{plain(task["title"])}"' for task in answer["tasks"]]
    lines += [
        f"maybe the same: {other['id']} and {other['similar_to']}; "
        f"if so, run `lineclear task same {other['id']} {other['similar_to']}`"
        for other in answer["similar"]
    ]
    if answer["left_out"]:
        lines.append(f"{len(answer['left_out'])} already done and left out.")
    context.out.data(answer, *lines or ["The list holds no tasks."])


def _guess_format(name: str, text: str) -> str:
    """Go by the file's name, else by its first characters: no checklist begins with a brace or with `[{`."""
    for ending, format_ in _ENDINGS.items():
        if name.lower().endswith(ending):
            return format_
    start = "".join(text[:200].split())
    return JSON if start.startswith(("{", "[{", "[]")) else MARKDOWN


def _declare_export(parser: ArgumentParser) -> None:
    parser.add_argument("--format", choices=FORMATS, default=MARKDOWN, help="markdown (default) or json")


def export(context: Context, args: Namespace) -> None:
    drafts, head = context.store.read(lambda view: (export_all(view), view.head))
    data = {"tasks": [draft.as_data() for draft in drafts]}
    text = canonical(data) + "\n" if args.format == JSON else write_markdown(drafts)
    context.out.content(data, text)
    context.delivered(head)


COMMANDS = {
    "task import": Command(import_, _declare_import, is_write=True),
    "task export": Command(export, _declare_export),
}
