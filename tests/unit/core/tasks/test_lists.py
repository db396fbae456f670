"""Lists of tasks as people keep them: what is read, what is refused, what is written back."""

from __future__ import annotations

import json
from textwrap import dedent

import pytest

from lineclear.core.tasks.lists import TaskDraft, read_json, read_markdown, write_markdown
from lineclear.core.words.refusals import Refusal


def titles(text: str) -> list[str]:
    return [draft.title for draft in read_markdown(dedent(text))]


def one(text: str) -> TaskDraft:
    [draft] = read_markdown(dedent(text))
    return draft


def text_of(value: object) -> str:
    """For comparing: plain equality would take a true `done` for the number 1."""
    return json.dumps(value, sort_keys=True)


def texts(drafts: list[TaskDraft]) -> list[str]:
    return [text_of(draft.as_data()) for draft in drafts]


# -- Markdown: which lines are tasks ------------------------------------------------------------


@pytest.mark.parametrize("bullet", ["-", "*", "+", "1.", "12)", "  -", "\t*"])
def test_every_bullet_with_a_checkbox_is_a_task(bullet: str) -> None:
    assert titles(f"{bullet} [ ] Write it") == ["Write it"]


@pytest.mark.parametrize(("box", "done"), [("[ ]", False), ("[x]", True), ("[X]", True)])
def test_a_ticked_box_is_done(box: str, done: bool) -> None:
    assert one(f"- {box} Write it").done is done


@pytest.mark.parametrize(
    "line", ["- Write it", "- [] a", "-[ ] a", "- [ ]a", "- [x](link)", "[ ] a", "- [y] a", "-- [ ] a"]
)
def test_what_is_not_a_checkbox_is_no_task(line: str) -> None:
    assert titles(line) == []


def test_text_around_the_items_is_ignored() -> None:
    text = """\
        # Plan
        Some words.
        - [ ] One
        More words.
          indented words that belong to nobody
        - plain bullet
        - [ ] Two
        """
    drafts = read_markdown(dedent(text))
    assert [(draft.ref, draft.title, draft.body) for draft in drafts] == [("1", "One", ""), ("2", "Two", "")]


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
def test_every_newline_ends_a_line(newline: str) -> None:
    drafts = read_markdown(newline.join(["\ufeff- [ ] One", "  body", "", "  more", "- [ ] Two"]))
    assert [(draft.title, draft.body) for draft in drafts] == [("One", "body\n\nmore"), ("Two", "")]


def test_a_defaulted_task_has_its_position_as_ref_and_the_middle_priority() -> None:
    expected = {
        **{"id": "2", "title": "Two", "body": "", "priority": 5, "done": False},
        **{"scope": [], "produces": [], "labels": [], "needs": [], "after": []},
    }
    assert texts(read_markdown("- [x] One\n- [ ] Two"))[1] == text_of(expected)


def test_code_blocks_are_not_searched_for_tasks() -> None:
    text = """\
        ```
        - [ ] Not this
        ~~~
        ```
        - [ ] One
          ~~~~ python
          - [ ] Nor this
          ~~~
          ~~~~
        - [ ] Two
        ``` `inline` ```
        - [ ] Three
        """
    assert titles(text) == ["One", "Two", "Three"]
    assert read_markdown(dedent(text))[0].body == "~~~~ python\n- [ ] Nor this\n~~~\n~~~~"


def test_a_code_block_nobody_closed_ends_with_its_task() -> None:
    assert titles("- [ ] One\n  ```\n  - [ ] code\n- [ ] Two") == ["One", "Two"]


# -- Markdown: bodies and sub-tasks -------------------------------------------------------------


def test_indented_lines_below_a_task_are_its_body_without_their_indentation() -> None:
    text = """\
        - [ ] One

          First line
            deeper

          - a bullet
        - [ ] Two
        """
    assert read_markdown(dedent(text))[0].body == "First line\n  deeper\n\n- a bullet"


def test_a_parent_comes_after_its_parts_at_every_level() -> None:
    text = """\
        - [ ] Top
          - [ ] Left
            - [ ] Deep
          - [ ] Right
        - [ ] Next
        """
    drafts = read_markdown(dedent(text))
    assert {draft.title: draft.after for draft in drafts} == {
        **{"Top": ["2", "4"], "Left": ["3"], "Deep": [], "Right": [], "Next": []},
    }


