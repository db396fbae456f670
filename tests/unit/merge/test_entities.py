"""Whole functions, types and fields: added, moved, dropped, renamed and edited by two sides."""

from __future__ import annotations

import pytest

from lineclear.merge import merge_texts
from lineclear.merge.handlers.keyed import KeyedEntry
from lineclear.merge.renames import match_renamed

CHANGED = ["both sides changed these lines"]
REMOVED = ["one side removed what the other edited"]
ADDED = ["both sides added lines at this place"]
HEAD = "import os\n\n\n"


def function(name: str, value: int = 1) -> str:
    return f"def {name}(a):\n    x = a + {value}\n    y = x * 2\n    return use(x, y, '{name}')\n\n\n"


def module(*parts: str) -> str:
    return HEAD + "".join(parts)


def method(name: str, value: int = 1) -> str:
    return f"    int {name}(int a) {{\n        return a + {value};\n    }}\n\n"


def klass(*parts: str) -> str:
    return "class A {\n" + "".join(parts) + "}\n"


F, G, H = function("f"), function("g"), function("h")


def both_ways(path: str, base: str, left: str, right: str) -> tuple[str, str]:
    there, back = merge_texts(path, base, left, right), merge_texts(path, base, right, left)
    assert there.is_clean, there.verdict
    assert back.is_clean, back.verdict
    return there.text, back.text


def reasons(path: str, base: str, left: str, right: str) -> list[str]:
    """Why it is a conflict, whichever side is left; empty where it is none."""
    there, back = merge_texts(path, base, left, right), merge_texts(path, base, right, left)
    found = [conflict.doubt for conflict in there.conflicts]
    assert found == [conflict.doubt for conflict in back.conflicts]
    return found


def test_a_function_moved_here_and_edited_there() -> None:
    there, back = both_ways("a.py", module(F, G, H), module(G, F, H), module(F, function("g", 7), H))
    assert there == back == module(function("g", 7), F, H)


def test_an_edit_follows_its_function_and_not_its_place() -> None:
    """The lines of two alike functions line up; the edit must not end up in the other one."""
    base = klass(method("f"), method("g"), method("h"))
    left = klass(method("g"), method("f"), method("h"))
    right = klass(method("f", 2), method("g"), method("h"))
    there, back = both_ways("A.java", base, left, right)
    assert there == back == klass(method("g"), method("f", 2), method("h"))


def test_functions_added_by_both_with_one_in_common() -> None:
    base = module(F, G)
    left, right = module(F, G, function("p"), function("q")), module(F, G, function("q"), function("r"))
    there, back = both_ways("a.py", base, left, right)
    assert there == module(F, G, function("p"), function("q"), function("r"))
    assert sorted(back) == sorted(there)


def test_a_function_dropped_here_and_edited_there_stays_open() -> None:
    assert reasons("a.py", module(F, G, H), module(F, H), module(F, function("g", 5), H)) == REMOVED


def test_a_field_added_beside_one_that_the_other_side_dropped_stays_open() -> None:
    base = "interface A {\n  one: string;\n  two: string;\n}\n"
    left = "interface A {\n  one: string;\n}\n"
    right = "interface A {\n  one: string;\n  two: string;\n  three: string;\n}\n"
    assert reasons("a.ts", base, left, right) == REMOVED


def test_a_statement_behind_one_that_the_other_side_edited_stays_open() -> None:
    base = "def f(a):\n    ret = make(a)\n    return ret\n"
    left = base.replace("make(a)", "{'data': make(a)}")
    right = base.replace("    return", "    check(ret)\n    ret['code'] = 0\n    return")
    assert reasons("a.py", base, left, right) == CHANGED


def test_statements_added_at_one_place_stay_open() -> None:
    base = module(F, "start()\n")
    assert reasons("a.py", base, module(F, "one()\nstart()\n"), module(F, "two()\nstart()\n")) == ADDED


def test_both_sides_changed_the_order() -> None:
    base = module(F, G, H)
    assert reasons("a.py", base, module(G, F, function("h", 2)), module(H, F, function("g", 3))) == CHANGED


def entries(*rows: tuple[str, str]) -> KeyedEntry:
    return KeyedEntry("", "", "", [KeyedEntry(key, "", text) for key, text in rows])


@pytest.mark.parametrize(
    ("text", "key"),
    [(F.replace("def f", "def renamed"), "def f"), ("def renamed(z):\n    return None\n", "def renamed")],
    ids=["the same body is the same function", "another body is another function"],
)
def test_a_function_under_a_new_name(text: str, key: str) -> None:
    side = entries(("def renamed", text))
    match_renamed(entries(("def f", F)), side)
    assert [child.key for child in side.children or []] == [key]


def test_of_two_alike_functions_none_is_the_renamed_one() -> None:
    side = entries(("def new", F))
    match_renamed(entries(("def f", F), ("def g", F)), side)
    assert [child.key for child in side.children or []] == ["def new"]
