"""Stores and use cases with a planted bug each: whoever checks histories must convict them."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, TypeVar

import apsw

from lineclear.app import claims
from lineclear.app.agents.membership import ensure_agent
from lineclear.app.ports import Caller
from lineclear.core.log.events import Draft, Event
from lineclear.core.log.tables import VALUE
from lineclear.core.words.computed.claims import claim_held
from lineclear.core.words.refusals import refuse
from lineclear.store.sqlite.engine import SqliteStore, SqliteTx
from tests.verbs import Answer, Desk, request_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from lineclear.app.ports import Tx
    from lineclear.core.log.queries import Question

T = TypeVar("T")
# Between looking and writing; long enough for another process to be in between.
PAUSE_S = 0.0005


class UngatedTx(SqliteTx):
    def append(self, draft: Draft, /) -> Event:
        time.sleep(PAUSE_S)
        self.head = self._db.execute('SELECT max("position") FROM "log"').get or 0
        return super().append(draft)


class UngatedStore(SqliteStore):
    """Takes no gate and begins no transaction: every statement is on its own."""

    def transact(self, caller: Caller, work: Callable[[Tx], T], _near: Iterable[Question] = (), /) -> T:
        try:
            return work(UngatedTx(self._connection(), self._clock(), caller))
        except apsw.Error as error:
            raise self._refusal(error) from error


class HastyWriter(Desk):
    """Checks the version in one transaction and writes in another."""

    def put(
        self, agent: str, key: str, json: str, version: int | None = None, fence: int = 0, copy: str = "",
        op: str = "",
    ) -> Answer:  # fmt: skip
        value = self.store.read(lambda view: view.get(VALUE, (key,)))
        newest = value.version if value is not None else 0
        if version != newest:
            raise refuse("value.stale", key=key, given=version, version=newest, holder="somebody")
        draft = Draft("ValuePut", f"value:{key}", key=key, version=newest + 1, base=newest, json=json)
        self.store.transact(Caller(agent), lambda tx: tx.append(draft).position)
        return {"version": newest + 1}


class HastyClaimer(Desk):
    """Sees that nobody holds it in one transaction and takes it in another."""

    def claim(self, agent: str, *resources: str, **_options: Any) -> Answer:
        request = request_of(agent, resources)
        now, answer = self.store.read(lambda view: (view.now, claims._decide(view, request, self.liveness)))
        if answer.blockers:
            raise claim_held(answer.blockers[0], request, now, 1)

        def work(tx: Tx) -> Answer:
            ensure_agent(tx, Caller(agent))
            return claims._grant(tx, Caller(agent), request, answer)

        return self.store.transact(Caller(agent), work)


MUTANTS = ("ungated store", "hasty writer", "hasty claimer")


def mutated(desk: Desk, mutant: str) -> Desk:
    """The desk with this bug; without a name the desk as it is."""
    if mutant == "hasty writer":
        return HastyWriter(desk.store, desk.liveness)
    if mutant == "hasty claimer":
        return HastyClaimer(desk.store, desk.liveness)
    if mutant == "ungated store":
        store = desk.store
        assert isinstance(store, SqliteStore)
        return Desk(UngatedStore(store.directory, store._clock, store._bell), desk.liveness)
    return desk
