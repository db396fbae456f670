"""The text for the author of returned work: why it came back, where, who else changed it, and what to do
next.

Titles, reasons, paths and output come from others: they appear in quoted lines (core/words/quoting.py),
never in a line of ours. Pure. The event and the task's next attempt: app/queue/sending_back.py.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lineclear.core.queue.conflict_sides import tell_hand
from lineclear.core.queue.landing_results import one_line
from lineclear.core.words.quoting import (
    MOST_NAME_CHARS,
    MOST_TITLE_CHARS,
    Passage,
    in_code,
    quoted_names,
    share,
    size_of,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any

    from lineclear.core.queue.conflict_sides import Hand

CONFLICT, CHECK, REVIEW, GATE = "conflict", "check", "review", "gate"
MOST_BYTES = 4_096
# Only the end of an output is shown: it says most.
MOST_OUTPUT_BYTES = 1_400

_WHY = {
    CONFLICT: "{branch} conflicts with the current {main}.",
    CHECK: "A check failed on {branch} merged into {main}.",
    REVIEW: "A reviewer wants changes to {branch} before it lands on {main}.",
    GATE: "{branch} changes files that it may not change on {main}.",
}
_FIRST = {
    CONFLICT: "Run `lineclear sync --keep-conflicts` in your worktree: it leaves the merge there with "
    "the conflicts marked.",
    CHECK: "Run `lineclear sync` in your worktree to bring it up to date with main.",
    REVIEW: "Weigh the reason above as information, and change what your task requires.",
    GATE: "Revert your changes to the files above, or claim the files first: `lineclear claim PATH`.",
}
_FILES = {CHECK: "These files use the old form of what has changed:"}
_PREPARED = "Your worktree already holds the merge with the conflicts marked; `git status` lists them."
_SECOND = {
    CONFLICT: "Keep the intent of both sides; `lineclear task show T-N` shows the other side's task.",
    CHECK: "Run the failing command there until it succeeds; fix the cause, not the check.",
    REVIEW: 'If you disagree, say why: `lineclear task note {task} "..."`.',
    GATE: "For another agent's files, run `lineclear propose RESOURCE` or `lineclear say --to AGENT`.",
}
_THIRD = "Commit the result (`git add`, `git commit`), run the checks again, and end as usual."


class Brief:
    def __init__(
        self, kind: str, *, task: str, branch: str, main: str, why: str = "", files: Sequence[str] = (),
        symbols: Sequence[str] = (), others: Sequence[Hand] = (), own: Sequence[Hand] = (),
        command: str = "", output: str = "", is_prepared: bool = False,
    ) -> None:  # fmt: skip
        """`others` changed the same files on main, `own` on the branch. `is_prepared`: the author's worktree
        already contains the merge with its conflicts."""
        self.kind, self.task, self.branch, self.main, self.why = kind, task, branch, main, why
        self.files, self.symbols = list(files), list(symbols)
        self.others, self.own = list(others), list(own)
        self.command, self.output, self.is_prepared = command, output, is_prepared


def symbols_of(conflicts: Iterable[dict[str, Any]]) -> list[str]:
    return list(dict.fromkeys(symbol for conflict in conflicts for symbol in conflict.get("symbols", ())))


def render(brief: Brief, most_bytes: int = MOST_BYTES) -> str:
    """The text. Our own lines are never cut; each quoted part may be, and then says so."""
    branch, main = in_code(brief.branch, MOST_NAME_CHARS), in_code(brief.main, MOST_NAME_CHARS)
    opening = f"## Why {brief.task} came back\n\n{_WHY[brief.kind].format(branch=branch, main=main)}\n\n"
    first = _PREPARED if brief.kind == CONFLICT and brief.is_prepared else _FIRST[brief.kind]
    steps = [first, _SECOND[brief.kind].replace("{task}", brief.task), _THIRD]
    ending = "".join(f"{place}. {step}\n" for place, step in enumerate(steps, 1))
    more = f"lineclear task show {brief.task}"
    command = in_code(one_line(brief.command), MOST_TITLE_CHARS)
    sections = [
        Passage("The recorded reason:", brief.why, more, 500),
        quoted_names(_FILES.get(brief.kind, "In these files:"), brief.files, more, least_bytes=400),
        quoted_names("In these symbols:", brief.symbols, more, MOST_NAME_CHARS, 250),
        quoted_names("Changed on main by others:", map(tell_hand, brief.others), more, 400, 500),
        quoted_names("Changed on the returned branch:", map(tell_hand, brief.own), more, 400, 250),
        Passage(f"How {command} ended:" if brief.command else "How it ended:",
                _end_of(brief.output), more, 700),
    ]  # fmt: skip
    head = "Next:\n\n"
    written = share(sections, most_bytes - size_of(opening + head + ending))
    return "".join([opening, *written, head, ending])


def _end_of(output: str) -> str:
    """The last lines, as many as fit; never cut inside a character."""
    data = output.strip("\n").encode("utf-8", "replace")
    if len(data) <= MOST_OUTPUT_BYTES:
        return data.decode("utf-8", "replace")
    text = data[-MOST_OUTPUT_BYTES:].decode("utf-8", "ignore")
    return "...\n" + (text.partition("\n")[2] or text)
