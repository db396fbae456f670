"""Heartbeats: note a sign of life and renew an agent's leases. A renewal is not an event; audit ignores
it."""

from __future__ import annotations

from lineclear.app.claims import live_waits, makes_way
from lineclear.core.claims.leases import is_over
from lineclear.core.log.queries import any_of, by_index
from lineclear.core.log.tables import CLAIM, TASK, WAIT
from lineclear.core.tasks.states import TAKEN

TYPE_CHECKING = False
if TYPE_CHECKING:
    from lineclear.app.ports import Caller, Presence, Store, Tx

# Every lease lasts more than three times as long, unless a shorter one was requested.
BEAT_EVERY_NS = 20 * 1_000_000_000


class PendingPresence:
    """A presence that delays its touches until `flush`."""

    __slots__ = ("_presence", "_touched")

    def __init__(self, presence: Presence) -> None:
        self._presence = presence
        self._touched: list[tuple[str, int | None]] = []

    def touch(self, agent: str, seen: int | None = None) -> None:
        self._touched.append((agent, seen))

    def seen(self, agent: str) -> int:
        return self._presence.seen(agent)

    def idle_ns(self, agent: str) -> int | None:
        return self._presence.idle_ns(agent)

    def flush(self) -> None:
        for agent, seen in self._touched:
            self._presence.touch(agent, seen)


def beat(store: Store, presence: Presence, caller: Caller) -> int:
    """Note that the caller is alive, and renew its leases if a renewal is due; returns how many."""
    return renew(store, caller) if _touch(presence, caller) else 0


def beat_in(tx: Tx, presence: Presence, caller: Caller) -> int:
    """`beat` inside another transaction."""
    return renew_in(tx, caller) if _touch(presence, caller) else 0


def is_renewal_due(presence: Presence, name: str) -> bool:
    # A separate mark: signs of life come far more often, and would postpone the renewal for ever.
    idle_ns = presence.idle_ns(f"{name}~renewed")
    return idle_ns is None or idle_ns >= BEAT_EVERY_NS


def _touch(presence: Presence, caller: Caller) -> bool:
    """Note a sign of life; True if the leases must be renewed now."""
    presence.touch(caller.name, None)
    if not is_renewal_due(presence, caller.name):
        return False
    presence.touch(f"{caller.name}~renewed", None)
    return True


def renew(store: Store, caller: Caller) -> int:
    near = [by_index(WAIT, "key"), any_of(CLAIM, "key", caller.name), by_index(TASK, "ready", TAKEN)]
    return store.transact(caller, lambda tx: renew_in(tx, caller), near)


def renew_in(tx: Tx, caller: Caller) -> int:
    waits = live_waits(tx)
    claims = [
        claim
        for claim in tx.pick(CLAIM, "key", (caller.name,))
        if not is_over(claim.until_ns, tx.now) and not makes_way(claim, waits)
    ]
    for claim in claims:
        tx.put(CLAIM, claim.changed(until_ns=max(claim.until_ns, tx.now.in_ms(claim.ttl_ms))))
    tasks = [
        task
        for task in tx.scan(TASK, "ready", (TAKEN,))
        if task.agent == caller.name and not is_over(task.until_ns, tx.now)
    ]
    for task in tasks:
        tx.put(TASK, task.changed(until_ns=max(task.until_ns, tx.now.in_ms(task.ttl_ms))))
    return len(claims) + len(tasks)
