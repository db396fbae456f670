"""merge-file, merge-tree, setup git-merge: the merge engine without a store, with exit codes for git.

Git starts `merge-file` once for each conflicted file: costly modules that only the others
need are imported inside those.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from lineclear.app.queue.conflict_sides import add_sides_to_report
from lineclear.app.queue.lock_making import notes_of
from lineclear.app.queue.merge_trees import result_data
from lineclear.app.setup.applying import apply_setup
from lineclear.app.setup.planning import MERGE_DRIVER, plan_install, plan_remove
from lineclear.cli.command import Command, Context
from lineclear.core.queue.conflict_sides import tell_sides
from lineclear.core.words.refusals import refuse
from lineclear.core.words.row import FINDINGS
from lineclear.merge.result import Labels
from lineclear.merge.rule_reasons import why
from lineclear.wiring.merging import merging_at, touches_at

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from typing import Any


CONFLICTS = 1


def _declare_file(parser: ArgumentParser) -> None:
    parser.add_argument("base", metavar="BASE", help="the common ancestor; an empty file if there is none")
    parser.add_argument("left", metavar="LEFT")
    parser.add_argument("right", metavar="RIGHT")
    parser.add_argument(
        "--path", metavar="PATH", default="", help="the file's path in the repository: decides the rules"
    )
    parser.add_argument(
        "-o", dest="target", metavar="OUT", default="", help="write the result here, not to stdout"
    )
    parser.add_argument(
        "--explain", action="store_true", help="show for each place which rule resolved it, or why none did"
    )
    parser.add_argument(
        "-L", dest="labels", metavar="NAME", action="append", default=[], help="names for left, base, right"
    )


def merge_file(context: Context, args: Namespace) -> int:
    base, left, right = (os.path.join(context.cwd, name) for name in (args.base, args.left, args.right))
    names = [*args.labels, *("ours", "base", "theirs")[len(args.labels) :]]
    labels = Labels(names[0], names[1], names[2])
    merging = merging_at(context.cwd)
    result, encoding = merging.merge_files(base, left, right, path=args.path or args.left, labels=labels)
    data: dict[str, Any] = {"clean": result.is_clean, **result_data(result)}
    if args.target:
        _write(os.path.join(context.cwd, args.target), result.text.encode(encoding))
    elif encoding != "utf-8":
        raise refuse(
            "input.bad",
            name="file",
            given=args.left,
            why="it is not UTF-8; name a file for the result with -o",
        )
    if args.explain:
        for line in explain(data):
            context.out.hint(line)
    if args.target:
        context.out.data(data)
    else:
        context.out.content({**data, "text": result.text}, result.text)
    return 0 if result.is_clean else CONFLICTS


def _write(path: str, content: bytes) -> None:
    """Write in place, not by renaming: git gives a driver the name of a temporary file and keeps its mode."""
    try:
        with open(path, "wb") as file:
            file.write(content)
    except OSError as error:
        raise refuse("input.bad", name="file", given=path, why=os.strerror(error.errno or 0)) from error


def explain(data: dict[str, Any]) -> list[str]:
    lines = [f"{row['where']}: {row['rule']}: {why(row['rule'])}" for row in data["rules"]]
    for row in data["conflicts"]:
        place = f"lines {row['first_line']}-{row['last_line']}: " if "first_line" in row else ""
        symbols = f" ({', '.join(row['symbols'])})" if row.get("symbols") else ""
        lines.append(f"{place}conflict, {row['kind']}{symbols}: {row.get('doubt') or 'no rule resolves it'}")
    return lines


def _declare_tree(parser: ArgumentParser) -> None:
    parser.add_argument("base", metavar="BASE-ISH", help="the commit or tree that both started from")
    parser.add_argument("left", metavar="A")
    parser.add_argument("right", metavar="B")
    parser.add_argument("--explain", action="store_true", help="also show which rule resolved each place")
    parser.add_argument(
        "--regenerate",
        action="store_true",
        help="let package managers regenerate lock files that both sides changed",
    )


def merge_tree(context: Context, args: Namespace) -> int:
    maker = None
    if args.regenerate:
        from lineclear.wiring.lock_making import lock_maker_by_hand

        maker = lock_maker_by_hand(context.environ)
    report = merging_at(context.cwd).merge_tree(args.base, args.left, args.right, maker)
    if not report["clean"]:
        touches = touches_at(context.cwd)
        add_sides_to_report(touches, report, args.left, args.right, lambda: context.opened.store)
    lines, names = [report["tree"]], (_shown(args.left), _shown(args.right))
    for file in report["files"]:
        lines.append(f"{'merged  ' if file['clean'] else 'conflict'}  {file['path']}")
        if args.explain or not file["clean"]:
            lines += [f"          {line}" for line in (*explain(file), *tell_sides(file, names))]
    lines += [f"renamed   {row['from']} -> {row['to']}" for row in report["renames"]]
    for finding in report["findings"]:
        lines.append(f"{finding['kind']}  {finding['text']}")
        lines += [f"          {line}" for line in tell_sides(finding, names)]
    lines += [f"lock file  {note}" for note in notes_of(report)]
    lines += [f"then run  {command}" for command in report["commands"]]
    context.out.data(report, *lines)
    return 0 if report["clean"] else CONFLICTS


def _shown(name: str) -> str:
    """The name as given; a commit id is cut to 12 characters."""
    is_id = len(name) in (40, 64) and not set(name) - set("0123456789abcdef")
    return name[:12] if is_id else name


def _declare_setup(parser: ArgumentParser) -> None:
    how = parser.add_mutually_exclusive_group()
    how.add_argument("--check", action="store_true", help="let git merge in a scratch repository with it")
    how.add_argument("--remove", action="store_true", help="remove everything again")
    parser.add_argument("--dry-run", action="store_true", help="only show what would change")


def setup(context: Context, args: Namespace) -> int:
    from lineclear.wiring.setup import check_setup, open_clone

    clone = open_clone(context.cwd, context.environ)
    if args.check:
        result = check_setup(clone, MERGE_DRIVER)
        context.out.data(result, *result["lines"])
        return 0 if result["state"] == "fired" else FINDINGS
    planned = plan_remove(clone, MERGE_DRIVER) if args.remove else plan_install(clone, MERGE_DRIVER)
    if not args.dry_run:
        apply_setup(planned)
    steps = planned.steps()
    context.out.data({"steps": steps, "dry_run": args.dry_run}, *steps or ("Nothing to change.",))
    return 0


COMMANDS = {
    "setup git-merge": Command(setup, _declare_setup),
    "merge-file": Command(merge_file, _declare_file),
    "merge-tree": Command(merge_tree, _declare_tree),
}
