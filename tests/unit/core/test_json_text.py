"""JSON on its way in and out: what is refused, what is kept, what is equal."""

from __future__ import annotations

import pytest

from lineclear.core.json_text import MAX_DEPTH, canonical, digest, parse_json
from lineclear.core.words.refusals import Refusal


@pytest.mark.parametrize(
    "text",
    [
        *("null", "true", "1", "1.0", "-0.0", '"x"', "[]", "{}", '{"b":[1,1.0,true,null],"a":{"":"é😀"}}'),
        *('"[[[{{{"', '"\\\\"', '"\\"["', "1e300", "-" + "9" * 1_000),
    ],
)
def test_what_is_read_is_written_back_with_types_and_key_order(text: str) -> None:
    written = canonical(parse_json(text))
    assert written == text.replace("1e300", "1e+300")
    assert canonical(parse_json(written)) == written


def test_the_written_form_is_compact_keeps_key_order_and_real_letters() -> None:
    assert canonical(parse_json('{ "b" : [1, 2.50], "a" : "\\u00e9" }')) == '{"b":[1,2.5],"a":"é"}'


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("NaN", "not finite"),
        ("[Infinity]", "not finite"),
        ('{"a":-Infinity}', "not finite"),
        ("1e999", "too large to keep"),
        ("-1e999", "too large to keep"),
        ('{"a":1,"a":1}', 'the key "a" is given twice'),
        ('{"a":1,"\\u0061":2}', 'the key "a" is given twice'),
        ('[{"x":{"k":1,"k":2}}]', 'the key "k" is given twice'),
        ('"\\ud800"', "surrogate"),
        ('{"\\udc00":1}', "surrogate"),
        ('"\ud800"', "surrogate"),
        ("1" * 1_001, "more than 1000 digits"),
        ("-" + "1" * 1_001, "more than 1000 digits"),
        ("1" * 10_000, "more than 1000 digits"),
        ("", "line 1, column 1"),
        ("[1,\n 2,]", "line 2, column"),
        ("{'a':1}", "line 1, column 2"),
        ("[1] [2]", "line 1, column 5"),
        ("\ufeff1", "line 1, column 1"),
        ('"a\nb"', "line 1, column 3"),
        ("01", "line 1, column 2"),
    ],
)
def test_what_others_would_read_differently_is_refused(text: str, why: str) -> None:
    with pytest.raises(Refusal, match=why) as caught:
        parse_json(text)
    assert caught.value.facts["name"] == "JSON"
    assert len(str(caught.value)) <= 300


def test_a_whole_surrogate_pair_is_one_character() -> None:
    assert parse_json('"\\ud83d\\ude00"') == "😀"


def test_nesting_is_allowed_to_its_bound_and_refused_beyond() -> None:
    assert canonical(parse_json("[" * MAX_DEPTH + "]" * MAX_DEPTH)).count("[") == MAX_DEPTH
    beyond = MAX_DEPTH + 1
    for text in ("[" * beyond + "]" * beyond, '{"a":' * beyond + "1" + "}" * beyond):
        with pytest.raises(Refusal, match="nested deeper than 64"):
            parse_json(text)


@pytest.mark.parametrize("text", ["[" * 500_000, '{"a":' * 100_000, "[{" * 200_000, '["' + '\\"' * 400_000])
def test_a_hostile_text_is_a_quick_refusal(text: str) -> None:
    with pytest.raises(Refusal):
        parse_json(text)


def test_brackets_inside_strings_do_not_count_as_nesting() -> None:
    text = '"' + '[{\\"' * 100 + '"'
    assert parse_json(text) == '[{"' * 100


def test_size_is_counted_in_bytes() -> None:
    assert parse_json('"é"', limit_bytes=4) == "é"
    with pytest.raises(Refusal, match="larger than 3 bytes"):
        parse_json('"é"', limit_bytes=3)
    with pytest.raises(Refusal, match="larger than 1048576 bytes"):
        parse_json('"' + "x" * 1_048_575 + '"')


def test_the_digest_ignores_key_order_at_every_level() -> None:
    assert digest({"a": 1, "b": {"x": 1, "y": 2}}) == digest({"b": {"y": 2, "x": 1}, "a": 1})
    assert digest([1, 2]) != digest([2, 1])


def test_the_digest_tells_types_apart() -> None:
    values: list[object] = [True, 1, 1.0, "1", [1], None, False, 0, 0.0, -0.0, "", [], {}, "null"]
    assert len({digest(value) for value in values}) == len(values)


def test_the_digest_is_the_same_tomorrow() -> None:
    """Stored digests are compared with new ones: a changed form would refuse honest repeats."""
    assert digest({"b": "é", "a": [1, 1.5, None, True]}) == (
        "32e58bc71993311d6588e209110b29484b08aa0ed68ccc590e6a5138b6cb26db"
    )


@pytest.mark.parametrize("value", [float("nan"), [float("inf")], {"a": "\ud800"}, {"\ud800": 1}, 10**1_000])
def test_a_value_from_elsewhere_is_held_to_the_same_rules(value: object) -> None:
    for write in (canonical, digest):
        with pytest.raises(Refusal):
            write(value)


def test_a_bottomless_value_from_elsewhere_is_refused() -> None:
    value: list[object] = []
    value.append(value)
    with pytest.raises(Refusal, match="nested deeper"):
        canonical(value)


@pytest.mark.parametrize("value", [(1,), {1: 2}, {"a": {1}}, b"x", object()])
def test_a_type_that_json_does_not_have_is_our_own_bug(value: object) -> None:
    with pytest.raises(TypeError):
        canonical(value)
