"""What every engine keeps of the store port: rows, order, transactions, snapshots."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest

from lineclear.app.log import audit
from lineclear.app.ports import Caller
from lineclear.core.log.events import Draft
from lineclear.core.log.queries import any_of, by_index, by_key
from lineclear.core.log.tables import (
    ALL,
    LOG,
    MESSAGE,
    OPERATION,
    TASK,
    VALUE,
    Message,
    Operation,
    Task,
    Value,
)  # fmt: skip
from tests.contract.three_engines import Engine, log_of, rows_of
from tests.world import FakeClock

if TYPE_CHECKING:
    from lineclear.app.ports import Store, Tx, View
    from lineclear.core.log.tables import Table

ANN = Caller("ann")

# By code point: accents after all of ASCII, a letter beyond 16 bits after one that is within.
ORDERED_KEYS = ["A", "Z", "a", "a b", "a-b", "a.b", "a/b", "a0", "ab", "b", "é", "ﾊ", "𝄞"]


def value(key: str, version: int = 1) -> Value:
    return Value(key, version, '"x"', 0, "ann", 1)


def task(number: int, title: str, *, state: str = "open", unmet: int = 0, priority: int = 5) -> Task:
    return Task(number, title, "", state, priority, unmet, "", "", "", "", 0, 3, "", "", 0, 1, 0, 0)


def put_values(store: Store, keys: list[str]) -> None:
    def work(tx: Tx) -> None:
        for key in keys:
            tx.put(VALUE, value(key))

    store.transact(ANN, work)


def keys_of(rows: list[Value]) -> list[str]:
    return [row.key for row in rows]


def say(text: str) -> Draft:
    return Draft("MessageSent", "all", audience="all", urgent=0, text=text)


# -- rows -------------------------------------------------------------------------------------


def test_a_row_comes_back_as_it_was_put(store: Store) -> None:
    odd = Value('k"\\', 3, '{"a":"\t\n\\u0001 é 𝄞 \x7f \u2028"}', 0, "ann", 9)
    store.transact(ANN, lambda tx: tx.put(VALUE, odd))
    found = store.read(lambda view: view.get(VALUE, (odd.key,)))
    assert found is not None
    assert found.as_dict() == odd.as_dict()
    # Once more inside a transaction.
    again = store.transact(ANN, lambda tx: tx.get(VALUE, (odd.key,)))
    assert again is not None
    assert again.as_dict() == odd.as_dict()


def test_what_is_named_in_advance_is_found_as_if_it_were_not(store: Store) -> None:
    def value(key: str, version: int) -> Value:
        return Value(key, version, "1", 0, "ann", 1)

    def fill(tx: Tx) -> None:
        for key in ("a", "b", "c"):
            tx.put(VALUE, value(key, 1))

    near = [by_key(VALUE, "a"), by_key(VALUE, "z"), any_of(VALUE, "key", "b", "z"), by_index(VALUE, "key")]

    def look(view: View) -> list[Any]:
        one, none = view.get(VALUE, ("a",)), view.get(VALUE, ("z",))
        rows = [*view.pick(VALUE, "key", ("b", "z")), *view.scan(VALUE, "key")]
        return [one and one.version, none and none.version, *((row.key, row.version) for row in rows)]

    def change(tx: Tx) -> tuple[list[Any], list[Any]]:
        before = look(tx)
        tx.put(VALUE, value("a", 2))
        tx.put(VALUE, value("z", 1))
        tx.delete(VALUE, ("b",))
        tx.prefetch(*near)
        return before, look(tx)

    def look_after(view: View) -> list[Any]:
        view.prefetch(*near, *near)
        return look(view)

    store.transact(ANN, fill)
    before, after = store.transact(ANN, change, near)
    assert before == [1, None, ("b", 1), ("a", 1), ("b", 1), ("c", 1)]
    assert after == [2, 1, ("z", 1), ("a", 2), ("c", 1), ("z", 1)]
    assert store.read(look_after) == after
    assert store.read(look) == after


def test_what_is_not_there_is_none(store: Store) -> None:
    assert store.read(lambda view: view.get(VALUE, ("k",))) is None
    assert store.read(lambda view: view.pick(VALUE, "key", ())) == []
    assert store.read(lambda view: view.scan(VALUE, "key")) == []


def test_the_largest_number_is_kept_exactly(store: Store) -> None:
    largest = 2**63 - 1
    store.transact(ANN, lambda tx: tx.put(VALUE, value("k", largest)))
    found = store.read(lambda view: view.get(VALUE, ("k",)))
    assert found is not None
    assert found.version == largest


def test_a_second_put_replaces_the_row(store: Store) -> None:
    put_values(store, ["k"])
    store.transact(ANN, lambda tx: tx.put(VALUE, value("k", 2)))
    assert [row.version for row in store.read(lambda view: view.scan(VALUE, "key"))] == [2]


def test_a_deleted_row_is_gone_and_deleting_it_again_is_no_error(store: Store) -> None:
    put_values(store, ["k", "l"])
    for _ in range(2):
        store.transact(ANN, lambda tx: tx.delete(VALUE, ("k",)))
    assert keys_of(store.read(lambda view: view.scan(VALUE, "key"))) == ["l"]


@pytest.mark.parametrize("table", [table for table in ALL if table is not LOG], ids=lambda table: table.name)
def test_every_table_can_be_written_and_read(store: Store, table: Table[Any]) -> None:
    kinds = table.row.__init__.__annotations__
    row = table.row(*[7 if kinds[column] == "int" else "x" for column in table.columns])
    store.transact(ANN, lambda tx: tx.put(table, row))
    assert rows_of(store, table) == [row.as_dict()]
    store.transact(ANN, lambda tx: tx.delete(table, table.key_of(row)))
    assert rows_of(store, table) == []


# -- pick and scan ----------------------------------------------------------------------------


def test_pick_finds_the_rows_of_several_values(store: Store) -> None:
    put_values(store, ORDERED_KEYS)
    odd = ['"', "\\", "{a,b}", "NULL", "", " ", "%s", "$1"]
    put_values(store, odd)
    assert sorted(keys_of(store.read(lambda view: view.pick(VALUE, "key", odd)))) == sorted(odd)
    wanted = ["𝄞", "a", "missing", "é"]
    assert sorted(keys_of(store.read(lambda view: view.pick(VALUE, "key", wanted)))) == ["a", "é", "𝄞"]


def test_pick_by_the_first_column_of_an_index_finds_all_rows_below_it(store: Store) -> None:
    def work(tx: Tx) -> None:
        for number, audience in enumerate(["all", "agent:a", "all"], 1):
            tx.put(MESSAGE, Message(number, "ann", audience, 0, "t"))

    store.transact(ANN, work)
    found = store.read(lambda view: view.pick(MESSAGE, "audience", ["all"]))
    assert sorted(message.id for message in found) == [1, 3]


def test_texts_are_ordered_by_code_point(store: Store) -> None:
    put_values(store, sorted(ORDERED_KEYS, key=len))
    assert keys_of(store.read(lambda view: view.scan(VALUE, "key"))) == ORDERED_KEYS
    assert keys_of(store.transact(ANN, lambda tx: tx.scan(VALUE, "key"))) == ORDERED_KEYS


@pytest.mark.parametrize(
    ("bounds", "expected"),
    [
        ({"low": "a", "high": "b"}, ["a b", "a-b", "a.b", "a/b", "a0", "ab"]),
        ({"low": "a/", "high": "a0"}, ["a/b"]),
        ({"low": "b"}, ["é", "ﾊ", "𝄞"]),
        ({"high": "a"}, ["A", "Z"]),
        ({"low": "b", "high": "a"}, []),
        ({"reverse": True, "limit": 2}, ["𝄞", "ﾊ"]),
        ({"low": "a", "limit": 2}, ["a b", "a-b"]),
        ({"high": "a0", "limit": 2, "reverse": True}, ["a/b", "a.b"]),
        ({"limit": 100, "low": "ab"}, ["b", "é", "ﾊ", "𝄞"]),
    ],
)
def test_a_scan_keeps_its_bounds_its_order_and_its_limit(
    store: Store, bounds: dict[str, Any], expected: list[str]
) -> None:
    put_values(store, ORDERED_KEYS)
    assert keys_of(store.read(lambda view: view.scan(VALUE, "key", **bounds))) == expected
    assert keys_of(store.transact(ANN, lambda tx: tx.scan(VALUE, "key", **bounds))) == expected


def test_a_scan_with_a_prefix_orders_by_the_rest_of_the_index(store: Store) -> None:
    def work(tx: Tx) -> None:
        tx.put(TASK, task(1, "late", priority=7))
        tx.put(TASK, task(2, "blocked", unmet=1, priority=0))
        tx.put(TASK, task(3, "taken", state="taken", priority=0))
        tx.put(TASK, task(10, "early", priority=3))
        tx.put(TASK, task(9, "early too", priority=3))

    store.transact(ANN, work)
    ready = store.read(lambda view: view.scan(TASK, "ready", ("open", 0)))
    assert [found.id for found in ready] == [9, 10, 1]
    urgent = store.read(lambda view: view.scan(TASK, "ready", ("open", 0), high=7))
    assert [found.id for found in urgent] == [9, 10]
    newest = store.read(lambda view: view.scan(TASK, "key", reverse=True, limit=1))
    assert [found.id for found in newest] == [10]


def test_numbers_are_ordered_as_numbers(store: Store) -> None:
    def work(tx: Tx) -> None:
        for number in (10, 9, 100, 1):
            tx.put(TASK, task(number, "t"))

    store.transact(ANN, work)
    assert [found.id for found in store.read(lambda view: view.scan(TASK, "key", low=1))] == [9, 10, 100]


def test_sift_finds_by_value_and_by_range_what_its_entry_lets_pass(store: Store) -> None:
    put_values(store, ORDERED_KEYS)

    def sift(view: View) -> list[str]:
        found = view.sift(VALUE, "key", ("A", "𝄞", "b"), "a", "b", lambda entry: entry[0] not in ("b", "a0"))
        return sorted(keys_of(found))

    expected = sorted(["A", "𝄞", "a b", "a-b", "a.b", "a/b", "ab"])
    assert store.read(sift) == expected

    def work(tx: Tx) -> list[str]:
        tx.put(VALUE, value("ac"))
        tx.delete(VALUE, ("A",))
        return sift(tx)

    assert store.transact(ANN, work) == sorted([*expected[1:], "ac"])


# -- a transaction sees its own writes ----------------------------------------------------------


def test_a_transaction_sees_what_it_has_put_and_deleted(store: Store) -> None:
    put_values(store, ["b", "d", "f"])

    def work(tx: Tx) -> list[list[str]]:
        tx.put(VALUE, value("c"))
        tx.put(VALUE, value("d", 2))
        tx.delete(VALUE, ("f",))
        tx.put(VALUE, value("g"))
        tx.delete(VALUE, ("g",))
        assert tx.get(VALUE, ("f",)) is None
        changed = tx.get(VALUE, ("d",))
        assert changed is not None
        assert changed.version == 2
        return [
            keys_of(tx.scan(VALUE, "key")),
            keys_of(tx.scan(VALUE, "key", reverse=True)),
            keys_of(tx.scan(VALUE, "key", low="b", limit=2)),
            keys_of(tx.scan(VALUE, "key", limit=1, reverse=True)),
            sorted(keys_of(tx.pick(VALUE, "key", ["b", "c", "f", "g"]))),
        ]

    everything, reverse, limited, last, picked = store.transact(ANN, work)
    assert everything == ["b", "c", "d"]
    assert reverse == ["d", "c", "b"]
    assert limited == ["c", "d"]
    assert last == ["d"]
    assert picked == ["b", "c"]


def test_a_count_is_what_a_scan_would_find(store: Store) -> None:
    def work(tx: Tx) -> None:
        tx.put(TASK, task(1, "open"))
        tx.put(TASK, task(2, "blocked", unmet=1))
        tx.put(TASK, task(3, "taken", state="taken"))

    def counts(view: View) -> list[int]:
        return [view.count(TASK, "ready", prefix) for prefix in ((), ("open",), ("open", 0), ("gone",))]

    def change(tx: Tx) -> list[int]:
        before = counts(tx)
        tx.delete(TASK, (1,))
        tx.put(TASK, task(3, "given back"))
        tx.put(TASK, task(4, "new", unmet=2))
        return [*before, *counts(tx)]

    store.transact(ANN, work)
    assert store.read(counts) == [3, 2, 1, 0]
    assert store.transact(ANN, change) == [3, 2, 1, 0, 3, 3, 1, 0]
    assert store.read(counts) == [3, 3, 1, 0]


def test_own_deletions_do_not_shorten_a_limited_scan(store: Store) -> None:
    put_values(store, ["a", "b", "c", "d", "e"])

    def work(tx: Tx) -> list[str]:
        tx.delete(VALUE, ("a",))
        tx.delete(VALUE, ("c",))
        return keys_of(tx.scan(VALUE, "key", limit=3))

    assert store.transact(ANN, work) == ["b", "d", "e"]


def test_a_row_that_moves_in_an_index_is_found_in_its_new_place(store: Store) -> None:
    store.transact(ANN, lambda tx: tx.put(TASK, task(1, "t")))

    def work(tx: Tx) -> tuple[list[int], list[int]]:
        found = tx.get(TASK, (1,))
        assert found is not None
        tx.put(TASK, found.changed(state="taken"))
        return (
            [row.id for row in tx.scan(TASK, "ready", ("open",))],
            [row.id for row in tx.scan(TASK, "ready", ("taken",))],
        )

    assert store.transact(ANN, work) == ([], [1])


def test_an_event_can_be_found_by_its_position_and_its_subject_at_once(store: Store) -> None:
    store.transact(ANN, lambda tx: tx.append(say("first")))

    def work(tx: Tx) -> tuple[Any, list[int], list[int], int]:
        event = tx.append(say("second"))
        entry, message = tx.get(LOG, (event.position,)), tx.get(MESSAGE, (event.position,))
        assert entry is not None
        assert message is not None
        newest = [row.position for row in tx.scan(LOG, "subject", ("all",), reverse=True, limit=1)]
        return (
            message.text,
            newest,
            [row.id for row in tx.scan(MESSAGE, "audience", ("all",))],
            event.position,
        )

    text, newest, ids, position = store.transact(ANN, work)
    assert text == "second"
    assert newest == [position]
    assert ids == [position - 1, position]


# -- transactions -----------------------------------------------------------------------------


def test_events_are_numbered_one_by_one_and_folded(store: Store) -> None:
    def work(tx: Tx) -> list[int]:
        return [tx.append(say(f"message {number}")).position for number in range(3)]

    first = store.transact(ANN, work)
    second = store.transact(ANN, work)
    assert [*first, *second] == list(range(first[0], first[0] + 6))
    assert [entry.position for entry in log_of(store)][-6:] == [*first, *second]
    messages = store.read(lambda view: view.scan(MESSAGE, "audience", ("all",)))
    assert [message.id for message in messages] == [*first, *second]
    assert audit(store)["findings"] == []


def test_the_head_is_the_last_position(store: Store) -> None:
    def work(tx: Tx) -> tuple[int, int, int]:
        before = tx.head
        return before, tx.append(say("x")).position, tx.head

    store.transact(ANN, work)
    before, position, after = store.transact(ANN, work)
    assert position == after == before + 1
    assert store.read(lambda view: view.head) == after


def test_a_position_may_be_written_into_texts_and_compared(store: Store) -> None:
    store.transact(ANN, lambda tx: tx.append(say("before")))

    def work(tx: Tx) -> dict[str, Any]:
        before = tx.head
        event = tx.append(say("news"))
        tx.append(
            Draft("TaskNoted", f"about:{event.position}", id=1, text=f"see {event.position}, {tx.head + 1}")
        )
        return {
            "is_newer": event.position > before,
            "next": event.position + 1,
            "step": event.position - before,
            "text": f"<{event.position}>",
            "list": [(event.position,)],
        }

    found = store.transact(ANN, work)
    entry = log_of(store)[-1]
    position = entry.position - 1
    assert entry.subject == f"about:{position}"
    assert entry.body == f'{{"id":1,"text":"see {position}, {position + 1}"}}'
    assert found == {
        "is_newer": True,
        "next": position + 1,
        "step": 1,
        "text": f"<{position}>",
        "list": [(position,)],
    }


QUESTIONS: dict[str, Callable[[int], Any]] = {
    "a part of it": lambda position: position // 2,
    "a remainder": lambda position: position % 7,
    "a multiple": lambda position: position * 2,
    "the opposite": lambda position: -position,
    "is it a number from the future": lambda position: position == 10**6,
    "is it less than one from the future": lambda position: position < 10**6,
    "with zeros in front": lambda position: f"{position:08d}",
    "long before": lambda position: position - 20_000,
}


@pytest.mark.parametrize("question", QUESTIONS)
def test_whatever_a_rule_asks_about_a_position_is_answered_with_the_true_number(
    store: Store, question: str
) -> None:
    answer = QUESTIONS[question]
    store.transact(ANN, lambda tx: tx.append(say("before")))
    before = store.read(lambda view: view.head)
    assert store.transact(ANN, lambda tx: answer(tx.append(say("x")).position)) == answer(before + 1)
    assert store.read(lambda view: view.head) == before + 1


def test_an_event_carries_actor_time_operation_and_what_its_actor_had_seen(
    store: Store, clock: FakeClock
) -> None:
    store.transact(Caller("bob", op="op-1", seen=1), lambda tx: tx.append(say("x")))
    entry = log_of(store)[-1]
    assert (entry.actor, entry.op, entry.seen, entry.at_ns) == ("bob", "op-1", 1, clock().wall_ns)
    assert (entry.kind, entry.subject) == ("MessageSent", "all")


def test_an_exception_leaves_nothing_behind(store: Store) -> None:
    put_values(store, ["k"])
    before = store.read(lambda view: view.head)

    def work(tx: Tx) -> None:
        tx.append(say("never"))
        tx.put(VALUE, value("k", 2))
        tx.put(VALUE, value("l"))
        tx.delete(VALUE, ("k",))
        raise LookupError("no")

    with pytest.raises(LookupError, match="no"):
        store.transact(ANN, work)
    assert store.read(lambda view: view.head) == before
    assert [row.version for row in store.read(lambda view: view.scan(VALUE, "key"))] == [1]
    assert store.read(lambda view: view.scan(MESSAGE, "key")) == []
    assert store.transact(ANN, lambda tx: tx.append(say("next")).position) == before + 1


def test_a_refusal_quotes_the_positions_as_they_are(store: Store) -> None:
    store.transact(ANN, lambda tx: tx.append(say("x")))
    head = store.read(lambda view: view.head)

    def work(tx: Tx) -> None:
        position = tx.append(say("never")).position
        raise ValueError(f"{position} is refused")

    with pytest.raises(ValueError, match=f"^{head + 1} is refused$"):
        store.transact(ANN, work)


def test_a_quiet_put_changes_no_log(store: Store) -> None:
    store.transact(ANN, lambda tx: tx.append(say("x")))
    before = log_of(store)
    store.transact(ANN, lambda tx: tx.put(OPERATION, Operation("op", "digest", "{}", 1, 1)))
    assert len(log_of(store)) == len(before)
    assert store.read(lambda view: view.head) == before[-1].position
    assert [row.key for row in store.read(lambda view: view.scan(OPERATION, "age"))] == ["op"]


def test_a_transaction_without_writes_changes_nothing(store: Store) -> None:
    put_values(store, ["k"])
    before = log_of(store)
    assert store.transact(ANN, lambda tx: tx.get(VALUE, ("k",)) is not None) is True
    assert len(log_of(store)) == len(before)


def test_two_writers_at_once_number_their_events_without_a_gap(engine: Engine, clock: FakeClock) -> None:
    stores = [engine.open(clock) for _ in range(2)]
    failures: list[BaseException] = []

    def write(store: Store, name: str) -> None:
        try:
            for _ in range(50):
                store.transact(Caller(name), lambda tx: tx.append(say("x")))
        except BaseException as error:
            failures.append(error)
            raise

    threads = [threading.Thread(target=write, args=pair) for pair in zip(stores, ("ann", "bob"), strict=True)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    entries = log_of(stores[0])
    assert [entry.position for entry in entries] == list(range(1, 102))
    said = [entry for entry in entries if entry.kind == "MessageSent"]
    assert sorted(entry.actor for entry in said) == ["ann"] * 50 + ["bob"] * 50
    assert audit(stores[0])["findings"] == []


def test_counting_up_a_value_from_two_stores_loses_nothing(engine: Engine, clock: FakeClock) -> None:
    stores = [engine.open(clock) for _ in range(2)]
    put_values(stores[0], ["counter"])

    def count(tx: Tx) -> None:
        found = tx.get(VALUE, ("counter",))
        assert found is not None
        tx.put(VALUE, found.changed(version=found.version + 1))

    def write(store: Store) -> None:
        for _ in range(25):
            store.transact(ANN, count)

    threads = [threading.Thread(target=write, args=(store,)) for store in stores]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [row.version for row in stores[0].read(lambda view: view.scan(VALUE, "key"))] == [51]


# -- reading ----------------------------------------------------------------------------------


def test_a_read_sees_one_moment_while_others_write(engine: Engine, clock: FakeClock) -> None:
    if not engine.has_processes:
        pytest.skip("one process, one lock: nobody writes while somebody reads")
    reader, writer = engine.open(clock), engine.open(clock)
    put_values(writer, ["a"])

    def look(view: View) -> tuple[list[str], list[str], bool]:
        before, head = keys_of(view.scan(VALUE, "key")), view.head
        put_values(writer, ["b"])
        writer.transact(ANN, lambda tx: tx.append(say("x")))
        return before, keys_of(view.scan(VALUE, "key")), view.head == head

    assert reader.read(look) == (["a"], ["a"], True)
    assert keys_of(reader.read(lambda view: view.scan(VALUE, "key"))) == ["a", "b"]


def test_a_read_tells_the_time(store: Store, clock: FakeClock) -> None:
    store.transact(ANN, lambda tx: tx.append(say("x")))
    clock.advance(5_000)
    now = store.read(lambda view: view.now)
    assert (now.tick_ns, now.boot) == (clock().tick_ns, clock().boot)


def test_the_shortlist_finds_tasks_that_share_words(store: Store) -> None:
    def work(tx: Tx) -> None:
        tx.put(TASK, task(1, "Repair the login form"))
        tx.put(TASK, task(2, "Write release notes"))
        tx.put(TASK, task(3, "Login form loses the password"))

    store.transact(ANN, work)
    for found in (
        store.read(lambda view: view.search_tasks("login form broken", 5)),
        store.transact(ANN, lambda tx: tx.search_tasks("login form broken", 5)),
    ):
        assert sorted(found) == [1, 3]
    assert len(store.read(lambda view: view.search_tasks("login form", 1))) == 1
    assert store.read(lambda view: view.search_tasks("zebra", 5)) == []
    assert store.read(lambda view: view.search_tasks("'& | !", 5)) == []
