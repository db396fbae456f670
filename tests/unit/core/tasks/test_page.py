"""TASKS.md: what a line says, what an edit asks for, and what stays where it is."""

from __future__ import annotations

import pytest

from lineclear.core.tasks.page import (
    ADD,
    DONE,
    FIXED,
    MARK,
    MOST_LINE_CHARS,
    MOST_NOTES,
    REOPEN,
    REORDER,
    RETITLE,
    TAKE,
    TWICE,
    UNKNOWN,
    Item,
    PageTask,
    find_edits,
    first_page,
    merge_items,
    parse_line,
    parse_page,
    render_line,
    render_page,
    write_note,
)

LOGIN = PageTask(1, "Login form", "open", scope=["file:src/auth/"])
TAKEN = PageTask(2, "Logout (v2)", "taken", priority=2, agent="ada", after=[1])
TASKS = {1: LOGIN, 2: TAKEN}
PAGE = render_page(first_page(), TASKS, 2)


def edits(current: str, base: str = PAGE) -> list[tuple[str, int, str, str]]:
    found = find_edits(parse_page(base), parse_page(current), TASKS)
    return [(edit.kind, edit.number, edit.value, edit.name) for edit in found]


def with_line(old: str, new: str) -> str:
    assert PAGE.count(old) == 1
    return PAGE.replace(old, new)


def test_a_page_says_what_a_task_is() -> None:
    assert "- [ ] T-1 Login form (open; scope: src/auth/)\n" in PAGE
    assert "- [ ] T-2 Logout (v2) (taken; priority: 2; after: T-1) @ada\n" in PAGE
    assert MARK in PAGE


def test_an_ended_task_is_ticked_and_a_failed_one_is_not() -> None:
    assert render_line(PageTask(3, "A", "accepted")) == "- [x] T-3 A (accepted)"
    assert render_line(PageTask(3, "A", "cancelled")) == "- [x] T-3 A (cancelled)"
    assert render_line(PageTask(3, "A", "failed")) == "- [ ] T-3 A (failed)"


def test_a_long_scope_is_cut() -> None:
    line = render_line(PageTask(3, "A", "open", scope=[f"file:src/{'x' * 300}/{n}" for n in range(100)]))
    assert "92 more" in line
    assert len(line) < 1_000


def test_nothing_edited_asks_for_nothing() -> None:
    assert edits(PAGE) == []


@pytest.mark.parametrize(
    "line",
    [
        "- [x] T-1 Login form (open; scope: src/auth/)",
        "- [X] T-1 Login form (open; scope: src/auth/)",
        "* [x] [T-1]: Login form",
        "  + [x] T-1 Login form",
    ],
)
def test_a_ticked_box_is_done(line: str) -> None:
    assert edits(with_line("- [ ] T-1 Login form (open; scope: src/auth/)", line)) == [(DONE, 1, "", "")]


@pytest.mark.parametrize(
    "line",
    [
        "- [ ] T-1 Login form (open; scope: src/auth/) @ben",
        "- [ ] T-1 Login form (open; scope: src/auth/) ben",
        "- [ ] T-1 Login form @ben (open; scope: src/auth/)",
        "- [ ] T-1 Login form @ben",
    ],
)
def test_a_name_behind_a_line_takes_it(line: str) -> None:
    found = edits(with_line("- [ ] T-1 Login form (open; scope: src/auth/)", line))
    assert found == [(TAKE, 1, "ben", "ben")]


def test_a_tick_and_a_name_are_a_take_and_an_end() -> None:
    found = edits(with_line("- [ ] T-1 Login form (open; scope: src/auth/)", "- [x] T-1 Login form @ben"))
    assert found == [(TAKE, 1, "ben", "ben"), (DONE, 1, "", "ben")]


def test_a_tick_is_signed_by_the_name_that_stood_there() -> None:
    assert edits(with_line("- [ ] T-2", "- [x] T-2")) == [(DONE, 2, "", "ada")]


def test_a_changed_title_and_priority_are_edits() -> None:
    found = edits(with_line("Logout (v2) (taken; priority: 2;", "Log out (taken; priority: 0;"))
    assert found == [(RETITLE, 2, "Log out", ""), (REORDER, 2, "0", "")]


def test_a_priority_that_is_taken_out_is_the_usual_one() -> None:
    assert edits(with_line("(taken; priority: 2;", "(taken;")) == [(REORDER, 2, "5", "")]


def test_a_line_without_our_parentheses_says_nothing_about_them() -> None:
    line = "- [ ] T-2 Logout (v2) (taken; priority: 2; after: T-1) @ada"
    assert edits(with_line(line, "- [ ] T-2 Logout (v2)")) == []


def test_a_changed_scope_is_said_to_be_fixed() -> None:
    assert edits(with_line("scope: src/auth/", "scope: src/")) == [(FIXED, 1, "", "")]


