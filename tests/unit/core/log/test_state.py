"""The tables in memory agree with a filter and a sort over all rows, whatever was put, changed or deleted."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from lineclear.core.log.state import FoldedState
from lineclear.core.log.tables import CLAIM, TASK, Table, TableRow, TaskDep


class Cell(TableRow):
    """A row with a key of two columns and indexes of one, two and mixed columns."""

    __slots__ = ("name", "number", "colour", "size")

    def __init__(self, name: str, number: int, colour: str, size: int) -> None:
        self.name, self.number, self.colour, self.size = name, number, colour, size


CELL: Table[Cell] = Table(
    "cell", Cell, ("name", "number"), {"colour": ("colour",), "sized": ("colour", "size"), "size": ("size",)}
)

NAMES = st.sampled_from(["", "a", "a/", "a/b", "a0", "b", "é", "\U0001f600"])
COLOURS = st.sampled_from(["", "red", "red/", "red0", "ruby", "é"])
NUMBERS = st.integers(-2, 4)
CELLS = st.builds(Cell, NAMES, NUMBERS, COLOURS, NUMBERS)
# A row to put, or a key to delete.
STEPS = st.lists(st.one_of(CELLS, st.tuples(NAMES, NUMBERS)), max_size=30)


def apply(steps: list[Any], state: FoldedState) -> dict[tuple[str, int], Cell]:
    """The same steps on the state and on a plain dictionary."""
    naive: dict[tuple[str, int], Cell] = {}
    for step in steps:
        if isinstance(step, Cell):
            state.put(CELL, step)
            naive[step.name, step.number] = step
        else:
            state.delete(CELL, step)
            naive.pop(step, None)
    return naive


def columns_of(cell: Cell, index: str) -> tuple[Any, ...]:
    return tuple(getattr(cell, column) for column in CELL.indexes[index])


def naive_scan(
    rows: dict[tuple[str, int], Cell], index: str, prefix: tuple[Any, ...], low: Any, high: Any
) -> list[Cell]:
    width = len(prefix)
    chosen = []
    for cell in rows.values():
        columns = columns_of(cell, index)
        after = columns[width] if width < len(columns) else None
        is_in = columns[:width] == prefix
        is_in = is_in and (low is None or after > low) and (high is None or after < high)
        if is_in:
            chosen.append(cell)
    return sorted(chosen, key=lambda cell: (columns_of(cell, index), (cell.name, cell.number)))


@st.composite
def scans(draw: st.DrawFn) -> tuple[str, tuple[Any, ...], Any, Any]:
    """An index, a prefix of its columns, and bounds of the column after it (if there is one)."""
    values = {"name": NAMES, "number": NUMBERS, "colour": COLOURS, "size": NUMBERS}
    index = draw(st.sampled_from(sorted(CELL.indexes)))
    columns = CELL.indexes[index]
    width = draw(st.integers(0, len(columns)))
    prefix = tuple(draw(values[column]) for column in columns[:width])
    if width == len(columns):
        return index, prefix, None, None
    bound = st.none() | values[columns[width]]
    return index, prefix, draw(bound), draw(bound)


@settings(max_examples=300)
@given(STEPS, scans(), st.integers(0, 5), st.booleans(), STEPS)
def test_a_scan_is_a_filter_and_a_sort(
    steps: list[Any], wanted: tuple[str, Any, Any, Any], limit: int, reverse: bool, later: list[Any]
) -> None:
    index, prefix, low, high = wanted
    state = FoldedState()
    apply(steps, state)
    # Once before the later steps, so that the index exists and has to be kept up.
    state.scan(CELL, index, prefix)
    naive = apply(steps + later, state)
    expected = naive_scan(naive, index, prefix, low, high)
    if reverse:
        expected.reverse()
    found = state.scan(CELL, index, prefix, low=low, high=high, limit=limit, reverse=reverse)
    assert found == (expected[:limit] if limit else expected)


@settings(max_examples=300)
@given(STEPS, st.sampled_from(["colour", "sized"]), st.lists(COLOURS, unique=True), STEPS)
def test_a_pick_is_a_filter_on_the_first_column(
    steps: list[Any], index: str, values: list[str], later: list[Any]
) -> None:
    state = FoldedState()
    apply(steps, state)
    state.pick(CELL, index, values)
    naive = apply(steps + later, state)
    found = state.pick(CELL, index, values)
    assert len(found) == len(set(found))
    assert set(found) == {cell for cell in naive.values() if cell.colour in values}


@given(STEPS)
def test_the_newest_row_of_a_key_is_the_row(steps: list[Any]) -> None:
    state = FoldedState()
    naive = apply(steps, state)
    assert {CELL.key_of(row): row for row in state.all_rows(CELL)} == naive
    assert state.count(CELL, "key") == len(naive)
    for key in naive:
        assert state.get(CELL, key) is naive[key]
    assert state.get(CELL, ("nowhere", 99)) is None


def test_tables_do_not_see_each_other() -> None:
    state = FoldedState()
    state.put(CELL, Cell("a", 1, "red", 2))
    assert state.scan(CLAIM, "key") == []
    assert state.count(TASK, "key") == 0


def test_a_changed_row_is_a_new_one() -> None:
    first = TaskDep(1, 2)
    second = first.changed(dep=3)
    assert (first.as_dict(), second.as_dict()) == ({"task": 1, "dep": 2}, {"task": 1, "dep": 3})
