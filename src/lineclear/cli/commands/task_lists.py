"""task import, task export: whole lists of tasks as Markdown checklists or JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lineclear.cli.command import Context
from lineclear.cli.inputs import read_input
from lineclear.cli.render import plain

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

MARKDOWN, JSON = "markdown", "json"
FORMATS = (MARKDOWN, JSON)
_ENDINGS = {".json": JSON, ".md": MARKDOWN, ".markdown": MARKDOWN}


def declare_import(parser: ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE", help="a list of tasks; - reads stdin")
    parser.add_argument("--format", choices=FORMATS, help="markdown or json (default: detected)")


def import_(context: Context, args: Namespace) -> None:
    from lineclear.app.task_lists import import_all
    from lineclear.core.tasks.lists import read_json, read_markdown

    text = read_input(args.file, context.cwd)
    format_ = args.format or _guess(args.file, text)
    drafts = read_json(text) if format_ == JSON else read_markdown(text)
    for draft in drafts:
        draft.scope = [resource.text for resource in context.resources(draft.scope)]
        # From the root, wherever the list is read: so an export means the same everywhere.
        draft.produces = produced_paths(context, draft.produces, context.repo.layout.worktree)
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


def produced_paths(context: Context, texts: list[str], start: str) -> list[str]:
    """What was typed, as paths from the root of the repository; a path out of it is refused."""
    return [context.repo.places.locate(text, start, literal=True)[0] or "." for text in texts]


def _guess(name: str, text: str) -> str:
    """By its name, else by how it begins: no checklist begins with a brace or with `[{`."""
    for ending, format_ in _ENDINGS.items():
        if name.lower().endswith(ending):
            return format_
    start = "".join(text[:200].split())
    return JSON if start.startswith(("{", "[{", "[]")) else MARKDOWN


def declare_export(parser: ArgumentParser) -> None:
    parser.add_argument("--format", choices=FORMATS, default=MARKDOWN, help="markdown (default) or json")


def export(context: Context, args: Namespace) -> None:
    from lineclear.app.task_lists import export_all
    from lineclear.core.json_text import canonical
    from lineclear.core.tasks.lists import write_markdown

    drafts, head = context.store.read(lambda view: (export_all(view), view.head))
    data = {"tasks": [draft.as_data() for draft in drafts]}
    text = canonical(data) + "\n" if args.format == JSON else write_markdown(drafts)
    context.out.content(data, text)
    context.delivered(head)
