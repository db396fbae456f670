"""Who changed a file on each side of a merge, and how that is shown. Pure.

Titles, names and subjects come from others: they are put on one line, cut, and quoted.
"""

from __future__ import annotations

from lineclear.core.agents.names import is_count
from lineclear.core.queue.landing_results import one_line, tell_who
from lineclear.core.words.quoting import MOST_NAME_CHARS, MOST_TITLE_CHARS
from lineclear.core.words.refusals import shorten

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from typing import Any

LEFT, RIGHT = "left", "right"
MOST_PER_SIDE = 3
_SHORT_ID = 7


class Touch:
    """A landing or commit on one side's first-parent line: its author and subject, and the paths it
    changed."""

    __slots__ = ("agent", "author", "commit", "paths", "subject", "task")

    def __init__(
        self, commit: str, author: str, subject: str, *, task: str = "", agent: str = "",
        paths: Iterable[str] = (),
    ) -> None:  # fmt: skip
        """`task` and `agent` are the commit's trailers, as its author wrote them."""
        self.commit, self.author, self.subject = commit, author, subject
        self.task, self.agent, self.paths = task, agent, list(paths)


class Owner:
    """Whose work it is according to the store: `task` is "T-3" or "", `agent` is "" for a person."""

    __slots__ = ("agent", "task")

    def __init__(self, task: str = "", agent: str = "") -> None:
        self.task, self.agent = task, agent

    def __bool__(self) -> bool:
        return bool(self.task or self.agent)


class Hand:
    """Somebody who changed a file, and their last commit; `task` and `agent` are "" if unknown."""

    __slots__ = ("agent", "author", "commit", "subject", "task", "title")

    def __init__(
        self, author: str, title: str, *, task: str = "", agent: str = "", commit: str = "", subject: str = ""
    ) -> None:
        self.author, self.title, self.task = author, title, task
        self.agent, self.commit, self.subject = agent, commit, subject

    def as_data(self) -> dict[str, str]:
        return {name: getattr(self, name) for name in self.__slots__}


def task_number(trailer: str) -> int:
    """The number of the task that a trailer names as T-N; 0 for any other text."""
    number = trailer.removeprefix("T-")
    return int(number) if number != trailer and is_count(number) else 0


def hands_of(
    touches: Iterable[Touch], owner_of: Callable[[Touch], Owner], title_of: Callable[[int], str]
) -> list[Hand]:
    """One `Hand` per task, or per agent or author if there is no task, in the order of `touches`."""
    found: dict[tuple[str, str], Hand] = {}
    for touch in touches:
        owner = owner_of(touch)
        number = task_number(owner.task)
        title = (title_of(number) if number else "") or _title_in(touch.subject, owner.task)
        hand = Hand(
            touch.author, title, task=owner.task, agent=owner.agent, commit=touch.commit,
            subject=touch.subject,
        )  # fmt: skip
        found.setdefault((hand.task, hand.agent or hand.author), hand)
    return list(found.values())


def owner_in(touch: Touch) -> Owner:
    """The owner that the commit's own trailers name."""
    return Owner(touch.task if task_number(touch.task) else "", touch.agent)


def _title_in(subject: str, task: str) -> str:
    return subject.partition(f" {task}: ")[2] or subject if task else subject


def is_about(touch: Touch, conflict: dict[str, Any]) -> bool:
    return any(path in touch.paths for path in (conflict["path"], *conflict.get("paths", ())))


def paths_of(conflicts: Iterable[dict[str, Any]]) -> list[str]:
    names = [name for found in conflicts for name in (found["path"], *found.get("paths", ()))]
    return sorted({name for name in names if name})


def tell_hand(hand: Hand) -> str:
    """`T-3 by codex-2, last in 1a2b3c4 "Add login"`, on one line."""
    title = shorten(one_line(hand.title).replace('"', "'"), MOST_TITLE_CHARS)
    return f'{tell_who(hand.as_data())}, last in {hand.commit[:_SHORT_ID]} "{title}"'


def tell_sides(conflict: dict[str, Any], names: tuple[str, str]) -> list[str]:
    """A line for each side whose authors are known; `names` are those of left and right."""
    lines = []
    for name, side in zip(names, (LEFT, RIGHT), strict=True):
        hands = [Hand(**hand) for hand in conflict.get("sides", {}).get(side, ())]
        told = "; ".join(map(tell_hand, hands))
        lines += [f"{shorten(one_line(name), MOST_NAME_CHARS)}: {told}"] if told else []
    return lines


def tell_places(
    conflicts: Sequence[dict[str, Any]], names: tuple[str, str], tell: Callable[[dict[str, Any]], str]
) -> list[str]:
    """A line for each conflict; after the last one of a file, who changed it on both sides."""
    lines = []
    for place, conflict in enumerate(conflicts):
        lines.append(f"  {tell(conflict)}")
        following = conflicts[place + 1] if place + 1 < len(conflicts) else None
        if following is None or paths_of([following]) != paths_of([conflict]):
            lines += [f"    {line}" for line in tell_sides(conflict, names)]
    return lines