def test_a_line_goes_to_the_innermost_task_it_is_indented_below() -> None:
    text = """\
        - [ ] Top
          - [ ] Part
            of the part
          of the top
        """
    assert [draft.body for draft in read_markdown(dedent(text))] == ["of the top", "of the part"]


def test_a_tab_indents_by_four() -> None:
    drafts = read_markdown("- [ ] Top\n\t- [ ] Part\n    - [ ] Other part\n")
    assert drafts[0].after == ["2", "3"]


def test_a_part_named_as_a_dependency_too_is_listed_once() -> None:
    drafts = read_markdown("- [ ] Top (after: 2, T-9)\n  - [ ] Part\n")
    assert drafts[0].after == ["2", "T-9"]


def test_an_escaped_task_in_a_body_is_text() -> None:
    draft = one("- [ ] One\n  \\- [ ] text\n  \\\\- [x] more\n  \\other\n")
    assert draft.body == "- [ ] text\n\\- [x] more\n\\other"


# -- Markdown: refs and attributes --------------------------------------------------------------


@pytest.mark.parametrize("lead", ["T-12", "[T-12]", "T-12:", "[T-12]:"])
def test_a_leading_task_id_is_the_ref(lead: str) -> None:
    draft = one(f"- [ ] {lead} Login form")
    assert (draft.ref, draft.title) == ("T-12", "Login form")


@pytest.mark.parametrize("title", ["T-12", "T-012 x", "T-12x", "[ui] x", "T-0 x", "(T-12) x", "t-12 x"])
def test_a_title_that_is_only_like_an_id_stays_a_title(title: str) -> None:
    draft = one(f"- [ ] {title}")
    assert (draft.ref, draft.title) == ("1", title)


def test_attributes_stand_at_the_end_in_parentheses() -> None:
    group = (
        "(priority: 2; scope: src/auth/, src/a.py; produces: a.js; labels: ui, a/b; needs: codex; "
        "after: 1, T-4)"
    )
    expected = {
        **{"id": "T-7", "title": "Log in", "body": "", "priority": 2, "done": False},
        **{"scope": ["src/auth/", "src/a.py"], "produces": ["a.js"], "labels": ["ui", "a/b"]},
        **{"needs": ["codex"], "after": ["1", "T-4"]},
    }
    assert texts(read_markdown(f"- [ ] Zero\n- [ ] T-7 Log in {group}"))[1] == text_of(expected)


@pytest.mark.parametrize(
    "title",
    [
        *(
            "Log in (again)",
            "Log in (priority: 2; colour: red)",
            "Log in (http://x)",
            "Log in ()",
            "Log in (;)",
        ),
        *(
            "Log in (after)",
            "f(after: 1)",
            "(priority: 2)",
            "Log in (priority: 2) now",
            "Log in (after: 1",
            "a)",
        ),
    ],
)
def test_parentheses_with_anything_else_are_part_of_the_title(title: str) -> None:
    assert one(f"- [ ] {title}").title == title


def test_only_the_last_group_holds_attributes() -> None:
    draft = one("- [ ] Log in (labels: a) (labels: b)")
    assert (draft.title, draft.labels) == ("Log in (labels: a)", ["b"])


def test_paths_may_hold_parentheses_and_in_quotes_anything() -> None:
    draft = one('- [ ] Page (scope: app/(shop)/page.tsx, "a, b; (c.py", "say ""hi"""; Priority: 0)')
    assert draft.scope == ["app/(shop)/page.tsx", "a, b; (c.py", 'say "hi"']
    assert draft.priority == 0


def test_a_number_after_means_the_nth_task_whatever_its_ref() -> None:
    drafts = read_markdown("- [ ] T-40 One\n- [ ] Two (after: 1)\n- [ ] Three (after: 2)\n")
    assert [draft.after for draft in drafts] == [[], ["T-40"], ["2"]]


def test_a_given_id_wins_over_a_position() -> None:
    drafts = read_markdown("- [ ] One (id: a)\n- [ ] Two (id: 1)\n- [ ] Three (after: 1, a)\n")
    assert drafts[2].after == ["1", "a"]
    assert drafts[1].ref == "1"


