"""Two ranges for one package: only the one that lies within the other is ever chosen."""

from __future__ import annotations

import pytest

from lineclear.merge.handlers.versions import constrained, extras, narrower


@pytest.mark.parametrize(
    ("left", "right", "chosen"),
    [
        ('"a": "^1.2.0"', '"a": "^1.3.0"', "right"),
        ('"a": "~1.2.0"', '"a": "^1.0.0"', "left"),
        ('"a": "^0.2.1"', '"a": "^0.2.7"', "right"),
        ("a>=2.4.6,<3.0", "a>=2.4.7,<3.0", "right"),
        ("a>=2,<4", "a>=2,<3", "right"),
        ("a~=1.4.2", "a>=1.4", "left"),
        ('"a": "^1.2.0"', '"a": "^2.0.0"', ""),
        ('"a": "^0.2.0"', '"a": "^0.3.0"', ""),
        ("a==1.2", "a==1.3", ""),
        ("a<2", "a>=3", ""),
        ("a>=1,<3", "a>=2,<4", ""),
        ('"a": "^1.2.0-beta.1"', '"a": "^1.2.0"', ""),
        ('"a": "workspace:*"', '"a": "^1.2.0"', ""),
        ('"a": "1.2.0"', '"b": "1.3.0"', ""),
    ],
)
def test_the_narrower_range_or_none(left: str, right: str, chosen: str) -> None:
    wanted = {"left": left, "right": right, "": None}[chosen]
    assert narrower((), "", left, right) == wanted
    assert narrower((), "", right, left) == wanted


def test_some_versions_are_among_any() -> None:
    assert constrained((), "", "hull\n", "hull<9\n") == "hull<9\n"
    assert constrained((), "", "hull[fast]>=2\n", "hull[fast]\n") == "hull[fast]>=2\n"


def test_a_name_that_begins_alike_is_another_package() -> None:
    assert constrained((), "", "hull\n", "hull-plates\n") is None
    assert constrained((), "", "hull\n", "hulls<9\n") is None


def test_extras_of_both_sides_are_kept_and_removed_ones_are_gone() -> None:
    assert extras((), '"a[b,d]"', '"a[b,c,d]"', '"a[b,d,e]"') == '"a[b,c,d,e]"'
    assert extras((), '"a[b, d]"', '"a[d]"', '"a[b, d, e]"') == '"a[d,e]"'


def test_extras_beside_another_change_are_not_decided() -> None:
    assert extras((), '"a[b]"', '"a[b,c]"', '"a[b]>=2"') is None
