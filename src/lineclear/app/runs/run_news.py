"""What a supervisor tells a person while it runs."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass


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