def test_a_task_outside_the_list_is_named_by_its_id_alone() -> None:
    assert one("- [ ] One (after: t-9, #8, T-9)").after == ["T-9", "T-8"]


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("- [ ]", "title must be 1 to 200"),
        ("- [ ] " + "x" * 201, "title must be 1 to 200"),
        ("- [ ] a\0b", "control characters"),
        ("- [ ] a\u2028b", "control characters"),
        ("- [ ] a\ud800", "control characters"),
        ("- [ ] a (priority: 10)", "priority must be a whole number from 0 to 9"),
        ("- [ ] a (priority: high)", "priority must be"),
        ("- [ ] a (priority:)", "priority must be"),
        ("- [ ] a (priority: 1; priority: 2)", "priority must be"),
        ("- [ ] a (labels: UI)", "each of its labels"),
        ("- [ ] a (needs: -x)", "each of its needs"),
        ('- [ ] a (scope: "")', "each entry of scope"),
        ("- [ ] a (id: a, b)", "id must be like T-12"),
        ("- [ ] a (id: ../x)", "id must be like T-12"),
        ("- [ ] a (after: 3)", 'after "3", which is not in this list'),
        ("- [ ] a (after: 0)", "not in this list"),
        ("- [ ] a (after: lunch)", "not in this list"),
        ("- [ ] a (id: 1)", 'the id "1" is already that of the task on line 1'),
        ("- [ ] a (labels: " + ",".join(map(str, range(101))) + ")", "at most 100 entries"),
    ],
)
def test_a_bad_task_is_refused_with_its_line(line: str, why: str) -> None:
    with pytest.raises(Refusal, match=why) as caught:
        read_markdown(f"- [ ] good\n\n{line}\n")
    assert caught.value.facts["name"] == "task on line 3"
    assert len(str(caught.value)) <= 300


def test_a_body_is_bounded_and_free_of_control_characters() -> None:
    assert len(one("- [ ] a\n  " + "x" * 20_000).body) == 20_000
    with pytest.raises(Refusal, match="at most 20000"):
        one("- [ ] a\n  " + "x" * 20_001)
    with pytest.raises(Refusal, match="body must not contain control"):
        one("- [ ] a\n  \x1b[31m\tx")


def test_a_list_is_bounded() -> None:
    assert len(read_markdown("- [ ] a\n" * 2_000)) == 2_000
    with pytest.raises(Refusal, match="more than 2000 tasks"):
        read_markdown("- [ ] a\n" * 2_001)
    with pytest.raises(Refusal, match="more than 2000 tasks"):
        read_json("[" + ",".join(["1"] * 2_001) + "]")


