"""Run the shop twice and print both results as one table."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lineclear.cli.demo.shop.coordinated import AGENTS, CoordinatedRun
from lineclear.cli.demo.shop.judge import judge, read_diaries
from lineclear.cli.demo.shop.naive import NaiveRun
from lineclear.cli.demo.surroundings import scratch_directory, scratch_environ
from lineclear.cli.render import TextTable
from lineclear.core.words.row import FINDINGS

if TYPE_CHECKING:
    from typing import Any

    from lineclear.cli.command import Context
    from lineclear.cli.render import Output

_OPENING = (
    f"A small shop, ten tasks that get in each other's way, {AGENTS} scripted agents at once.\n"
    "Real processes, real git; no network, no model, no account. The same agents with the same timing, twice:"
)


def show_shop(context: Context, *, keep: str, seed: int) -> int:
    context.out.hint(_OPENING)
    with scratch_directory(keep) as directory:
        environ = scratch_environ(context.environ, directory)
        naive = _run_naive(context.out, directory, environ, seed)
        good = _run_coordinated(context.out, directory, environ, seed)
    results = {"seed": seed, "naive": naive, "lineclear": good, "kept": directory if keep else ""}
    context.out.data(results, "", _table(naive, good), "", *_last_words(results))
    return 0 if is_good(good) else FINDINGS


def is_good(run: dict[str, Any]) -> bool:
    is_done = run["tasks_done"] == run["tasks_wanted"] and run["agents_recovered"] == run["agents_broken"]
    is_clean = not (
        run["branches_left"]
        or run["numbers_twice"]
        or run["calls_broken"]
        or run["edits_lost"]
        or run["log"]["audit_findings"]
    )
    return bool(is_done and is_clean and run["tests_pass"])


def _run_naive(out: Output, directory: str, environ: dict[str, str], seed: int) -> dict[str, Any]:
    out.hint("\n1. Worktrees and plain git merge")
    run = NaiveRun(directory, environ, seed)
    wall_s = run.run(out.hint)
    return judge(run.repo, read_diaries(run.outputs()), environ, conflicts=run.conflicts(), wall_s=wall_s)


def _run_coordinated(out: Output, directory: str, environ: dict[str, str], seed: int) -> dict[str, Any]:
    out.hint("\n2. lineclear")
    run = CoordinatedRun(directory, environ, seed, is_shown=out.is_rich)
    wall_s = run.run(out.hint, is_quiet=out.is_json)
    log = run.read_log()
    judged = judge(run.repo, read_diaries(run.outputs()), environ, conflicts=log["sent_back"], wall_s=wall_s)
    return {**judged, "log": log}


def _table(naive: dict[str, Any], good: dict[str, Any]) -> TextTable:
    both = (naive, good)
    rows: list[list[Any]] = [
        ["tasks done: their checks pass on main", *(_of(run, "tasks_done", "tasks_wanted") for run in both)],
        ["conflicts at merge", *(run["conflicts"] for run in both)],
        ["work done twice", *(run["done_twice"] for run in both)],
        ["migrations with a number twice", *(run["numbers_twice"] for run in both)],
        ["new calls of a function that changes", *(_calls(run) for run in both)],
        ["tasks of crashed or looping agents done", *(_of(run, *_RECOVERED) for run in both)],
        ["edits that no commit holds", *(_of(run, "edits_lost", "edits_made") for run in both)],
        ["main's own tests", *("pass" if run["tests_pass"] else "fail" for run in both)],
        ["wall time", *(f"{run['wall_s']} s" for run in both)],
    ]
    return TextTable(["", "GIT MERGE", "LINECLEAR"], rows)


_RECOVERED = ("agents_recovered", "agents_broken")


def _calls(run: dict[str, Any]) -> str:
    return f"{run['calls_broken']} broken" if run["calls_broken"] else f"{run['calls_told']} told in time"


def _of(run: dict[str, Any], part: str, whole: str) -> str:
    return f"{run[part]} of {run[whole]}"


def _last_words(results: dict[str, Any]) -> list[str]:
    log = results["lineclear"]["log"]
    findings = log["audit_findings"]
    audit = f"{findings} findings" if findings else "the log and the tables agree"
    kept = results["kept"]
    return [
        "Every number comes from git, from what the agents wrote, and from lineclear's log",
        f"({log['events']} events; audit: {audit}).",
        f"Both repositories are in {kept}"
        if kept
        else "Nothing is left behind; `lineclear demo --keep DIR` keeps both repositories to look at.",
        "Next, in your own repository: lineclear init; lineclear task import TASKS.md; lineclear run -n 4",
        "How the numbers are counted, and all other pages: docs/README.md",
    ]
