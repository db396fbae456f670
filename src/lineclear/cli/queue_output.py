"""The queue as text: its list, its phase, and every decision about a candidate. Facts in, lines out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lineclear.cli.render import TextTable, plain, quoted
from lineclear.core.instants import show_duration, show_wall

if TYPE_CHECKING:
    from typing import Any

COLUMNS = ["PLACE", "CANDIDATE", "STATE", "BRANCH", "TASK", "AGENT", "REVIEW", "READY IN", "WAITS FOR"]
CHECK_COLUMNS = ["CHECK", "RUNS", "FAILED", "ON A LATER TRY", "TAKES", "LAST TOOK"]
ENDED_COLUMNS = ["CANDIDATE", "STATE", "BRANCH", "TASK", "AGENT", "ENDED", "WHY"]
MOST_WHY, MOST_FILES = 80, 20


def as_data(facts: dict[str, Any]) -> dict[str, Any]:
    """The facts with their instants as UTC in ISO 8601; "" for what has not happened yet."""
    names = {"at_ns": "at", "submitted_ns": "submitted_at", "ended_ns": "ended_at"}
    return {
        names.get(name, name): (show_wall(value) if value else "") if name in names else value
        for name, value in facts.items()
    }


# -- the list -------------------------------------------------------------------------------------


def list_lines(facts: dict[str, Any], *, with_ended: bool) -> list[str | TextTable]:
    lines: list[str | TextTable] = [paused_line(facts)] if facts["queue"] == "paused" else []
    rows = [_row(found) for found in facts["candidates"]]
    lines.append(TextTable(COLUMNS, rows, empty="Nothing is waiting to land."))
    if with_ended:
        over = [_ended_row(found) for found in facts["ended"]]
        lines += ["", TextTable(ENDED_COLUMNS, over, empty="Nothing has ended yet.")]
    return lines


def paused_line(facts: dict[str, Any]) -> str:
    why = f": {plain(facts['why'])}" if facts["why"] else ""
    return f"The queue is paused by {plain(facts['by'])}{why}. `lineclear queue resume` restarts it."


def phase_line(shown: dict[str, Any]) -> str:
    if not shown["by"]:
        return f"The phase is {shown['phase']}."
    note = f": {plain(shown['note'])}" if shown["note"] else ""
    return f"The phase is {shown['phase']}, since {shown['since']}, started by {shown['by']}{note}."


def _row(found: dict[str, Any]) -> list[Any]:
    return [
        found["position"], found["candidate"], found["state"], found["branch"], found["task"], found["agent"],
        found["review"], ready_in(found["eta_ms"]), _cut(found["waits_for"]),
    ]  # fmt: skip


def ready_in(eta_ms: int) -> str:
    return f"about {show_duration(max(eta_ms, 1_000))}" if eta_ms >= 0 else ""


def _ended_row(found: dict[str, Any]) -> list[Any]:
    why = found["why"] or (f"as {found['commit'][:12]}" if found["commit"] else "")
    return [
        found["candidate"], found["state"], found["branch"], found["task"], found["agent"],
        show_wall(found["ended_ns"]), _cut(why),
    ]  # fmt: skip


def _cut(text: str) -> str:
    first = text.partition("\n")[0]
    return first if len(first) <= MOST_WHY else first[: MOST_WHY - 1] + "…"


# -- checks ---------------------------------------------------------------------------------------


def check_lines(records: list[dict[str, Any]]) -> list[str | TextTable]:
    rows = [
        [
            one["command"], one["runs"], one["failed"], _share(one["flaky"], one["flake_rate"]),
            show_duration(max(one["mean_ms"], 1)), show_duration(max(one["last_ms"], 1)),
        ]
        for one in records
    ]  # fmt: skip
    return [TextTable(CHECK_COLUMNS, rows, empty="No check has run yet.")]


def _share(count: int, rate: float) -> str:
    """A count with its share; a small share shows as 1%, never as 0%."""
    return f"{count} ({max(round(rate * 100), 1)}%)" if count else "0"


# -- one candidate --------------------------------------------------------------------------------


def show_lines(found: dict[str, Any]) -> list[str]:
    task = f' for {found["task"]} "{plain(found["title"])}"' if found["task"] else ""
    lines = [
        f"{found['candidate']} is {found['state']}: {plain(found['branch'])}{task}",
        f"  {_whose(found)}, priority {found['priority']}, commit {found['tip'][:12]}",
    ]
    if found["waits_for"]:
        lines.append(f"  {plain(found['waits_for'])}")
    if found["after"]:
        lines.append(f"  comes after {', '.join(found['after'])}")
    if found["review_waited_ms"] >= 0:
        lines.append(f"  {_review_wait(found)}")
    lines.append("what happened:")
    for item in found["history"]:
        lines += tell(item, found["candidate"])
    if found["others"]:
        lines.append(f"It fails together with {', '.join(found['others'])}, which landed before it.")
    return lines


def _whose(found: dict[str, Any]) -> str:
    return f"by {plain(found['agent'])}" if found["agent"] else "by a person"


def _review_wait(found: dict[str, Any]) -> str:
    waited = show_duration(found["review_waited_ms"])
    return f"waited {waited} for its review" if found["review"] else f"has waited {waited} for a review"


def tell(item: dict[str, Any], own: str) -> list[str]:
    """One decision: when, what, and the details that its author needs."""
    words = [f"  {show_wall(item['at_ns'])}  {_WORDS[item['event']](item, own)}"]
    words += [f"    {plain(path)}" for path in item.get("files", ())[:MOST_FILES]]
    hidden = len(item.get("files", ())) - MOST_FILES
    words += [f"    and {hidden} more"] if hidden > 0 else []
    for text in (item.get("note", ""), item.get("output", "")):
        words += [f"    {line}" for line in quoted(text.strip("\n")).split("\n")] if text else []
    return words


def _because(item: dict[str, Any]) -> str:
    return f": {plain(item['why'])}" if item.get("why") else ""


def _checked(item: dict[str, Any], own: str) -> str:
    result = "passed" if item["green"] else "failed"
    again = " after it had failed first" if item["flaky"] else ""
    others = _others(item, own)
    took = show_duration(max(item["took_ms"], 1))
    return f"`{plain(item['command'])}` {result}{again} in {took}, {others or 'with no other candidate'}"


def _others(item: dict[str, Any], own: str) -> str:
    names = [name for number in item["ids"] if (name := f"Q-{number}") != own]
    return f"together with {', '.join(names)}" if names else ""


def _landing(item: dict[str, Any], own: str) -> str:
    others = _others(item, own)
    return "main is about to move" + (f", {others}" if others else "")


def _landed(item: dict[str, Any], _own: str) -> str:
    if item["how"] == "nothing":
        return "all of it was already on main"
    return f"landed as {item['commit'][:12]} ({item['how']})"


_WORDS: dict[str, Any] = {
    "CandidateSubmitted": lambda item, _: f"submitted by {item['actor']} at {item['tip'][:12]}",
    "CandidateRenewed": lambda item, _: (
        f"new commits by {item['actor']}, now at {item['tip'][:12]}; a new review is needed"
    ),
    "CandidateReviewed": lambda item, _: f"{item['verdict']} by {item['actor']} at {item['tip'][:12]}",
    "CandidateHeld": lambda item, _: f"held by {item['actor']}{_because(item)}",
    "CandidateFreed": lambda item, _: f"released by {item['actor']}",
    "CandidateDelayed": lambda item, _: item["why"],
    "CandidateStopped": lambda item, _: f"needs you{_because(item)}",
    "CandidateLanded": _landed,
    "CandidateSentBack": lambda item, _: f"sent back{_because(item)}",
    "CandidateDropped": lambda item, _: f"dropped by {item['actor']}{_because(item)}",
    "CheckEnded": _checked,
    "LandingBegan": _landing,
}
