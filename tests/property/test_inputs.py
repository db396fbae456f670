"""What holds for every text a person or an agent can type, and for every three JSON values."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import TypeVar

import pytest
from hypothesis import example, given, reject
from hypothesis import strategies as st

from lineclear.core.agents import names
from lineclear.core.durations import DAY_MS, HOUR_MS, LONGEST_MS, MINUTE_MS, parse_duration
from lineclear.core.instants import show_duration
from lineclear.core.json_text import canonical, digest, parse_json
from lineclear.core.tasks.lists import TaskDraft, read_json, read_markdown, write_markdown
from lineclear.core.values.json_merge import is_same, merge_json
from lineclear.core.words.refusals import Refusal

T = TypeVar("T")

PARSERS: dict[str, Callable[[str], object]] = {
    "agent": names.agent_name,
    "topic": names.topic_name,
    "operation": names.operation_id,
    "label": names.label_name,
    "task": names.task_id,
    "duration": parse_duration,
    "json": parse_json,
    "tasks as json": read_json,
    "tasks as markdown": read_markdown,
}

# Every character, halves of surrogate pairs too: a command line can hold them.
any_text = st.text(st.characters(codec=None, exclude_categories=()))


def pieces(*words: str) -> st.SearchStrategy[str]:
    """Texts made of the words a grammar knows: far more of them get past the first check."""
    return st.lists(st.sampled_from(words) | st.text(max_size=2), max_size=20).map("".join)


NAME_PIECES = pieces("a", "Z", "9", "/", ".", "..", "-", "_", "T-", "t-", "#", "0", "12", "all", "me", " ")
DURATION_PIECES = pieces("1", "0", "30", "9" * 12, ".", "d", "h", "m", "s", "ms", "-", "+", " ", "e", "_")
JSON_PIECES = pieces(
    *("{", "}", "[", "]", ",", ":", '"', '"a"', '"title"', '"tasks"', '"after"', '"id"', "\\ud800", "\\"),
    *(
        "1",
        "-",
        "1e999",
        "NaN",
        "Infinity",
        "true",
        "null",
        " ",
        "\n",
        "9" * 1_001,
        "[" * 70,
        '{"a":1,"a":2}',
    ),
    *('{"title":"x"}', '{"title":"x","id":2,"after":[1]}', '[{"title":"y"}]'),
)
MARKDOWN_PIECES = pieces(
    *(
        "\n",
        "\n  ",
        "\n\t",
        "\r\n",
        "- [ ] ",
        "* [x] ",
        "1. [ ] ",
        "\\",
        "```",
        "~~~~",
        "T-1 ",
        "[T-2] ",
        "title",
    ),
    *(
        "\n- [ ] a ",
        "\n  - [ ] b ",
        " (priority: 2)",
        " (after: 1)",
        " (",
        ")",
        "scope: ",
        "produces: ",
        "; ",
        ", ",
        '"',
        "id: x",
    ),
)


def accepted(parse: Callable[[str], T], text: str) -> T | None:
    try:
        return parse(text)
    except Refusal:
        return None


@pytest.mark.parametrize("kind", PARSERS)
@given(text=any_text | NAME_PIECES | DURATION_PIECES | JSON_PIECES | MARKDOWN_PIECES)
def test_every_text_is_read_or_refused_in_few_words(kind: str, text: str) -> None:
    try:
        PARSERS[kind](text)
    except Refusal as refusal:
        assert len(str(refusal)) <= 300
        assert str(refusal).count("\n") <= 2
        json.dumps(refusal.as_data()).encode()


# -- names and durations ------------------------------------------------------------------------


@given(NAME_PIECES | any_text)
def test_a_checked_name_is_stable_and_safe_to_join(text: str) -> None:
    name = accepted(names.agent_name, text)
    if name is not None:
        assert name == text
        assert all(level not in ("", ".", "..") for level in name.split("/"))
        assert name.isascii()
        assert name.isprintable()


@given(NAME_PIECES | st.integers(-1, 10**16).map(str))
def test_a_task_id_written_our_way_reads_back_as_itself(text: str) -> None:
    task = accepted(names.task_id, text)
    if task is not None:
        assert names.task_id(task) == task == f"T-{int(task[2:])}"


@given(st.integers(0, LONGEST_MS))
def test_a_duration_written_in_milliseconds_or_in_parts_is_itself(duration_ms: int) -> None:
    assert parse_duration(f"{duration_ms}ms") == duration_ms
    seconds, rest_ms = divmod(duration_ms, 1_000)
    minutes, seconds = divmod(seconds, 60)
    assert parse_duration(f"{minutes}m{seconds}s{rest_ms}ms") == duration_ms
    assert parse_duration(f"{duration_ms // 1_000}.{rest_ms:03}") == duration_ms


@given(st.integers(1_000, LONGEST_MS))
def test_a_shown_duration_drops_less_than_one_of_its_second_unit(duration_ms: int) -> None:
    shown = show_duration(duration_ms).replace(" min", "m").replace(" ", "")
    unit_ms = 1_000 if duration_ms < HOUR_MS else MINUTE_MS if duration_ms < DAY_MS else HOUR_MS
    assert 0 <= duration_ms - parse_duration(shown) < unit_ms


@given(DURATION_PIECES, st.integers(0, 10**7), st.integers(0, 10**7))
def test_a_read_duration_is_within_its_bounds(text: str, least_ms: int, most_ms: int) -> None:
    read_ms = accepted(lambda text: parse_duration(text, least_ms=least_ms, most_ms=most_ms), text)
    assert read_ms is None or least_ms <= read_ms <= most_ms


# -- JSON ---------------------------------------------------------------------------------------

# Few keys and values, and those that Python confuses: sides meet often.
keys = st.sampled_from(["a", "b", "c", "~", "/", ""])
scalars = st.sampled_from([None, True, False, 0, 1, 0.0, -0.0, 1.0, "", "x"])
values: st.SearchStrategy[object] = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(keys, inner, max_size=4),
    max_leaves=12,
)
real_values: st.SearchStrategy[object] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


def text(value: object) -> str:
    """For comparing: plain equality would take true for 1 and 1 for 1.0. Not our own code under test."""
    return json.dumps(value, sort_keys=True)


@given(real_values)
def test_a_value_written_and_read_is_the_same_text(value: object) -> None:
    written = canonical(value)
    assert text(parse_json(written)) == text(value)
    assert canonical(parse_json(written)) == written
    assert digest(parse_json(written)) == digest(value)


@given(values, values)
@example(True, 1)
@example({"a": 1}, {"a": 1.0})
def test_same_values_are_those_with_one_digest(a: object, b: object) -> None:
    assert is_same(a, b) is (digest(a) == digest(b)) is (text(a) == text(b))


@given(values, values)
def test_a_change_on_one_side_is_taken(base: object, changed: object) -> None:
    for result in (merge_json(base, changed, base), merge_json(base, base, changed)):
        assert text(result.value) == text(changed)
        assert result.conflicts == []


@given(values, values)
def test_the_same_change_on_both_sides_is_taken_once(base: object, changed: object) -> None:
    result = merge_json(base, changed, changed)
    assert text(result.value) == text(changed)
    assert result.conflicts == []


objects = st.dictionaries(keys, values, max_size=5)


@given(values | objects, values | objects, values | objects)
def test_who_is_who_does_not_change_where_the_conflicts_are(base: object, a: object, b: object) -> None:
    one, other = merge_json(base, a, b), merge_json(base, b, a)
    assert {c.pointer for c in one.conflicts} == {c.pointer for c in other.conflicts}
    if not one.conflicts:
        assert text(one.value) == text(other.value)


@given(values | objects, values | objects, values | objects)
def test_a_conflict_names_one_place_that_both_sides_changed_differently(
    base: object, mine: object, theirs: object
) -> None:
    conflicts = merge_json(base, mine, theirs).conflicts
    assert len({conflict.pointer for conflict in conflicts}) == len(conflicts)
    for conflict in conflicts:
        sides = [
            json.dumps(v, sort_keys=True, default=repr)
            for v in (conflict.base, conflict.mine, conflict.theirs)
        ]
        assert len(set(sides)) == 3


@given(objects, objects, objects, st.sets(keys))
def test_edits_of_disjoint_keys_merge_to_both_edits(
    base: dict[str, object], a: dict[str, object], b: dict[str, object], split: set[str]
) -> None:
    def edited(source: dict[str, object], *, mine: bool) -> dict[str, object]:
        chosen = {key: value for key, value in source.items() if (key in split) is mine}
        kept = {key: value for key, value in base.items() if (key in split) is not mine}
        return {**kept, **chosen}

    result = merge_json(base, edited(a, mine=True), edited(b, mine=False))
    assert result.conflicts == []
    expected = {key: value for key, value in a.items() if key in split}
    expected |= {key: value for key, value in b.items() if key not in split}
    assert text(result.value) == text(expected)


# -- tasks --------------------------------------------------------------------------------------

printable = st.text(st.characters(codec="utf-8", exclude_categories=("Cc", "Cs", "Zl", "Zp")), max_size=3)
MARKS = (
    "- [ ] ",
    "\\",
    "```",
    "~~~",
    "T-1 ",
    "[T-2] ",
    " (priority: 2)",
    "(",
    ")",
    '"',
    ";",
    ",",
    ":",
    " ",
    "x",
)
lines = st.lists(st.sampled_from(MARKS) | printable, max_size=8).map("".join)
indented = st.builds(str.__add__, st.sampled_from(["", " ", "\t", "    "]), lines)
entries = st.lists(lines.filter(bool), max_size=3)
labels = st.lists(st.sampled_from(["ui", "a/b", "0", "x.y-z_"]), max_size=3)
ids = st.lists(
    st.sampled_from(["T-1", "T-2", "t-33", "#4", "login", 77, None, None]) | st.integers(1, 5),
    unique_by=lambda given: given if given else object(),
    max_size=5,
)


@st.composite
def task_lists(draw: st.DrawFn) -> list[TaskDraft]:
    """Lists as `read_json` gives them, with titles and bodies that look like anything but themselves."""
    given = draw(ids)
    refs = ["T-50", "#51", *range(1, len(given) + 1), *(ref for ref in given if ref)]
    data = []
    for ref in given:
        task: dict[str, object] = {"id": ref} if ref else {}
        task["title"] = draw(st.builds("{}{}{}".format, lines, st.sampled_from("x1("), lines))
        task["body"] = "\n".join(draw(st.lists(indented, max_size=5)))
        task |= {
            "scope": draw(entries),
            "produces": draw(entries),
            "labels": draw(labels),
            "needs": draw(labels),
        }
        task |= {"priority": draw(st.integers(0, 9)), "done": draw(st.booleans())}
        task["after"] = draw(st.lists(st.sampled_from(refs), max_size=3))
        data.append(task)
    drafts = accepted(read_json, json.dumps(data))
    return reject() if drafts is None else drafts


def texts(drafts: list[TaskDraft]) -> list[str]:
    return [text(draft.as_data()) for draft in drafts]


@given(task_lists())
def test_tasks_written_as_a_checklist_read_back_as_themselves(drafts: list[TaskDraft]) -> None:
    assert texts(read_markdown(write_markdown(drafts))) == texts(drafts)


@given(task_lists())
def test_tasks_written_as_json_read_back_as_themselves(drafts: list[TaskDraft]) -> None:
    assert texts(read_json(json.dumps([draft.as_data() for draft in drafts]))) == texts(drafts)


@given(MARKDOWN_PIECES | any_text)
def test_any_checklist_we_accept_survives_being_written_again(markdown: str) -> None:
    drafts = accepted(read_markdown, markdown)
    if drafts is not None:
        assert texts(read_markdown(write_markdown(drafts))) == texts(drafts)
