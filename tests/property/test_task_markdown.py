"""The Markdown of tasks: a line that was written reads back as the same line, in a list and in TASKS.md."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from lineclear.core.tasks.markdown import (
    TaskLine,
    attribute_of,
    entries_of,
    key_of,
    read_list,
    read_page_line,
    write_line,
)
from lineclear.core.tasks.states import STATES

PRINTABLE = st.text(st.characters(exclude_categories=("Cs", "Cc", "Zl", "Zp")), max_size=12)
PIECES = st.sampled_from(
    [
        "- [ ] ",
        "T-1 ",
        "[T-2] ",
        " (open)",
        " (priority: 2)",
        " @ada",
        "(",
        ")",
        '"',
        ";",
        ",",
        ":",
        "\\",
        "x",
    ]
)
TEXTS = st.lists(PIECES | PRINTABLE, min_size=1, max_size=6).map("".join)
TITLES = TEXTS.map(str.strip).filter(bool)
IDS = st.integers(1, 10**15 - 1).map("T-{}".format)
INDENTS = st.text(" \t", max_size=4)
ENTRIES = st.lists(TEXTS, min_size=1, max_size=3)


def attributes(keys: list[str], *, least: int) -> st.SearchStrategy[tuple[str, ...]]:
    return st.lists(st.builds(attribute_of, st.sampled_from(keys), ENTRIES), min_size=least, max_size=3).map(
        tuple
    )


# A line without parentheses or an id is not in these: a title that looks like more than a title needs them.
PAGE_LINES = st.builds(
    TaskLine,
    title=TITLES,
    is_done=st.booleans(),
    id=IDS,
    state=st.sampled_from(STATES),
    attributes=attributes(["priority", "scope", "after", "waits for"], least=0),
    agent=st.sampled_from(["", "ada", "ada/tests", "codex-1"]),
    indent=INDENTS,
)
LIST_LINES = st.builds(
    TaskLine,
    title=TITLES,
    is_done=st.booleans(),
    id=IDS,
    attributes=attributes(["priority", "scope", "produces", "labels", "needs", "after"], least=1),
    indent=INDENTS,
)


@given(PAGE_LINES)
def test_a_line_of_the_page_reads_back_as_itself(line: TaskLine) -> None:
    assert read_page_line(write_line(line)) == line


@given(LIST_LINES)
def test_a_line_of_a_list_reads_back_as_itself(line: TaskLine) -> None:
    assert [task.line for task in read_list([write_line(line)], most=2)] == [line]


@given(st.sampled_from(["scope", "needs", "after"]), ENTRIES)
def test_entries_read_back_as_themselves(key: str, entries: list[str]) -> None:
    written = attribute_of(key, entries)
    assert (key_of(written), entries_of(written)) == (key, entries)