@pytest.mark.parametrize("part", ["(labels: ", "(", ')"', '"', "\\", "`", "- [ ] ", "[T-1"])
def test_a_hostile_line_is_read_in_one_pass(part: str) -> None:
    """Quadratic work on these 400,000 characters would run into the test's time limit."""
    with pytest.raises(Refusal, match="title must be"):
        read_markdown("- [ ] x" + part * (400_000 // len(part)) + ")")


# -- JSON ---------------------------------------------------------------------------------------


def test_a_list_of_objects_is_read_with_every_field() -> None:
    fields = {
        **{"id": "login", "title": " Log in ", "body": "\n  a\n    b\n", "priority": 0, "done": True},
        **{
            "scope": ["src/a.py", "src/a.py"],
            "produces": ["b"],
            "labels": ["ui"],
            "needs": ["codex"],
            "after": ["T-4"],
        },
    }
    expected = {**fields, "title": "Log in", "body": "a\n  b", "scope": ["src/a.py"]}
    assert texts(read_json(json.dumps([fields]))) == [text_of(expected)]
    assert texts(read_json(json.dumps({"tasks": [fields]}))) == [text_of(expected)]


def test_numbers_point_at_ids_first_and_then_at_positions() -> None:
    drafts = read_json(
        '[{"id":101,"title":"a"},{"id":"T-5","title":"b"},{"title":"c","after":[101,2,"101"]}]'
    )
    assert [draft.ref for draft in drafts] == ["101", "T-5", "3"]
    assert drafts[2].after == ["101", "T-5"]


@pytest.mark.parametrize(
    ("entry", "why"),
    [
        ("1", "must be an object"),
        ("{}", "title must be 1 to 200"),
        ('{"title":1}', "title must be a string"),
        ('{"title":"a\\nb"}', "one line"),
        ('{"title":"a","colour":1}', 'unknown key "colour"'),
        ('{"title":"a","ref":"x"}', 'unknown key "ref"'),
        ('{"title":"a","body":null}', "body must be a string"),
        ('{"title":"a","body":"\\u0000"}', "body must not contain control"),
        ('{"title":"a","priority":true}', "priority must be"),
        ('{"title":"a","priority":1.0}', "priority must be"),
        ('{"title":"a","priority":-1}', "priority must be"),
        ('{"title":"a","done":1}', "done must be true or false"),
        ('{"title":"a","scope":"src"}', "scope must be a list of strings"),
        ('{"title":"a","labels":[1]}', "labels must be a list of strings"),
        ('{"title":"a","after":[true]}', "after must be a list of strings"),
        ('{"title":"a","scope":["a\\nb"]}', "each entry of scope"),
        ('{"title":"a","id":""}', "id must be like"),
        ('{"title":"a","id":true}', "id must be like"),
        ('{"title":"a","id":-1}', "id must be like"),
        ('{"title":"a","id":"1"}', "already that of the task at index 0"),
    ],
)
def test_a_bad_object_is_refused_with_its_index(entry: str, why: str) -> None:
    with pytest.raises(Refusal, match=why) as caught:
        read_json(f'[{{"title":"good"}},{entry}]')
    assert caught.value.facts["name"] == "task at index 1"
    assert len(str(caught.value)) <= 300


@pytest.mark.parametrize(
    "text", ["1", "null", '"x"', "{}", '{"tasks":1}', '{"tasks":[],"more":1}', '{"task":[]}', "[", ""]
)
def test_what_is_no_list_of_tasks_is_refused(text: str) -> None:
    with pytest.raises(Refusal):
        read_json(text)


# -- writing ------------------------------------------------------------------------------------


def test_the_written_list_is_what_a_person_would_write() -> None:
    drafts = [
        TaskDraft("1", "Plan it", done=True),
        TaskDraft(
            "T-7",
            "Log in",
            body="Two lines,\n\nand code.",
            scope=["src/a, b.py"],
            produces=["c"],
            after=["1"],
        ),
        TaskDraft("login", "Test it", priority=0, labels=["ui"], needs=["codex"]),
    ]
    assert write_markdown(drafts) == dedent("""\
        - [x] Plan it
        - [ ] T-7 Log in (scope: "src/a, b.py"; produces: c; after: 1)
          Two lines,

          and code.
        - [ ] Test it (id: login; priority: 0; labels: ui; needs: codex)
        """)


@pytest.mark.parametrize(
    "draft",
    [
        TaskDraft("1", "T-12 is a title"),
        TaskDraft("1", "[T-12] is a title"),
        TaskDraft("T-3", "T-12 is a title"),
        TaskDraft("1", "T-12"),
        TaskDraft("T-3", ": x"),
        TaskDraft("1", "x (priority: 2)"),
        TaskDraft("1", "x (priority: 2; priority: 3)"),
        TaskDraft("1", "(priority: 2)", priority=3),
        TaskDraft("T-3", 'x" (id: T-4)'),
        TaskDraft("7", 'odd " quote', scope=['"', "(", ")", ";", "a,b", " a ", '""']),
        TaskDraft("1", "x", body="- [ ] no task\n\\- [ ] nor this\n  1. [x] nor this"),
        TaskDraft("1", "x", body="```\n- [ ] code"),
        TaskDraft("1", "x", body="~~~\n\\- [ ] code\n~~~\n- [ ] text"),
        TaskDraft("1", "x", body=" \ta\n  b\n\n\n\tc"),
    ],
)
def test_a_task_that_looks_like_something_else_reads_back_as_itself(draft: TaskDraft) -> None:
    drafts = [draft, TaskDraft("2", "The next one", after=[draft.ref])]
    normal = read_json(json.dumps([draft.as_data() for draft in drafts]))
    assert texts(read_markdown(write_markdown(normal))) == texts(normal)


def test_no_tasks_are_an_empty_text() -> None:
    assert write_markdown([]) == ""
    assert read_markdown("") == []
    assert read_json("[]") == []
