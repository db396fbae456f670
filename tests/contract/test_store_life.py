"""A store over time: epochs after a restart, the bell, moving to another engine."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import pytest

from lineclear.app.log import audit
from lineclear.app.ports import Caller
from lineclear.core.log.epochs import EPOCH_STEP
from lineclear.core.log.events import Draft
from lineclear.core.log.tables import CLAIM, LOG, PROJECTED
from tests.contract.three_engines import Engine, log_of, rows_of
from tests.world import HOUR_MS, FakeClock, refused

if TYPE_CHECKING:
    from lineclear.app.ports import Store, Tx

ANN = Caller("ann")


def say(text: str) -> Draft:
    return Draft("MessageSent", "all", audience="all", urgent=0, text=text)


# -- epochs -----------------------------------------------------------------------------------


def test_a_log_begins_with_its_epoch(store: Store, clock: FakeClock) -> None:
    store.transact(ANN, lambda tx: tx.append(say("x")))
    first = log_of(store)[0]
    assert (first.position, first.kind, first.body) == (1, "EpochBegan", f'{{"boot":"{clock().boot}"}}')


def test_a_refused_first_write_begins_no_epoch(store: Store) -> None:
    with refused("input.bad"):
        store.transact(ANN, _refuse)
    assert log_of(store) == []


def _refuse(tx: Tx) -> None:
    from lineclear.core.words.refusals import refuse

    tx.append(say("x"))
    raise refuse("input.bad", name="x", given="y", why="z")


@pytest.mark.parametrize(
    ("before", "after", "leases_end"),
    [("boot-1", "boot-2", True), ("postgres/1", "postgres/2", False), ("boot-1", "postgres/1", True)],
)
def test_a_new_boot_begins_an_epoch(
    engine: Engine, clock: FakeClock, before: str, after: str, leases_end: bool
) -> None:
    if not engine.has_processes:
        pytest.skip("memory does not outlive its process, nor its boot")
    if not leases_end and engine.name != "postgres":
        pytest.skip("only a server's clock goes on in another history")
    from lineclear.app import claims
    from lineclear.app.ports import NobodyDies
    from lineclear.core.claims.granting import EXCLUSIVE, Request
    from lineclear.core.claims.resources import parse_resource

    clock.boot = before
    old = engine.open(clock)
    resource = parse_resource("src/a.py")
    request = Request("ann", "main", EXCLUSIVE, [resource], ttl_ms=HOUR_MS)
    claims.ask(old, NobodyDies(), ANN, request)
    last = old.read(lambda view: view.head)
    clock.boot = after
    new = engine.open(clock)
    # Before anybody writes, a reader already knows which leases nobody can judge any more.
    assert (new.read(lambda view: claims.holders(view, resource)) == []) is leases_end
    position = new.transact(Caller("bob"), lambda tx: tx.append(say("x")).position)
    assert log_of(new)[-1].position == position
    first, second = (entry.position for entry in new.read(lambda view: view.scan(LOG, "subject", ("epoch",))))
    assert first == 1
    assert last + EPOCH_STEP <= second < position
    assert second % EPOCH_STEP == 1
    assert (new.read(lambda view: view.scan(CLAIM, "key")) == []) is leases_end
    assert audit(new)["findings"] == []


# -- the bell ---------------------------------------------------------------------------------


def test_a_listener_hears_a_commit_that_came_before_it_waits(engine: Engine, clock: FakeClock) -> None:
    store, other = engine.open(clock), engine.open(clock)
    store.transact(ANN, lambda tx: tx.append(say("before anybody listens")))
    with store.listen() as bell:
        other.transact(ANN, lambda tx: tx.append(say("x")))
        assert bell.wait(60) is True


def test_a_listener_is_woken_while_it_waits(engine: Engine, clock: FakeClock) -> None:
    store, other = engine.open(clock), engine.open(clock)
    store.transact(ANN, lambda tx: tx.append(say("before anybody listens")))
    with store.listen() as bell:
        late = threading.Timer(0.05, lambda: other.transact(ANN, lambda tx: tx.append(say("x"))))
        late.start()
        assert bell.wait(60) is True
        late.join()


def test_silence_is_not_announced(store: Store) -> None:
    store.transact(ANN, lambda tx: tx.append(say("x")))
    with store.listen() as bell:
        # What was said before may still be announced, and then nothing is.
        assert not all(bell.wait(0.05) for _ in range(100))


# -- moving house -----------------------------------------------------------------------------


def test_a_log_can_be_loaded_into_an_empty_store(engine: Engine, store: Store, clock: FakeClock) -> None:
    from lineclear.store.memory import MemoryStore

    source = MemoryStore(clock)
    for _ in range(5):
        source.transact(ANN, lambda tx: tx.append(say("é")))
    assert store.load(log_of(source)) == 6
    for table in (*PROJECTED, LOG):
        assert rows_of(store, table) == rows_of(source, table)
    assert store.transact(ANN, lambda tx: tx.append(say("next")).position) == 7
    assert store.check() == []
    if engine.has_processes:
        with refused("store.not_empty"):
            store.load([])


def test_a_store_tells_about_itself(engine: Engine, store: Store) -> None:
    store.transact(ANN, lambda tx: tx.append(say("x")))
    found = store.info()
    assert (found["kind"], found["events"], found["head"]) == (engine.name, 2, 2)
