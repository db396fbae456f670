"""Own writes over guessed facts: a transaction sees what a table with both in it would show."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lineclear.app.ports import Caller
from lineclear.core.events import Draft
from lineclear.core.instants import Instant
from lineclear.core.state import State
from lineclear.core.tables import MESSAGE, TASK_DEP, Message, TaskDep
from lineclear.store.postgres.positions import NeedsLock
from lineclear.store.postgres.speculation import MOST_KNOWN_ROWS, Known, SpeculativeTx
from lineclear.store.postgres.statements import GET, PICK, SCAN, Read

NOW = Instant(1, "postgres/1", 1)
small = st.integers(0, 5)
rows = st.lists(st.builds(TaskDep, small, small), max_size=12)
changes = st.lists(st.tuples(st.booleans(), st.builds(TaskDep, small, small)), max_size=8)
reads = st.one_of(
    st.builds(lambda key: Read(GET, TASK_DEP, "key", key), st.tuples(small, small)),
    st.builds(
        lambda index, values: Read(PICK, TASK_DEP, index, tuple(dict.fromkeys(values))),
        st.sampled_from(["key", "dep"]),
        st.lists(small, min_size=1, max_size=3),
    ),
    st.builds(
        lambda index, low, high, limit, reverse: Read(
            SCAN, TASK_DEP, index, (), low=low, high=high, limit=limit, reverse=reverse
        ),
        st.sampled_from(["key", "dep"]),
        st.one_of(st.none(), small),
        st.one_of(st.none(), small),
        st.integers(0, 4),
        st.booleans(),
    ),
    st.builds(
        lambda task, limit: Read(SCAN, TASK_DEP, "key", (task,), limit=limit), small, st.integers(0, 3)
    ),
)


def pairs(found: list[TaskDep]) -> list[tuple[int, int]]:
    return [(row.task, row.dep) for row in found]


def state_of(found: list[TaskDep]) -> State:
    state = State()
    for row in found:
        state.put(TASK_DEP, row)
    return state


def ask(tx: SpeculativeTx, read: Read) -> list[Any]:
    if read.kind == GET:
        row = tx.get(read.table, read.prefix)
        return [] if row is None else [row]
    if read.kind == PICK:
        return tx.pick(read.table, read.index, read.prefix)
    return tx.scan(
        read.table,
        read.index,
        read.prefix,
        low=read.low,
        high=read.high,
        limit=read.limit,
        reverse=read.reverse,
    )


def speculative(known: Known) -> SpeculativeTx:
    return SpeculativeTx(known, NOW, Caller("ann"), floor=100)


@given(base=rows, written=changes, read=reads)
def test_own_writes_are_merged_as_a_table_would_merge_them(
    base: list[TaskDep], written: list[tuple[bool, TaskDep]], read: Read
) -> None:
    known, truth = Known(), state_of(base)
    everything = Read(SCAN, TASK_DEP, "key", ())
    known.learn(everything, everything.answer(truth))
    tx = speculative(known)
    for is_put, row in written:
        for target in (tx, truth):
            if is_put:
                target.put(TASK_DEP, row)
            else:
                target.delete(TASK_DEP, TASK_DEP.key_of(row))
    assert pairs(ask(tx, read)) == pairs(read.answer(truth))


@given(before=rows, after=rows, read=reads)
def test_what_was_learnt_is_guessed_next_time(
    before: list[TaskDep], after: list[TaskDep], read: Read
) -> None:
    known, everything = Known(), Read(SCAN, TASK_DEP, "key", ())
    known.learn(everything, everything.answer(state_of(before)))
    answer = read.answer(state_of(after))
    known.learn(read, answer)
    assert pairs(known.guess(read)) == pairs(answer)


def test_nothing_remembered_means_nothing_there() -> None:
    tx = speculative(Known())
    assert tx.get(TASK_DEP, (1, 2)) is None
    assert tx.scan(TASK_DEP, "key") == []
    assert len(tx.guesses) == 2


def test_a_question_is_noted_once() -> None:
    tx = speculative(Known())
    for _ in range(3):
        tx.pick(TASK_DEP, "dep", (1, 2))
    assert len(tx.guesses) == 1


def test_an_own_row_is_found_without_a_question() -> None:
    tx = speculative(Known())
    event = tx.append(Draft("MessageSent", "all", audience="all", urgent=0, text="hello"))
    found = tx.get(MESSAGE, (event.position,))
    assert found is not None
    assert tx.guesses == {}
    # A position that is not given yet is nowhere else.
    assert tx.get(MESSAGE, (event.position + 1,)) is None
    assert tx.guesses == {}


def test_a_range_around_a_position_that_is_not_given_yet_asks_for_the_lock() -> None:
    tx = speculative(Known())
    event = tx.append(Draft("MessageSent", "all", audience="all", urgent=0, text="hello"))
    with pytest.raises(NeedsLock):
        tx.scan(MESSAGE, "key", low=event.position)
    with pytest.raises(NeedsLock):
        tx.scan(MESSAGE, "audience", (f"agent:{event.position}",))


def test_a_jump_of_positions_asks_for_the_lock() -> None:
    tx = speculative(Known())
    with pytest.raises(NeedsLock):
        tx.head = 200_000


def test_memory_is_bounded() -> None:
    known = Known()
    first = Read(GET, MESSAGE, "key", (0,))
    known.learn(first, [Message(0, "ann", "all", 0, "t")])
    for number in range(1, MOST_KNOWN_ROWS + 2):
        known.keep({MESSAGE.name: {(number,): Message(number, "ann", "all", 0, "t")}}, lambda value: value)
    assert known.guess(first) == []
