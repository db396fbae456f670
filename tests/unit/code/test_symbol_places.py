"""Does a change touch a symbol? Yes, unless it is certain that it does not."""

from __future__ import annotations

import pytest

from lineclear.code.symbol_places import change_touches, edit_touches

CODE = '''import os

LIMIT = 3


def load():
    return 0


# Who comes in.
@final
class Login:
    user = ""

    @cached
    def check(
        self,
    ) -> int:
        text = """
a line without indentation
"""
        return 1

    def leave(self):
        return 2


def last():
    return 3
'''
SCRIPT = """export class Login {
  check() {
    return 1;
  }
}

export function other() {
  return 2;
}
"""


@pytest.mark.parametrize(
    ("pieces", "is_touched"),
    [
        (["        return 1"], True),
        (["    ) -> int:"], True),
        (["a line without indentation"], True),
        (["    @cached"], True),
        (["LIMIT = 3"], False),
        (["    return 0"], False),
        (["        return 2"], False),
        (["    return 3\n"], False),
        (["    return 0\n", "        return 1\n"], True),
        (["\n    def leave(self):"], True),
        (["return 0\n\n\n# Who comes in.\n@final\nclass Login:\n    user = \"\"\n\n    @cached"], True),
        (["not there"], True),
        (["LIMIT = 3", "not there"], True),
        ([""], True),
        ([], True),
    ],
)  # fmt: skip
def test_an_edit_touches_a_method_when_it_replaces_one_of_its_lines(
    pieces: list[str], is_touched: bool
) -> None:
    assert edit_touches(CODE, pieces, "Login.check") is is_touched


@pytest.mark.parametrize(
    ("piece", "is_touched"),
    [("# Who comes in.", True), ('    user = ""', True), ("        return 2", True), ("    return 3", False)],
)
def test_an_edit_touches_a_class_when_it_touches_anything_in_it(piece: str, is_touched: bool) -> None:
    assert edit_touches(CODE, [piece], "Login") is is_touched


def test_every_occurrence_of_a_piece_counts() -> None:
    assert edit_touches("def a():\n    x = 1\n\n\ndef b():\n    x = 1\n", ["    x = 1"], "b")
    assert not edit_touches("def a():\n    x = 1\n\n\ndef b():\n    x = 2\n", ["    x = 1"], "b")


def test_of_a_method_that_cannot_be_found_its_class_counts() -> None:
    assert edit_touches(SCRIPT, ["    return 1;"], "Login.check")
    assert not edit_touches(SCRIPT, ["  return 2;"], "Login.check")


def test_a_symbol_that_cannot_be_found_may_be_anywhere() -> None:
    assert edit_touches(CODE, ["LIMIT = 3"], "Logout")
    assert change_touches(CODE, CODE.replace("LIMIT = 3", "LIMIT = 4"), "Logout")


@pytest.mark.parametrize(
    ("old", "new", "is_touched"),
    [
        ("LIMIT = 3", "LIMIT = 4", False),
        ("return 0", "return 10", False),
        ("return 1", "return 10", True),
        ("return 2", "return 20", False),
        ("        return 1\n", "", True),
        ("    def leave", "    def stay(self):\n        return 4\n\n    def leave", False),
        ("def last", "def more():\n    return 5\n\n\ndef last", False),
        ("    def check(\n", "    def test(\n", True),
        (CODE, "", True),
    ],
)
def test_a_change_touches_a_symbol_when_one_of_its_lines_differs(
    old: str, new: str, is_touched: bool
) -> None:
    assert change_touches(CODE, CODE.replace(old, new, 1), "Login.check") is is_touched


def test_a_new_file_touches_what_it_defines() -> None:
    assert change_touches("", CODE, "Login.check")


def test_two_changes_around_a_symbol_do_not_touch_it() -> None:
    changed = CODE.replace("LIMIT = 3", "LIMIT = 4").replace("return 3", "return 4")
    assert not change_touches(CODE, changed, "Login")


def test_a_very_long_change_is_taken_as_one() -> None:
    long = "\n".join(f"x{number} = 1" for number in range(3_000))
    assert change_touches(CODE + long, "y = 1\n" + CODE + long.replace("= 1", "= 2"), "Login")


def test_a_name_or_a_piece_that_occurs_very_often_does_not_stop_the_commit_gate() -> None:
    """Looking at all pairs of them would take hours."""
    often = "def f():\n" * 200_000
    assert change_touches(often + "a", often + "b", "f")
    assert not edit_touches("a\n" * 1_000_000 + "def f():\n    b\n", ["a"], "f")
