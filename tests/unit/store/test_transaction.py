"""Own writes over the server's facts: a transaction sees what a table with both in it would show."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from lineclear.app.ports import Caller
from lineclear.core.instants import Instant
from lineclear.core.log.events import Draft
from lineclear.core.log.queries import GET, PICK, Question, any_of, by_index, by_key
from lineclear.core.log.state import FoldedState
from lineclear.core.log.tables import MESSAGE, TASK_DEP, TaskDep
from lineclear.store.postgres.transaction import PostgresTx

small = st.integers(0, 5)
rows = st.lists(st.builds(TaskDep, small, small), max_size=12)
changes = st.lists(st.tuples(st.booleans(), st.builds(TaskDep, small, small)), max_size=8)
questions = st.one_of(
    st.builds(lambda task, dep: by_key(TASK_DEP, task, dep), small, small),
    st.builds(
        lambda index, values: any_of(TASK_DEP, index, *values),
        st.sampled_from(["key", "dep"]),
        st.lists(small, min_size=1, max_size=3),
    ),
    st.builds(
        lambda index, low, high, limit, reverse: by_index(
            TASK_DEP, index, low=low, high=high, limit=limit, reverse=reverse
        ),
        st.sampled_from(["key", "dep"]),
        st.one_of(st.none(), small),
        st.one_of(st.none(), small),
        st.integers(0, 4),
        st.booleans(),
    ),
    st.builds(lambda task, limit: by_index(TASK_DEP, "key", task, limit=limit), small, st.integers(0, 3)),
)


class TxOnState(PostgresTx):
    """A transaction whose server is a state in memory; it counts what is asked of it."""

    def __init__(self, facts: FoldedState) -> None:
        super().__init__(None, "repo", None, Caller("ann"))  # type: ignore[arg-type]
        self.facts, self.asked = facts, 0
        self.now, self.head = Instant(1, "postgres/1", 1), 100

    def _ask(self, question: Question) -> list[Any]:
        self.asked += 1
        return question.answer(self.facts)


def pairs(found: list[TaskDep]) -> list[tuple[int, int]]:
    return [(row.task, row.dep) for row in found]


def state_of(found: list[TaskDep]) -> FoldedState:
    state = FoldedState()
    for row in found:
        state.put(TASK_DEP, row)
    return state


def ask(tx: PostgresTx, asked: Question) -> list[Any]:
    if asked.kind == GET:
        row = tx.get(asked.table, asked.prefix)
        return [] if row is None else [row]
    if asked.kind == PICK:
        return tx.pick(asked.table, asked.index, asked.prefix)
    return tx.scan(
        asked.table,
        asked.index,
        asked.prefix,
        low=asked.low,
        high=asked.high,
        limit=asked.limit,
        reverse=asked.reverse,
    )


@given(base=rows, written=changes, asked=questions)
def test_own_writes_are_merged_as_a_table_would_merge_them(
    base: list[TaskDep], written: list[tuple[bool, TaskDep]], asked: Question
) -> None:
    tx, truth = TxOnState(state_of(base)), state_of(base)
    for is_put, row in written:
        for target in (tx, truth):
            if is_put:
                target.put(TASK_DEP, row)
            else:
                target.delete(TASK_DEP, TASK_DEP.key_of(row))
    assert pairs(ask(tx, asked)) == pairs(asked.answer(truth))


def test_an_own_row_is_found_without_a_question() -> None:
    tx = TxOnState(FoldedState())
    event = tx.append(Draft("MessageSent", "all", audience="all", urgent=0, text="hello"))
    assert event.position == 101
    assert tx.get(MESSAGE, (101,)) is not None
    assert tx.asked == 0
