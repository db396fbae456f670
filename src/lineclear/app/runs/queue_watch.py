"""When a supervisor has to run the queue: after news, and now and then for what ends without an event."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lineclear.app.queue import candidates as queue
from lineclear.core.store_outages import passes_by_itself
from lineclear.core.words.refusals import Refusal

if TYPE_CHECKING:
    from lineclear.app.ports import Store

AGAIN_NS = 5_000_000_000
# How often a queue that fails is tried when nothing else is left to do.
TRIES_MAX = 6


class QueueWatch:
    def __init__(self, store: Store) -> None:
        self._store = store
        # The log position that the queue has dealt with.
        self._seen = -1
        self._again_ns = self._failures = 0
        # Did the last run leave the queue as it was, because git failed or another process had the turn?
        self._is_left = False

    def is_due(self, head: int, now_ns: int) -> bool:
        """Run it after news if something waits. Without news look again every few seconds: the end of a claim
        is no event, git may work again, and a process that had the turn may have died."""
        seen, self._seen = self._seen, head
        if head != seen and self._store.read(lambda view: queue.has_news(view, seen)):
            return self._store.read(queue.has_waiting)
        if now_ns < self._again_ns:
            return False
        self._again_ns = now_ns + AGAIN_NS
        return self._store.read(queue.has_waiting if self._is_left else queue.is_delayed)

    def note_end(self, answer: int | Refusal | None, now_ns: int) -> str:
        """`answer`: as `WorkLanding.run_queue` returns it, or why it failed. Returns what a person has to be
        told, once for failures in a row; else ""."""
        if isinstance(answer, Refusal) and passes_by_itself(answer):
            self._seen = -1  # it runs again when the store is back
            return ""
        self._again_ns = now_ns + AGAIN_NS
        if isinstance(answer, Refusal):
            self._failures, self._is_left = self._failures + 1, True
            return f"the queue: {answer.what}" if self._failures == 1 else ""
        self._failures, self._is_left = 0, answer is None
        if answer is not None:
            self._seen = answer
        return ""

    def has_more_to_do(self) -> bool:
        """Is it worth to stay for the queue when all agents have ended? Not for one that others run."""
        if 0 < self._failures < TRIES_MAX and self._store.read(queue.has_waiting):
            return True
        return self._store.read(queue.is_delayed)
