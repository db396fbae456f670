"""Several uses of the store as one transaction: all of it or nothing, with true numbers, among others."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

import pytest

from lineclear.app import claims
from lineclear.app.log import audit
from lineclear.app.messages import say
from lineclear.app.ports import Caller, NobodyDies
from lineclear.core.claims import EXCLUSIVE, Request
from lineclear.core.refusals import Refusal
from lineclear.core.resources import parse_resource
from lineclear.core.tables import LOG
from lineclear.store.postgres.engine import PostgresStore, Shelf
from tests.integration.postgres.desk import ANN, HOUR_MS, REPO, claim, execute, session_of
from tests.integration.postgres.slow_line import slow_line
from tests.waiting import until
from tests.world import refused

if TYPE_CHECKING:
    from lineclear.app.ports import Store

pytestmark = pytest.mark.postgres


def ask(store: Store, text: str, name: str = "ann") -> Any:
    request = Request(name, "main", EXCLUSIVE, [parse_resource(text)], ttl_ms=HOUR_MS)
    return claims.ask(store, NobodyDies(), Caller(name), request)["fence"]


def together(store: PostgresStore, work: Any) -> Any:
    found = store.together(work, lambda result, settled: settled.of(result))
    return found[0] if found is not None else None


def kinds(store: PostgresStore) -> list[str]:
    return [entry.kind for entry in store.read(lambda view: view.scan(LOG, "key"))]


def test_what_one_part_wrote_the_next_one_sees(store: PostgresStore) -> None:
    claim(store, "warm.py")

    def work(inner: Store) -> list[int]:
        first, second = ask(inner, "a.py"), ask(inner, "b.py")
        with refused("claim.held"):
            ask(inner, "a.py", "bob")
        return [first, second, say(inner, ANN, "done")["id"]]

    assert together(store, work) == [4, 5, 6]
    assert store.read(lambda view: view.head) == 6
    assert audit(store)["findings"] == []


def test_a_part_that_refuses_takes_back_only_its_own(store: PostgresStore) -> None:
    claim(store, "warm.py")
    before = len(kinds(store))

    def work(inner: Store) -> int:
        fence: int = ask(inner, "a.py")

        def fail(tx: Any) -> None:
            tx.append(_message("never"))
            raise Refusal("test.no", "no")

        with pytest.raises(Refusal):
            inner.transact(ANN, fail)
        say(inner, ANN, "after")
        return fence

    assert together(store, work) == before + 1
    assert kinds(store)[before:] == ["ClaimGranted", "MessageSent"]


def _message(text: str) -> Any:
    from tests.integration.postgres.desk import say as draft

    return draft(text)


def test_a_refusal_of_the_whole_leaves_nothing(store: PostgresStore) -> None:
    claim(store, "warm.py")
    before = kinds(store)

    def work(inner: Store) -> None:
        say(inner, ANN, "first")
        ask(inner, "warm.py", "bob")

    # Its words could quote numbers that are not given: it has to be asked step by step.
    assert store.together(work, lambda result, _: result) is None
    assert kinds(store) == before


def test_among_eight_threads_every_fence_is_given_once(url: str) -> None:
    told: list[int] = []

    def run(number: int) -> None:
        store = PostgresStore(url, REPO)
        claim(store, f"{number}/warm.py", f"agent-{number}")
        for turn in range(10):
            names = [f"{number}/{turn}.py", f"{number}/{turn}.txt"]
            fences = None
            while fences is None:
                fences = together(
                    store, lambda inner, names=names: [ask(inner, name, f"agent-{number}") for name in names]
                )
            told.extend(fences)
        store.close()

    threads = [threading.Thread(target=run, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(told)) == len(told) == 160
    store = PostgresStore(url, REPO)
    granted = {
        entry.position
        for entry in store.read(lambda view: view.scan(LOG, "key"))
        if entry.kind == "ClaimGranted"
    }
    assert set(told) <= granted
    assert audit(store)["findings"] == []
    store.close()


def test_a_guess_by_several_ancestors_comes_true_at_once(store: PostgresStore, url: str) -> None:
    other = PostgresStore(url, REPO)
    claims.ask(other, NobodyDies(), Caller("zoe"), _intent("zoe", "src"))
    claims.ask(other, NobodyDies(), Caller("abe"), _intent("abe", "src/deep"))
    claims.ask(store, NobodyDies(), Caller("ann"), _intent("ann", "src/deep/x.py"))
    before = store.round_trips
    claims.ask(store, NobodyDies(), Caller("ann"), _intent("ann", "src/deep/x.py"))
    assert store.round_trips - before == 1
    other.close()


def _intent(name: str, text: str) -> Request:
    return Request(name, f"tree-{name}", "intent", [parse_resource(text)], ttl_ms=HOUR_MS)


# -- connections that are kept --------------------------------------------------------------------


def test_a_kept_connection_and_what_it_knows_are_used_again(url: str) -> None:
    shelf = Shelf()
    first = PostgresStore(url, REPO, shelf=shelf)
    claim(first, "a.py")
    pid = backend(first)
    first.close()
    second = PostgresStore(url, REPO, shelf=shelf)
    assert backend(second) == pid
    before = second.round_trips
    claim(second, "b.py")
    assert second.round_trips - before == 1
    third = PostgresStore(url, REPO, shelf=shelf)
    assert backend(third) != pid  # one store's alone while it is used
    third.close()
    second.close()


def test_a_kept_connection_that_died_is_not_used(url: str) -> None:
    shelf = Shelf()
    first = PostgresStore(url, REPO, shelf=shelf)
    pid, session = backend(first), session_of(first)
    first.close()
    execute(url, f"SELECT pg_terminate_backend({pid}, 60000)")
    until(lambda: not session.wire.is_open())  # the news travels, too
    second = PostgresStore(url, REPO, shelf=shelf)
    assert claim(second, "a.py")["fence"] == 3
    second.close()


def backend(store: PostgresStore) -> int:
    return int(session_of(store).ask(("SELECT pg_backend_pid()", ()))[0].get_value(0, 0) or b"0")


# -- patience -------------------------------------------------------------------------------------


def test_a_silent_server_is_given_up_on(url: str) -> None:
    with slow_line(url) as line:
        store = PostgresStore(line.url, REPO, patience_s=2)
        claim(store, "a.py")
        line.freeze()
        with refused("store.failed") as caught:
            claim(store, "b.py")
        assert caught.value.facts["is_lost"] is True
        with refused("store.unreachable"):
            claim(store, "b.py")
        line.repair()
        assert claim(store, "b.py")["claims"][0]["resource"] == "file:b.py"
        store.close()


def test_what_was_only_asked_and_not_written_is_known_not_to_have_happened(url: str) -> None:
    other = PostgresStore(url, REPO)
    claim(other, "taken.py", "bob")
    with slow_line(url) as line:
        store = PostgresStore(line.url, REPO)
        with refused("claim.held"):
            claim(store, "taken.py")  # learns of it
        line.swallow_answers()
        with refused("store.unreachable"):
            claim(store, "taken.py")
        line.repair()
        store.close()
    other.close()
