from __future__ import annotations

import pytest

from lineclear.core.radar.facts import BY_NAME, CALL, NAMED_REST, REST, Definition, Parameter, Use
from lineclear.core.radar.shapes import misfit_of, reordering_of, return_change, retyping_of
from tests.unit.core.radar.facts_made import call, function


@pytest.mark.parametrize(
    ("takes", "use", "expected"),
    [
        ("a b", call("f", 2), ""),
        ("a b", call("f", 1), "does not pass `b`"),
        ("a b", call("f", 3), "passes 3 arguments, it takes at most 2"),
        ("", call("f", 1), "passes 1 argument, it takes none"),
        ("a b?", call("f", 1), ""),
        ("a b", call("f", 1, "b"), ""),
        ("a", call("f", 1, "b"), "passes `b`, which is not a parameter"),
        ("a b", call("f", -1), ""),
        ("a b", call("f", 1, "*"), ""),
    ],
)
def test_a_call_is_compared_with_the_parameters(takes: str, use: Use, expected: str) -> None:
    found = misfit_of(use, [function("f", takes)])
    assert found.startswith(expected)
    assert bool(found) == bool(expected)


def test_rest_parameters_take_everything() -> None:
    shape = (Parameter("a"), Parameter("more", REST), Parameter("named", NAMED_REST))
    row = Definition("f", "function", 1, shape, "", (), "", "def f(a, *more, **named)")
    assert misfit_of(call("f", 5, "x"), [row]) == ""
    assert misfit_of(call("f", 0), [row])


def test_a_required_keyword_must_be_passed_by_name() -> None:
    shape = (Parameter("a"), Parameter("key", BY_NAME))
    row = Definition("f", "function", 1, shape, "", (), "", "def f(a, *, key)")
    assert misfit_of(Use("f", CALL, places=2), [row])
    assert misfit_of(Use("f", CALL, places=1, names=("key",)), [row]) == ""


def test_a_call_that_fits_one_overload_fits() -> None:
    assert misfit_of(call("f", 1), [function("f", "a b"), function("f", "a")]) == ""


def test_parameters_in_another_order_change_what_a_call_by_place_means() -> None:
    old, new = [function("f", "a b")], [function("f", "b a")]
    assert reordering_of(call("f", 2), old, new)
    assert reordering_of(call("f", 0, "a", "b"), old, new) == ""


def test_another_declared_type_counts_only_where_types_are_checked() -> None:
    old, new = [function("f", "a:int")], [function("f", "a:string")]
    assert retyping_of(call("f", 1), "go", old, new)
    assert retyping_of(call("f", 1), "python", old, new) == ""
    assert retyping_of(call("f", 1), "typescript", old, [function("f", "a:int|string")]) == ""


def test_a_refined_return_type_in_python_is_no_change() -> None:
    old, new = [function("f", returns="dict")], [function("f", returns="dict[str, int]")]
    assert return_change("python", old, new) == ""
    assert return_change("python", old, [function("f", returns="Cart")])
