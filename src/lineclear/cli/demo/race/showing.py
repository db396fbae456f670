"""The race as a table."""

from __future__ import annotations

from lineclear.cli.demo.race.run import TASKS, WORKERS, run_both
from lineclear.cli.demo.surroundings import scratch_directory, scratch_environ
from lineclear.cli.render import Table
from lineclear.core.words.refusals import FINDINGS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from lineclear.cli.command import Context


def show_race(context: Context) -> int:
    context.out.hint(
        f"{WORKERS} real processes share {TASKS} tasks, 3 hot files and a counter: first through a JSON\n"
        "file that everybody reads and writes back, then through lineclear. Same workers, same judge."
    )
    with scratch_directory() as directory:
        results = run_both(directory, scratch_environ(context.environ, directory))
    context.out.data(results, *_lines(results))
    good = results["lineclear"]
    is_clean = not (
        good["done_twice"] or good["updates_lost"] or good["two_holders"] or good["audit_findings"]
    )
    return 0 if is_clean and good["tasks"] == TASKS else FINDINGS


def _lines(results: dict[str, Any]) -> list[str | Table]:
    naive, good = results["naive"], results["lineclear"]
    rows = [
        ["tasks finished", naive["tasks"], good["tasks"]],
        ["tasks done by two agents", naive["done_twice"], good["done_twice"]],
        ["counter updates lost", _of(naive), _of(good)],
        ["file held by two at once", naive["two_holders"], good["two_holders"]],
        ["wall time", f"{naive['wall_s']} s", f"{good['wall_s']} s"],
    ]
    audit = (
        "the log and the tables agree" if not good["audit_findings"] else f"{good['audit_findings']} findings"
    )
    return [
        Table(["", "JSON FILE", "LINECLEAR"], rows),
        "",
        f"audit of lineclear's log: {good['events']} events replayed through the rules, {audit}.",
        "Nothing was left behind. In your own repository: lineclear init",
    ]


def _of(result: dict[str, Any]) -> str:
    return f"{result['updates_lost']} of {result['updates_made']}"
