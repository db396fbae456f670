"""Three-way merge of JSON: what merges, what conflicts, and where."""

from __future__ import annotations

import json

import pytest

from lineclear.core.values import json_merge
from lineclear.core.values.json_merge import ABSENT, is_same, merge_json


def text(value: object) -> str:
    """For comparing: plain equality would take true for 1 and 1 for 1.0."""
    return json.dumps(value, default=repr)


def merged(base: object, mine: object, theirs: object) -> str:
    """The merged value as text, keys in their order; fails when there is a conflict."""
    result = merge_json(base, mine, theirs)
    assert not result.conflicts
    return text(result.value)


def pointers(base: object, mine: object, theirs: object) -> list[str]:
    return [conflict.pointer for conflict in merge_json(base, mine, theirs).conflicts]


def test_edits_of_different_keys_are_both_kept_at_every_level() -> None:
    base = {"a": 1, "b": {"x": 1, "y": 1}}
    mine = {"a": 2, "b": {"x": 1, "y": 2}}
    theirs = {"a": 1, "b": {"x": 2, "y": 1}}
    assert merged(base, mine, theirs) == '{"a": 2, "b": {"x": 2, "y": 2}}'


def test_additions_and_deletions_of_different_keys_are_both_kept() -> None:
    assert merged({"a": 1, "b": 1}, {"b": 1, "mine": 1}, {"a": 1, "theirs": 1}) == '{"theirs": 1, "mine": 1}'


def test_keys_stand_in_their_order_and_then_in_mine() -> None:
    assert merged({}, {"m2": 1, "m1": 1}, {"t2": 1, "t1": 1}) == '{"t2": 1, "t1": 1, "m2": 1, "m1": 1}'
    assert merged({"a": 1, "b": 1}, {"b": 1, "a": 2}, {"a": 1, "b": 1}) == '{"a": 2, "b": 1}'


def test_the_same_change_on_both_sides_is_no_conflict() -> None:
    assert merged({"a": 1}, {"a": [2]}, {"a": [2]}) == '{"a": [2]}'
    assert merged({"a": 1}, {}, {}) == "{}"
    assert merged({}, {"n": 1}, {"n": 1}) == '{"n": 1}'


def test_different_changes_of_one_place_conflict_and_the_shared_side_stays() -> None:
    result = merge_json({"a": {"b": 1}}, {"a": {"b": 2}}, {"a": {"b": 3}})
    assert text(result.value) == '{"a": {"b": 3}}'
    [conflict] = result.conflicts
    assert (conflict.pointer, conflict.base, conflict.mine, conflict.theirs) == ("/a/b", 1, 2, 3)


def test_deleting_what_the_other_side_edited_is_a_conflict() -> None:
    result = merge_json({"a": 1}, {}, {"a": 2})
    assert text(result.value) == '{"a": 2}'
    assert (result.conflicts[0].pointer, result.conflicts[0].mine) == ("/a", ABSENT)


def test_editing_what_the_shared_side_deleted_is_a_conflict_and_it_stays_deleted() -> None:
    result = merge_json({"a": {"x": 1}, "b": 1}, {"a": {"x": 2}, "b": 1}, {"b": 1})
    assert text(result.value) == '{"b": 1}'
    assert (result.conflicts[0].pointer, result.conflicts[0].theirs) == ("/a", ABSENT)


def test_deleting_what_the_other_side_left_alone_deletes_it() -> None:
    assert merged({"a": {"x": [1]}}, {}, {"a": {"x": [1]}}) == "{}"
    assert merged({"a": {"x": [1]}}, {"a": {"x": [1]}}, {}) == "{}"


def test_objects_added_on_both_sides_merge_as_if_from_an_empty_one() -> None:
    assert merged({}, {"n": {"x": 1, "z": 0}}, {"n": {"y": 1, "z": 0}}) == '{"n": {"y": 1, "z": 0, "x": 1}}'
    assert pointers({}, {"n": {"x": 1}}, {"n": {"x": 2}}) == ["/n/x"]
    assert merged(ABSENT, {"x": 1}, {"y": 1}) == '{"y": 1, "x": 1}'


def test_a_scalar_that_became_two_different_objects_is_one_conflict() -> None:
    assert pointers({"a": 1}, {"a": {"x": 1}}, {"a": {"y": 1}}) == ["/a"]


def test_arrays_are_taken_as_a_whole() -> None:
    assert merged([1, 2], [1, 2, 3], [1, 2]) == "[1, 2, 3]"
    assert pointers([1, 2], [1, 2, 3], [0, 1, 2]) == [""]
    assert pointers({"a": [{"x": 1, "y": 1}]}, {"a": [{"x": 2, "y": 1}]}, {"a": [{"x": 1, "y": 2}]}) == ["/a"]


@pytest.mark.parametrize(
    ("one", "other"), [(1, True), (0, False), (1, 1.0), (0.0, -0.0), (None, False), ([1], [True])]
)
def test_values_that_only_python_takes_for_equal_are_different(one: object, other: object) -> None:
    assert merged(one, other, one) == text(other)
    assert merged(one, one, other) == text(other)
    assert pointers("x", one, other) == [""]
    assert pointers({"k": "x"}, {"k": {"in": one}}, {"k": {"in": other}}) == ["/k"]


def test_null_is_a_value_and_not_a_missing_one() -> None:
    assert merged({"a": 1}, {"a": None}, {"a": 1}) == '{"a": null}'
    assert pointers({"a": 1}, {"a": None}, {}) == ["/a"]


def test_pointers_escape_what_they_must() -> None:
    base: object = {"a/b": {"~": 1, "": {"~1": 1}}}
    mine: object = {"a/b": {"~": 2, "": {"~1": 2}}}
    theirs: object = {"a/b": {"~": 3, "": {"~1": 3}}}
    assert pointers(base, mine, theirs) == ["/a~1b/~0", "/a~1b//~01"]


def test_a_whole_value_may_be_missing_on_any_side() -> None:
    assert merge_json(1, ABSENT, ABSENT).value is ABSENT
    assert merge_json(1, ABSENT, 1).value is ABSENT
    assert merged(ABSENT, ABSENT, 1) == "1"
    assert pointers(1, ABSENT, 2) == [""]


def test_the_inputs_are_left_as_they_were() -> None:
    base, mine, theirs = {"a": {"x": 1}}, {"a": {"x": 2}, "m": 1}, {"a": {"x": 3}, "t": 1}
    before = text([base, mine, theirs])
    merge_json(base, mine, theirs)
    assert text([base, mine, theirs]) == before


def test_the_bottom_of_a_deep_value_is_not_compared_once_for_each_level_above_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    compared: list[object] = []

    def counted(a: object, b: object) -> bool:
        compared.append(a)
        return is_same(a, b)

    monkeypatch.setattr(json_merge, "is_same", counted)

    def nested(bottom: object) -> object:
        for _ in range(60):
            bottom = {"k": bottom}
        return bottom

    merge_json(nested([1] * 100), nested([1] * 101), nested([1] * 100))
    assert len(compared) <= 3 * (60 + 101)


def test_sameness_ignores_the_order_of_keys() -> None:
    assert is_same({"a": 1, "b": [{}]}, {"b": [{}], "a": 1})
    assert not is_same({"a": 1}, {"a": 1, "b": 1})
    assert not is_same([1, 2], [2, 1])
    assert is_same(ABSENT, ABSENT)
    assert not is_same(ABSENT, None)
