"""What a supervisor tells a person while it runs."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING

from lineclear.app.runs.workers import DELAYED, LANDED, NEEDS_YOU
from lineclear.core.queue.candidates import show_number
from lineclear.core.tasks.states import show_id

if TYPE_CHECKING:
    from lineclear.app.runs.workers import QueueResult


@dataclass(frozen=True, slots=True)
class RunNews:
    """A piece of news for a person; `kind` is one of the words below."""

    kind: str
    text: str
    _: KW_ONLY
    agent: str = ""
    task: int = 0


STARTED, ACTED, ENDED, LANDED_NEWS, WAITS, WARNED, NEEDS = (
    "started", "acted", "ended", "landed", "waits", "warned", "needs you",
)  # fmt: skip


def of_store(*, is_away: bool) -> RunNews:
    """The shared store went away, or is back."""
    away = "the shared store is out of reach; agents at work continue, no new one starts"
    return RunNews(WAITS, away if is_away else "the shared store is back")


def from_queue(result: QueueResult) -> RunNews:
    """The queue has landed, delayed, stopped or returned a candidate."""
    landing, name = result.landing, "queue"
    if result.task:
        name = show_id(result.task)
    elif result.candidate:
        name = show_number(result.candidate)
    kind = {LANDED: LANDED_NEWS, NEEDS_YOU: NEEDS, DELAYED: WAITS}.get(landing.state, ENDED)
    why = f": {landing.why}" if landing.why else ""
    return RunNews(kind, f"{name} {landing.state}{why}", task=result.task)