def test_an_emptied_box_opens_the_task_again() -> None:
    tasks = {1: PageTask(1, "A", "failed"), 2: PageTask(2, "B", "accepted")}
    base = render_page([], tasks, 2)
    found = find_edits(parse_page(base), parse_page(base.replace("[x]", "[ ]")), tasks)
    assert [(edit.kind, edit.number) for edit in found] == [(REOPEN, 2)]


def test_a_removed_line_asks_for_nothing_and_comes_back_in_its_place() -> None:
    without = PAGE.replace("- [ ] T-1 Login form (open; scope: src/auth/)\n", "")
    assert edits(without) == []
    merged = merge_items(parse_page(PAGE), parse_page(PAGE), parse_page(without))
    assert render_page(merged, TASKS, 2) == PAGE


def test_a_new_line_is_a_new_task() -> None:
    found = edits(PAGE + "- [ ] Write docs (priority: 1) @ben\nA paragraph.\n- [x] Long done\n- a point\n")
    assert found == [(ADD, 0, "- [ ] Write docs (priority: 1) @ben", "ben")]


def test_a_new_line_that_was_refused_is_not_tried_again() -> None:
    base = PAGE + "- [ ] no good\n"
    assert edits(base, base) == []
    assert edits(base + "- [ ] no good\n", base) == [(ADD, 0, "- [ ] no good", "")]


def test_an_unknown_id_and_a_second_line_are_said() -> None:
    found = edits(PAGE + "- [ ] T-99 What is this\n- [ ] T-1 Again\n")
    assert [(kind, number) for kind, number, _, _ in found] == [(UNKNOWN, 99), (TWICE, 1)]


def test_a_line_with_an_unknown_id_stays() -> None:
    text = PAGE + "- [ ] T-99 What is this\n"
    assert render_page(parse_page(text), TASKS, 2, {99: ["no such task"]}) == (
        text + "  <!-- lineclear says: no such task -->\n"
    )


def test_a_task_that_is_not_shown_any_more_goes() -> None:
    assert render_page(parse_page(PAGE), {2: TAKEN}, 2) == PAGE.replace(
        "- [ ] T-1 Login form (open; scope: src/auth/)\n", ""
    )


def test_a_comment_stays_as_long_as_its_line() -> None:
    said = render_page(parse_page(PAGE), TASKS, 2, {1: ["T-1 is taken."]})
    assert "src/auth/)\n  <!-- lineclear says: T-1 is taken. -->\n" in said
    assert render_page(parse_page(said), TASKS, 2) == said
    changed = {**TASKS, 1: PageTask(1, "Login form", "taken", agent="ben")}
    assert "lineclear says" not in render_page(parse_page(said), changed, 2)


def test_comments_are_bounded() -> None:
    said = render_page(parse_page(PAGE), TASKS, 2, {1: [f"no {n} " + "x" * 999 for n in range(9)]})
    assert said.count("lineclear says") == MOST_NOTES
    assert max(len(line) for line in said.split("\n")) < 600


@pytest.mark.parametrize("text", ["-->", "--->", "a ----> b", "<!-- x -->", "line\nbreak\x1b[0m"])
def test_a_comment_cannot_be_ended_from_inside(text: str) -> None:
    note = write_note(text)
    assert "--" not in note
    assert note.isprintable()


def test_text_around_tasks_stays_where_it_is() -> None:
    text = "Intro\n\n## Now\n\n- [ ] T-2 x\n\n## Later\r\n\n  - [ ] T-1 x\n\n> end"
    page = render_page(parse_page(text), TASKS, 2)
    assert page.startswith(
        "Intro\n\n## Now\n\n- [ ] T-2 Logout (v2) (taken; priority: 2; after: T-1) @ada\n\n## Later\n\n"
        "  - [ ] T-1 Login form (open; scope: src/auth/)\n\n> end\n"
    )


def test_parentheses_of_a_title_are_not_ours() -> None:
    line = parse_line("- [ ] Fix it (urgent) @ben")
    assert line is not None
    assert (line.title, line.agent, line.state) == ("Fix it (urgent)", "ben", "")


def test_an_endless_line_is_text() -> None:
    assert parse_line("- [ ] " + "x" * MOST_LINE_CHARS) is None


def texts(items: list[Item]) -> list[str]:
    return [item.text for item in items]


def test_edits_of_two_worktrees_come_together() -> None:
    base = parse_page("a\nb\nc\n")
    once = merge_items(base, base, parse_page("a\none\nb\nc\n"))
    both = merge_items(once, base, parse_page("a\nb\nc\ntwo\n"))
    assert texts(both) == ["a", "one", "b", "c", "two"]


def test_text_that_one_takes_out_goes_and_what_another_put_in_stays() -> None:
    base = parse_page("a\nb\nc\n")
    once = merge_items(base, base, parse_page("a\nb\nnew\nc\n"))
    assert texts(merge_items(once, base, parse_page("a\nc\n"))) == ["a", "new", "c"]


def test_a_task_can_be_moved_and_is_there_once() -> None:
    base = parse_page(PAGE)
    first, second = base[-2:]
    moved = merge_items(base, base, [second, *base[:-2], first])
    assert [item.number for item in moved if item.number] == [2, 1]
