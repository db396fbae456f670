"""What stays quick in a large store: counting, looking for a kind of event, and the doctor."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from lineclear.app import doctor, log
from lineclear.app.ports import Caller
from lineclear.app.status import status
from lineclear.core.log.events import Draft
from lineclear.core.log.tables import LOG, TASK
from tests.contract.test_store import task
from tests.world import FakeClock, Heartbeats

if TYPE_CHECKING:
    from lineclear.app.ports import Store, Tx, View

ANN = Caller("ann")


def count_rows(monkeypatch: pytest.MonkeyPatch, table: Any) -> list[object]:
    """Grows by every row of the table that an engine fetches."""
    fetched: list[object] = []
    make = table.row

    def count(*columns: Any) -> Any:
        fetched.append(columns)
        return make(*columns)

    monkeypatch.setattr(table, "row", count)
    return fetched


def test_the_status_counts_tasks_without_fetching_them(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    def work(tx: Tx) -> None:
        for number in range(1, 31):
            tx.put(TASK, task(number, "open", unmet=number % 2))
        tx.put(TASK, task(31, "taken", state="taken"))

    store.transact(ANN, work)
    fetched = count_rows(monkeypatch, TASK)
    shown = store.read(lambda view: status(view, Heartbeats(FakeClock()), "ann"))["tasks"]
    assert (shown["open"], shown["ready"], shown["handed_over"]) == (30, 15, 0)
    assert len(fetched) <= 1  # the taken one, which is shown


def say(store: Store, number: int) -> None:
    def work(tx: Tx) -> None:
        for text in range(number):
            tx.append(Draft("MessageSent", "all", audience="all", urgent=0, text=str(text)))

    store.transact(ANN, work)


def test_the_doctor_replays_a_short_log_and_leaves_a_long_one_to_audit(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    say(store, 20)
    assert [state for state, _ in doctor.check_log(store)] == ["ok"]
    monkeypatch.setattr(doctor, "MOST_REPLAYED", 10)
    fetched = count_rows(monkeypatch, LOG)
    [(state, text)] = doctor.check_log(store)
    assert state == "note"
    assert text.endswith("`lineclear audit` compares all of them with the tables")
    assert fetched == []


def test_a_search_for_a_rare_kind_ends_and_says_how_far_it_got(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.transact(ANN, lambda tx: tx.append(Draft("ValueDeleted", "k", key="k", version=1)))
    say(store, 60)
    monkeypatch.setattr(log, "BATCH", 10)
    monkeypatch.setattr(log, "MOST_SEARCHED", 40)
    fetched = count_rows(monkeypatch, LOG)

    def search(view: View) -> tuple[list[str], bool]:
        found = log.tail(view, kind="value")
        return [event["kind"] for event in found], log.is_cut(view, len(found), 50)

    assert store.read(search) == ([], True)
    assert len(fetched) == (0 if store.kind == "memory" else 40)
    monkeypatch.setattr(log, "MOST_SEARCHED", 100)
    assert store.read(search) == (["ValueDeleted"], False)
