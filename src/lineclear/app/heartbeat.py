"""A heartbeat's store half: put off the ends of an agent's leases. Not an event; audit ignores it."""

from __future__ import annotations

from lineclear.app.claims import live_waits, makes_way
from lineclear.core.claims import is_over
from lineclear.core.questions import any_of, by_index
from lineclear.core.tables import CLAIM, TASK, WAIT
from lineclear.core.tasks import TAKEN

TYPE_CHECKING = False
if TYPE_CHECKING:
    from lineclear.app.ports import Caller, Presence, Store, Tx

# Every lease lasts longer than three of these, except those that were asked for shorter.
BEAT_EVERY_NS = 20 * 1_000_000_000


def beat(store: Store, presence: Presence, caller: Caller) -> int:
    """Note that the caller is alive; renew its leases when the last renewal is old enough."""
    presence.touch(caller.name, None)
    # A mark of its own: signs of life come far more often, and would put the renewal off for ever.
    renewal = f"{caller.name}~renewed"
    idle_ns = presence.idle_ns(renewal)
    if idle_ns is not None and idle_ns < BEAT_EVERY_NS:
        return 0
    presence.touch(renewal, None)
    return renew(store, caller)


def renew(store: Store, caller: Caller) -> int:
    def work(tx: Tx) -> int:
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

    near = [by_index(WAIT, "key"), any_of(CLAIM, "key", caller.name), by_index(TASK, "ready", TAKEN)]
    return store.transact(caller, work, near)
