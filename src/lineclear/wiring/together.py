"""All that one call asks of a far store, in one round trip: reads, writes and signs of life together.

Only engines with a way there have `together`; on the others every step is cheap by itself.
"""

from __future__ import annotations

from copy import copy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Protocol, TypeVar

    from lineclear.app.ports import Presence, Store
    from lineclear.wiring.repo import Repo

    T = TypeVar("T")

    class Settled(Protocol):
        """What was committed: true positions in the place of stand-ins, and whether anything was written."""

        is_changed: bool

        def of(self, value: T, /) -> T: ...


def at_once(repo: Repo, work: Callable[[Repo], T]) -> tuple[T, Settled] | None:
    """Run `work` on a repository whose store is one transaction, and commit it. None, and nothing done, when
    it has to be asked step by step.

    `work` may be run again from the start. What else it does must bear that, or wait until this returns; what
    it gives, and every text in it, is to be settled before anybody hears of it.
    """
    together = getattr(repo.store, "together", None)
    if together is None:
        return None
    signs: list[_Signs] = []

    def run(store: Store) -> T:
        inner = copy(repo)
        signs[:] = [_Signs(repo.presence)]
        inner.store, inner.presence = store, signs[0]  # type: ignore[assignment]
        return work(inner)

    found: tuple[tuple[T, Settled]] | None = together(run, lambda result, settled: (result, settled))
    if found is None:
        return None
    result, settled = found[0]
    for agent, seen in signs[0].kept:
        repo.presence.touch(agent, settled.of(seen))
    return result, settled


class _Signs:
    """Signs of life, kept back until what they speak of is committed."""

    __slots__ = ("_presence", "kept")

    def __init__(self, presence: Presence) -> None:
        self._presence = presence
        self.kept: list[tuple[str, int | None]] = []

    def touch(self, agent: str, seen: int | None = None, /) -> None:
        self.kept.append((agent, seen))

    def seen(self, agent: str, /) -> int:
        return self._presence.seen(agent)

    def idle_ns(self, agent: str, /) -> int | None:
        return self._presence.idle_ns(agent)
