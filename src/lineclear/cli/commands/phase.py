"""phase: show the current phase and its progress, or start another one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lineclear.cli.command import Command, Context
from lineclear.cli.queue_output import phase_line
from lineclear.cli.render import TextTable, plain
from lineclear.core.queue.phases import INTEGRATE, PARALLEL, PHASES, TEST
from lineclear.core.words.row import FINDINGS
from lineclear.wiring.phases import phase_work_of

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from typing import Any

_FEW = 10


def _declare(parser: ArgumentParser) -> None:
    parser.add_argument(
        "phase",
        nargs="?",
        choices=PHASES,
        help="start or continue this phase (default: show the current one)",
    )
    parser.add_argument("--note", default="", help="the reason, shown to everybody")


def phase(context: Context, args: Namespace) -> int:
    work = phase_work_of(context.repo)
    if args.phase is None:
        work.settle()
        shown = work.show()
        context.out.data(shown, *_show_lines(shown))
        return 0
    answer = work.begin(context.caller, args.phase, note=args.note, tell=context.out.hint)
    context.out.data(answer, *_begin_lines(answer))
    is_red = answer["test"] is not None and answer["test"]["result"] != "green"
    return FINDINGS if is_red else 0


# -- show -----------------------------------------------------------------------------------------


def _show_lines(shown: dict[str, Any]) -> list[str | TextTable]:
    lines: list[str | TextTable] = [phase_line(shown)]
    if shown["bound"]:
        rows = [
            [bound["resource"], bound["phase"], bound["owner"] or "integrator", len(bound["proposals"])]
            for bound in shown["bound"]
        ]
        lines.append(TextTable(["RESOURCE", "WRITTEN IN", "BY", "OPEN PROPOSALS"], rows))
    else:
        lines.append("Nothing is bound to a phase: lineclear.toml has no [[strategy]] with `phase`.")
    return lines + _progress_lines(shown["phase"], shown["progress"])


def _progress_lines(phase: str, progress: dict[str, int]) -> list[str]:
    if phase == INTEGRATE:
        told = f"{progress['accepted']} accepted, {progress['rejected']} rejected, {progress['queued']} in "
        lines = [f"proposals: {told}the queue, {progress['undecided']} undecided"]
        if progress["queued"]:
            return [*lines, "Next: run `lineclear queue run --once`."]
        left = progress["undecided"]
        return [*lines, f"Next: run `lineclear {'proposal list' if left else 'phase test'}`."]
    if phase == TEST and progress:
        lines = [f"tests: {progress['done']} of {progress['parts']} parts passed"]
        following = PARALLEL if progress["done"] == progress["parts"] else TEST
        return [*lines, f"Next: run `lineclear phase {following}`."]
    return []


# -- begin ----------------------------------------------------------------------------------------


def _begin_lines(answer: dict[str, Any]) -> list[str]:
    now = answer["phase"]
    lines = [f"The phase is now {now}." if answer["began"] else f"The phase {now} continues."]
    if now == INTEGRATE:
        return lines + _result_lines(answer["results"])
    return lines + _test_lines(answer["test"]) if answer["test"] is not None else lines


def _result_lines(results: list[dict[str, Any]]) -> list[str]:
    if not results:
        return ["No proposals are waiting.", "Next: run `lineclear phase test`."]
    lines = [f"  proposal {one['proposal']} for {plain(one['resource'])}: {_outcome(one)}" for one in results]
    is_queued = any(one["result"] == "queued" for one in results)
    following = "queue run --once" if is_queued else "phase"
    return [*lines, f"Next: run `lineclear {following}`."]


def _outcome(one: dict[str, Any]) -> str:
    if one["result"] == "queued":
        return f"is queued as {one['candidate']}" + (f"; {plain(one['why'])}" if one["why"] else "")
    if one["result"] in ("accepted", "rejected", "superseded"):
        return f"{one['result']}: {plain(one['why'])}" if one["why"] else str(one["result"])
    return f"left to {one['owner']}, who has a task for it" if one["owner"] else "left to a person"


def _test_lines(test: dict[str, Any]) -> list[str]:
    at = test["main"][:12]
    if test["result"] == "green":
        return [f"All tests pass on {at}.", "Next: run `lineclear phase parallel`."]
    if test["result"] == "reverting":
        return [
            f"The change that broke {at} is being reverted: {test['revert']} has not landed yet.",
            "Next: run `lineclear queue run --once`.",
        ]
    lines = [f"Some tests fail on {at}."]
    lines += [plain(line) for line in test["output"].split("\n")[:_FEW] if line]
    if test["result"] == "needs you":
        more = f"; {test['follow_up']} has the rest" if test["follow_up"] else ""
        return [*lines, f"This needs you: {plain(test['why'])}{more}.", "Next: run `lineclear phase test`."]
    what = f"proposal {test['proposal']}" if test["proposal"] else test["task"] or "a branch"
    who = f" of {test['agent']}" if test["agent"] else ""
    return [
        *lines,
        f"{test['culprit'][:12]} broke it: {what}{who}. {test['follow_up']} asks for a fixed version.",
        f"{test['revert']} reverts it.",
        "Next: run `lineclear queue run --once`.",
    ]


COMMANDS = {"phase": Command(phase, _declare, is_write=True)}
