"""JSON as people write it, edited as text."""

from __future__ import annotations

import pytest

from lineclear.clients import jsonc

OURS = {"command": "ours"}


def grown(text: str, *path: str) -> str:
    patch = jsonc.JsonPatch(text)
    patch.grow(jsonc.insert(text, path, OURS))
    assert jsonc.shrink(patch.text, patch.pieces) == text
    return patch.text


@pytest.mark.parametrize(
    ("text", "after"),
    [
        ("{}", '{\n  "a": [\n    {\n      "command": "ours"\n    }\n  ]\n}'),
        ('{"b": 1}', '{"b": 1, "a": [{"command": "ours"}]}'),
        ('{"a": []}', '{"a": [\n  {\n    "command": "ours"\n  }\n]}'),
        ('{"a": [1]}', '{"a": [1, {"command": "ours"}]}'),
        ('{\n\t"a": [\n\t\t1\n\t]\n}', '{\n\t"a": [\n\t\t1,\n\t\t{\n\t\t\t"command": "ours"\n\t\t}\n\t]\n}'),
        (
            '{\r\n  "b": 1\r\n}',
            '{\r\n  "b": 1,\r\n  "a": [\r\n    {\r\n      "command": "ours"\r\n    }\r\n  ]\r\n}',
        ),
        (
            '{\n  "b": 1 // one\n}',
            '{\n  "b": 1, // one\n  "a": [\n    {\n      "command": "ours"\n    }\n  ]\n}',
        ),
        ('\ufeff{"b": [1,],}', '\ufeff{"b": [1,], "a": [{"command": "ours"}],}'),
        (
            "// top\n{ /* empty */ }",
            '// top\n{\n  "a": [\n    {\n      "command": "ours"\n    }\n  ]\n /* empty */ }',
        ),
    ],
    ids=[
        "empty",
        "one line",
        "empty array",
        "one-line array",
        "tabs",
        "crlf",
        "comment",
        "commas",
        "in comments",
    ],
)
def test_an_item_is_put_in_as_the_text_is_written(text: str, after: str) -> None:
    assert grown(text, "a") == after
    assert jsonc.parse(after).plain()["a"][-1] == OURS


@pytest.mark.parametrize(
    "text",
    ["", "{", '{"a" 1}', '{"a": 1} x', "[1 2]", '{"a": 1, "a": 2}', "{'a': 1}", '{"a": nope}', "[" * 100],
)
def test_what_is_no_json_is_not_edited(text: str) -> None:
    with pytest.raises(jsonc.UnreadableJson):
        jsonc.insert(text, ["a"], OURS)


@pytest.mark.parametrize("text", ['{"a": 1}', '{"a": {}}', "[]", '"a"'])
def test_a_value_of_another_kind_is_not_replaced(text: str) -> None:
    with pytest.raises(jsonc.UnreadableJson):
        jsonc.insert(text, ["a"], OURS)


@pytest.mark.parametrize(
    ("text", "after"),
    [
        ('{"a": [{"command": "ours"}]}', '{"a": []}'),
        ('{"a": [1, {"command": "ours"}]}', '{"a": [1]}'),
        ('{"a": [{"command": "ours"}, 1]}', '{"a": [ 1]}'),
        ('{"a": [\n  1, // one\n  {"command": "ours"}\n]}', '{"a": [\n  1 // one\n]}'),
        ('{"a": [1, {"command": "ours"}, 2, {"command": "ours"},]}', '{"a": [1, 2,]}'),
        ('{"b": 1}', '{"b": 1}'),
    ],
)
def test_only_ours_is_taken_out(text: str, after: str) -> None:
    assert jsonc.strip(text, ["a"], lambda item: item == OURS) == after


def test_what_we_made_goes_when_it_is_empty() -> None:
    assert jsonc.drop('{"x": 1, "hooks": {}}', ["hooks"], jsonc.is_empty) == '{"x": 1}'
    assert jsonc.drop('{"hooks": {"a": []}}', ["hooks"], jsonc.is_empty) == '{"hooks": {"a": []}}'
    assert jsonc.drop('{"/srv": "TRUST", "x": 1}', ["/srv"], lambda said: said == "TRUST") == '{ "x": 1}'


@pytest.mark.parametrize(
    ("text", "after"),
    [
        ("{}", '{\n  "servers": {\n    "a": 1\n  }\n}'),
        ('{"servers": {}}', '{"servers": {\n  "a": 1\n}}'),
        ('{"servers": {"b": 2}}', '{"servers": {"b": 2, "a": 1}}'),
        (
            '{\n  "servers": {\n    "b": 2 // two\n  }\n}',
            '{\n  "servers": {\n    "b": 2, // two\n    "a": 1\n  }\n}',
        ),
    ],
)
def test_a_member_is_put_under_its_name(text: str, after: str) -> None:
    patch = jsonc.JsonPatch(text)
    patch.grow(jsonc.put(text, ["servers", "a"], 1))
    assert patch.text == after
    assert jsonc.shrink(patch.text, patch.pieces) == text


@pytest.mark.parametrize("text", ['{"servers": {"a": 2}}', '{"servers": []}', "[]"])
def test_a_name_that_is_taken_or_no_object_is_not_written_over(text: str) -> None:
    with pytest.raises(jsonc.UnreadableJson):
        jsonc.put(text, ["servers", "a"], 1)


def test_a_member_is_dropped_only_if_it_is_ours() -> None:
    text = '{"servers": {"b": 2, "a": 1}}'
    assert jsonc.drop(text, ["servers", "a"], lambda said: said == 1) == '{"servers": {"b": 2}}'
    assert jsonc.drop(text, ["servers", "a"], lambda said: said == 3) == text
    assert jsonc.drop(text, ["other", "a"], lambda said: True) == text


def test_pieces_that_were_edited_since_are_not_cut_out() -> None:
    patch = jsonc.JsonPatch('{"b": 1}')
    patch.grow(jsonc.insert(patch.text, ["a"], OURS))
    assert jsonc.shrink(patch.text.replace("ours", "mine"), patch.pieces) is None
