"""TASKS.md under any hands: what is written reads back the same, and no line and no task is ever lost."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from lineclear.core.tasks.page import (
    PageTask,
    find_edits,
    first_page,
    merge_items,
    parse_line,
    parse_page,
    render_page,
)
from lineclear.core.tasks.states import STATES

WORDS = st.text(st.characters(exclude_categories=("Cs", "Cc", "Zl", "Zp")), min_size=1, max_size=40).filter(
    str.strip
)
TASKS = st.lists(
    st.builds(
        PageTask,
        st.integers(1, 30),
        WORDS,
        st.sampled_from(STATES),
        priority=st.integers(0, 9),
        agent=st.sampled_from(["", "ada", "ada/tests", "codex-1"]),
        scope=st.lists(WORDS, max_size=3),
        after=st.lists(st.integers(1, 30), max_size=3),
    ),
    max_size=8,
).map(lambda found: {task.number: task for task in found})
LINES = st.one_of(
    st.sampled_from(
        ["", "# Heading", "- [ ] new", "- [x] old", "- [ ] T-3 x", "- [x] T-3 x @ada", "- [ ] T-77 odd",
         "  - [ ] T-5", "- [ ] T-5 (open) ada", "```", "<!-- lineclear says: hm -->", "- [ ] (open)", "\r"]
    ),
    st.text(st.characters(exclude_characters="\n"), max_size=60),
)  # fmt: skip
PAGES = st.lists(LINES, max_size=12).map("\n".join)


@given(PAGES, TASKS)
def test_a_page_that_was_written_is_written_the_same_again(text: str, tasks: dict[int, PageTask]) -> None:
    once = render_page(parse_page(text), tasks, 30)
    twice = render_page(parse_page(once), tasks, 30)
    assert render_page(parse_page(twice), tasks, 30) == twice
    assert find_edits(parse_page(twice), parse_page(twice), tasks) == []


@given(TASKS)
def test_a_page_of_ours_reads_back_as_it_is(tasks: dict[int, PageTask]) -> None:
    page = render_page(first_page(), tasks, 30)
    assert render_page(parse_page(page), tasks, 30) == page
    assert {item.number for item in parse_page(page) if item.number} == set(tasks)


@given(PAGES, PAGES, TASKS)
def test_no_page_whatsoever_raises(base: str, current: str, tasks: dict[int, PageTask]) -> None:
    for edit in find_edits(parse_page(base), parse_page(current), tasks):
        assert edit.kind
        parse_line(edit.value)


OWN = st.lists(WORDS.map(lambda word: f"own {word}"), max_size=6, unique=True)
EDITS = st.lists(
    st.tuples(st.sampled_from(["put", "cut", "tick"]), st.integers(0, 30), st.integers(0, 10**6)), max_size=5
)


def edited(text: str, edits: list[tuple[str, int, int]], who: str) -> tuple[str, list[str], set[str]]:
    """(the page after the edits, the lines that were put in, the lines that were taken out)."""
    lines = text.split("\n")[:-1]
    put: list[str] = []
    for kind, place, number in edits:
        at = place % (len(lines) + 1)
        if kind == "put":
            line = f"{who} writes {number} {len(put)}"
            lines.insert(at, line)
            put.append(line)
        elif kind == "cut" and at < len(lines) and lines[at] not in put:
            del lines[at]
        elif kind == "tick" and at < len(lines):
            lines[at] = lines[at].replace("[ ]", "[x]")
    left = "".join(line + "\n" for line in lines)
    return left, put, set(text.split("\n")) - set(lines)


@settings(max_examples=300)
@given(OWN, TASKS, st.lists(EDITS, max_size=4))
def test_edits_of_many_worktrees_lose_no_line_and_no_task(
    own: list[str], tasks: dict[int, PageTask], hands: list[list[tuple[str, int, int]]]
) -> None:
    base = render_page(parse_page("\n".join(own)), tasks, 30)
    shared, all_put, all_cut = parse_page(base), [], set()
    for number, hand in enumerate(hands):
        current, put, cut = edited(base, hand, f"w{number}")
        shared = merge_items(shared, parse_page(base), parse_page(current))
        all_put += put
        all_cut |= cut
    page = render_page(shared, tasks, 30)
    lines = page.split("\n")
    assert [line for line in all_put if lines.count(line) != 1] == []
    assert {item.number for item in parse_page(page) if item.number} == set(tasks)
    assert [line for line in base.split("\n") if line not in lines and line not in all_cut] == []
