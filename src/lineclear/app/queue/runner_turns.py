"""Which process may run the queue.

Any process can run it, one at a time: a command that waits for its candidate, `queue run`, a supervisor. A
lock decides within a clone, a claim in the team's store between machines.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from lineclear.app import claims
from lineclear.core.claims.granting import EXCLUSIVE, Request
from lineclear.core.claims.resources import parse_resource
from lineclear.core.words.refusals import Refusal, refuse

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Protocol

    from lineclear.app.ports import Caller, Liveness, Store
    from lineclear.app.queue.ports import TurnLock

    class TurnBond(Protocol):
        def release(self) -> None: ...


# What the machine that runs the queue has claimed.
TURN = "queue:main"
_TTL_MS, _RENEW_S = 60_000, 15.0


class Turn:
    """The right to run the queue, until it is given back, its process dies, or another machine takes it."""

    def __init__(self, store: Store, liveness: Liveness, caller: Caller, clock: Callable[[], float]) -> None:
        self._store, self._liveness, self._caller, self._clock = store, liveness, caller, clock
        self._fences: dict[str, int] = {}
        self._renewed_at_s = clock()
        self.is_lost = False

    def claim(self, bond: str) -> None:
        """Claim the turn between machines that share a store. Refused while another one has it."""
        caller = self._caller
        resource = parse_resource(TURN, schemes=("queue",))
        request = Request(caller.name, caller.tree, EXCLUSIVE, [resource], ttl_ms=_TTL_MS, bond=bond)
        try:
            granted = claims.ask(self._store, self._liveness, caller, request)
        except Refusal as refusal:
            raise refuse("queue.running", agent=str(refusal.facts.get("holder", ""))) from refusal
        self._fences = {claim["resource"]: claim["fence"] for claim in granted["claims"]}

    def keep(self) -> bool:
        """Renew the claim from time to time; False if another machine has taken the turn."""
        if self._fences and self._clock() - self._renewed_at_s > _RENEW_S:
            self._renewed_at_s = self._clock()
            self.is_lost = not claims.renew_exactly(self._store, self._caller, self._fences)
        return not self.is_lost

    def give_back(self) -> None:
        if self._fences:
            claims.release(self._store, self._caller, [], everything=True)


class Turns:
    """`caller` stands for this clone as a runner of the queue; `hold_bond` is None unless a team shares the
    store."""

    def __init__(
        self, store: Store, liveness: Liveness, caller: Caller, *, new_lock: Callable[[], TurnLock],
        hold_bond: Callable[[], tuple[str, TurnBond]] | None, clock: Callable[[], float],
    ) -> None:  # fmt: skip
        self._store, self._liveness, self._caller, self._clock = store, liveness, caller, clock
        self._new_lock, self._hold_bond = new_lock, hold_bond

    @contextmanager
    def take(self, wait_s: float = 0.0) -> Iterator[Turn]:
        """Hold the turn. Refused if another process still has it after `wait_s`."""
        lock = self._new_lock()
        if not lock.take(wait_s):
            raise refuse("queue.running", agent="")
        try:
            with self._claimed() as turn:
                yield turn
        finally:
            lock.free()

    @contextmanager
    def _claimed(self) -> Iterator[Turn]:
        turn = Turn(self._store, self._liveness, self._caller, self._clock)
        if self._hold_bond is None:
            yield turn
            return
        name, bond = self._hold_bond()
        try:
            turn.claim(name)
            try:
                yield turn
            finally:
                turn.give_back()
        finally:
            bond.release()

    def is_taken(self) -> bool:
        """Is a process of this clone running the queue now?"""
        lock = self._new_lock()
        if not lock.take(0.0):
            return True
        lock.free()
        return False
