"""mirror, setup conventions: files for agents that can only read files, and our block in AGENTS.md."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lineclear.cli.command import Command
from lineclear.cli.render import TextTable
from lineclear.core.words.refusals import refuse
from lineclear.core.words.row import FINDINGS
from lineclear.mirror.conventions import apply, facts_of, plan, plan_removals, states
from lineclear.mirror.publishing import publish
from lineclear.mirror.state import MirrorState
from lineclear.mirror.switching import publish_with_new_settings, turn_off, turn_on
from lineclear.wiring.mirroring import live_trees, parts_on, root_and_settings

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from typing import Any

    from lineclear.cli.command import Context
    from lineclear.core.agents.conventions import ConventionChange

PARTS = ("tasks", "coordination", "locks")
# Lock files must be asked for by name: other tools may read more into them than they mean.
BY_DEFAULT = ("tasks", "coordination")
LOOK_EVERY_S = 0.4


def _declare_mirror(parser: ArgumentParser) -> None:
    what = parser.add_mutually_exclusive_group()
    what.add_argument(
        "--on", nargs="*", choices=PARTS, metavar="PART", help="keep these: tasks, coordination, locks"
    )
    what.add_argument(
        "--off", nargs="*", choices=PARTS, metavar="PART", help="stop keeping these and remove the files"
    )
    what.add_argument("--now", action="store_true", help="take in edits and rewrite everything")
    what.add_argument("--watch", action="store_true", help="stay running and do so after every change")


def mirror(context: Context, args: Namespace) -> int | None:
    if (args.on is not None or args.off is not None) and not context.caller.is_person:
        raise refuse("person.only", what="choose the files for agents", agent=context.caller.name)
    if args.on is not None:
        return _turn_on(context, tuple(args.on) or BY_DEFAULT)
    if args.off is not None:
        return _turn_off(context, tuple(args.off) or PARTS)
    if args.watch:
        return _watch(context)
    return _now(context) if args.now else _show(context)


def _turn_on(context: Context, parts: tuple[str, ...]) -> int | None:
    chosen = turn_on(context.repo, parts)
    done = publish_with_new_settings(context.cwd, context.environ)
    facts = {"on": list(chosen), "worktrees": done.trees if done else 0}
    lines = [f"Kept from now on: {', '.join(chosen)}, in {_trees(done.trees if done else 0)}."]
    lines += _moved_pages(context)
    context.out.data({**facts, "troubles": done.troubles if done else []}, *lines)
    return None


def _trees(count: int) -> str:
    return "1 worktree" if count == 1 else f"{count} worktrees"


def _moved_pages(context: Context) -> list[str]:
    """Say where our task list is if the repository has its own TASKS.md."""
    return [
        f"{page['tree']}: the repository has its own TASKS.md; ours is {page['where']}"
        for page in _pages(context)
        if page["where"] not in ("", "TASKS.md")
    ]


def _turn_off(context: Context, parts: tuple[str, ...]) -> int | None:
    context.is_mirrored = False
    chosen, ends = turn_off(context.repo, parts)
    still = f"Still kept: {', '.join(chosen)}." if chosen else "No files are kept any more."
    removed = [end.path for end in ends if end.is_removed]
    restored = [end.path for end in ends if end.text is not None]
    stays = [{"path": end.path, "why": end.why} for end in ends if end.why]
    lines = [f"Files removed: {len(removed)}. {still}"]
    lines += [f"{path} was there before lineclear: it has your own text again" for path in restored]
    lines += [f"{row['path']} stays: {row['why']}" for row in stays]
    facts = {"on": list(chosen), "removed": removed, "restored": restored, "kept": stays}
    context.out.data(facts, *lines)
    return None


def _now(context: Context) -> int | None:
    _refuse_off(context)
    done = publish(context.repo, is_forced=True)
    if done is None:
        raise refuse(
            "usage", command="lineclear mirror", message="another process is writing the files right now"
        )
    lines = [f"{_trees(done.trees)} at position {done.head}; edits taken in: {done.edits}."]
    facts = {"head": done.head, "worktrees": done.trees, "edits": done.edits, "troubles": done.troubles}
    context.out.data(facts, *lines, *done.troubles)
    return None


def _watch(context: Context) -> int | None:
    _refuse_off(context)
    context.out.hint("Watching; press Ctrl-C to stop.")
    with context.store.listen() as bell:
        while True:
            done = publish(context.repo)
            if done is not None and done.edits:
                facts = {"head": done.head, "edits": done.edits}
                context.out.stream(facts, f"Edits taken in: {done.edits}; now at position {done.head}.")
            bell.wait(LOOK_EVERY_S)


def _refuse_off(context: Context) -> None:
    if not parts_on(context.repo.settings):
        raise refuse(
            "usage",
            command="lineclear mirror",
            message="no files are kept here; turn this on with --on first",
        )


def _pages(context: Context) -> list[dict[str, Any]]:
    with MirrorState(context.repo.state_directory, 1.0) as state:
        found = [(tree, state.base(tree.name)) for tree in live_trees(context.repo)]
    return [
        {"tree": tree.name, "path": tree.path, "where": base.where if base is not None else "",
         "page": base.page if base is not None else 0}
        for tree, base in found
    ]  # fmt: skip


def _show(context: Context) -> int | None:
    on = parts_on(context.repo.settings)
    pages = _pages(context) if on else []
    words = (
        f"Kept here: {', '.join(on)}." if on else "No files for agents are kept. Next: lineclear mirror --on"
    )
    rows = [[page["tree"], page["where"], page["page"], page["path"]] for page in pages]
    table = [TextTable(["TREE", "TASKS", "PAGE", "PATH"], rows)] if rows else []
    context.out.data({"on": list(on), "worktrees": pages}, words, *table)
    return None


# -- what AGENTS.md says ----------------------------------------------------------------------


def _declare_conventions(parser: ArgumentParser) -> None:
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--check", action="store_true", help="only check whether the files are up to date")
    what.add_argument("--remove", action="store_true", help="remove exactly what was added")
    parser.add_argument("--dry-run", action="store_true", help="only show what would change")
    parser.add_argument("--force", action="store_true", help="also overwrite a block that was edited by hand")


def conventions(context: Context, args: Namespace) -> int | None:
    root, settings = root_and_settings(context.cwd, context.environ)
    facts = facts_of(settings)
    if args.check:
        return _check(context, states(root, facts))
    changes = plan_removals(root, force=args.force) if args.remove else plan(root, facts, force=args.force)
    if not args.dry_run:
        apply(root, changes)
    needed = [change for change in changes if change.is_needed]
    lines = [f"{change.path}: {change.what}" for change in needed] or ["Nothing to change."]
    if args.dry_run and needed and not args.remove:
        lines += ["", *_block_lines(needed)]
    steps = [{"path": change.path, "state": change.state, "what": change.what} for change in needed]
    context.out.data({"steps": steps, "dry_run": args.dry_run}, *lines)
    return None


def _block_lines(changes: list[ConventionChange]) -> list[str]:
    """The block as it would stand in AGENTS.md."""
    text = next((change.text for change in changes if change.path == "AGENTS.md"), None) or ""
    _, begin, rest = text.partition("<!-- lineclear:begin")
    return (begin + rest).splitlines() if begin else []


def _check(context: Context, found: dict[str, str]) -> int:
    lines = [f"{name}: {state}" for name, state in found.items()]
    is_current = all(state == "current" for state in found.values())
    if not is_current:
        lines.append("Next: lineclear setup conventions")
    context.out.data({"files": found, "is_current": is_current}, *lines)
    return 0 if is_current else FINDINGS


COMMANDS = {
    "mirror": Command(mirror, _declare_mirror),
    "setup conventions": Command(conventions, _declare_conventions),
}
