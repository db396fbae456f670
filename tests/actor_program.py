"""The program of an actor: a process that opens a store and does what it is told, line by line.

Run as `python tests/actor_program.py SPEC DIRECTORY`. A line in is a JSON list [verb, arguments, options];
a line out is the answer. Started and spoken with by tests/actors.py.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from typing import TYPE_CHECKING, Any

from lineclear.app import claims, waiting_in_line
from lineclear.app.ports import Caller
from lineclear.host.bonds import HeldBond
from lineclear.host.host_names import host_name
from tests.ears import poll_every, watch_waits
from tests.engines import Place
from tests.verbs import Answer, Desk

if TYPE_CHECKING:
    from lineclear.app.ports import Listener, Tx


def tell(line: object) -> None:
    os.write(1, (json.dumps(line) + "\n").encode())


class Actor(Desk):
    """The verbs of a desk, and those that only make sense for a process of one's own."""

    def __init__(self, place: Place) -> None:
        super().__init__(place.open(), place.liveness())
        self._place = place
        self._bonds: list[HeldBond] = []

    def hold_bond(self, name: str) -> str:
        """From now on others see by this bond that the process is alive; gives its name in the store."""
        self._bonds.append(self._place.bonds.hold(name))
        return f"{host_name()}/{name}"

    def be_patient(self, poll_s: float) -> None:
        """Look at the store without being woken only this often."""
        poll_every(poll_s)

    def be_forgetful(self, ticket_ttl_ms: int) -> None:
        """Tickets of this process's making last only so long without a sign of life."""
        claims.TICKET_TTL_MS = ticket_ttl_ms
        waiting_in_line.RENEW_S = ticket_ttl_ms / 3_000

    def give_up_after(self, limit_s: float) -> None:
        """Wait for other writers at most so long."""
        gate = getattr(self.store, "_gate", None)  # PostgreSQL has limits of its own
        if gate is not None:
            gate.limit_s = limit_s

    def sleep_in_line(self) -> None:
        """When there is nothing to do but wait for others, stop (SIGSTOP) once."""
        naps = [signal.SIGSTOP]

        def nap_then_wait(listener: Listener, timeout_s: float) -> bool:
            if naps:
                os.kill(os.getpid(), naps.pop())
            return listener.wait(timeout_s)

        watch_waits(self.store, nap_then_wait)

    def stay_inside(self, agent: str) -> Answer:
        """Be in the middle of a transaction, say so, and end it when the next line comes."""

        def work(tx: Tx) -> Answer:
            tell("inside")
            sys.stdin.readline()
            return {"head": tx.head}

        return self.store.transact(Caller(agent), work)


def main() -> None:
    place = Place(*sys.argv[1:])
    actor = Actor(place)
    tell("ready")
    for line in iter(sys.stdin.readline, ""):
        verb, arguments, options = json.loads(line)
        tell(_do(actor, verb, arguments, options))


def _do(actor: Actor, verb: str, arguments: list[Any], options: dict[str, Any]) -> Answer:
    return actor.do(verb, *arguments, **options)


if __name__ == "__main__":
    main()
