"""The verifier on wrong results: every kind of damage known from other mergers is named."""

from __future__ import annotations

import pytest

from lineclear.merge.verify import MISPLACED, find_doubt

BASE = "import alpha\nimport kilo\n\nRATE = 3\n\n\ndef first():\n    return alpha.one\n"
LEFT = BASE.replace("import kilo", "import delta\nimport kilo") + "\n\ndef ours():\n    return delta.two\n"
RIGHT = BASE.replace("RATE = 3\n", "RATE = 3\nLIMIT = 9\n")
GOOD = LEFT.replace("RATE = 3\n", "RATE = 3\nLIMIT = 9\n")


def doubt(
    merged: str, *, base: str = BASE, left: str = LEFT, right: str = RIGHT, path: str = "shop.py"
) -> str:
    return find_doubt(path, base, left, right, merged)


def test_a_right_result_raises_no_doubt() -> None:
    assert doubt(GOOD) == ""


def test_a_lost_assignment_beside_imports_is_found() -> None:
    assert "of `LIMIT`, found 0" in doubt(GOOD.replace("LIMIT = 9\n", ""))


def test_a_doubled_definition_is_found() -> None:
    twice = doubt(GOOD + "\n\ndef ours():\n    return delta.two\n")
    assert twice == "expected 1 of `def`, found 2"


def test_one_name_with_two_bodies_is_found() -> None:
    left = BASE + "\n\ndef added():\n    return 1\n"
    right = BASE + "\n\ndef added():\n    return 2\n"
    merged = left + "\n\ndef added():\n    return 2\n"
    assert "function added" in doubt(merged, left=left, right=right)


def test_a_lost_import_is_found() -> None:
    assert doubt(GOOD.replace("import delta\n", "")) == "expected 2 of `delta`, found 1"
    in_a_text = GOOD.replace("import delta\n", '"""import delta"""\n')
    assert doubt(in_a_text) == "import import delta is missing or left over"


def test_a_removed_line_that_came_back_is_found() -> None:
    left = BASE.replace("RATE = 3\n", "")
    right = BASE.replace("alpha.one", "alpha.three")
    assert "expected 0 of `RATE`, found 1" in doubt(right, left=left, right=right)


def test_a_result_that_does_not_parse_is_found() -> None:
    assert "does not parse" in doubt(GOOD.replace("def first():", "def first(:"))


def test_markers_in_the_result_are_found() -> None:
    assert "markers" in doubt(GOOD + "<<<<<<< ours\n")


@pytest.mark.parametrize(
    ("merged", "named"),
    [
        (GOOD.replace("\n", "\r\n"), "line ends"),
        (GOOD.rstrip("\n"), "final newline"),
        ("\ufeff" + GOOD, "byte order mark"),
    ],
)
def test_a_changed_form_is_found(merged: str, named: str) -> None:
    assert named in doubt(merged)


def test_an_import_removed_by_one_side_and_used_more_by_the_other_is_found() -> None:
    base = BASE + "# kilo\n"
    left = base.replace("import kilo\n", "")
    right = base.replace("RATE = 3", "RATE = kilo.rate")
    found = doubt(right.replace("import kilo\n", ""), base=base, left=left, right=right)
    assert found == "one side removed the import of `kilo`, the result uses it more than that side"


def test_a_name_removed_by_one_side_and_used_more_by_the_other_is_found() -> None:
    base = "def total(a):\n    return a\n\n\nx = total(1)\ny = 2\n"
    left = base.replace("total", "whole")
    right = base.replace("y = 2", "y = total(2)")
    merged = left.replace("y = 2", "y = total(2)")
    assert "removed `total`" in doubt(merged, base=base, left=left, right=right)


def test_a_version_of_neither_side_is_found() -> None:
    base, left, right = "version = 1.0.0\n", "version = 1.1.0\n", "version = 1.2.0\n"
    assert doubt("version = 1.3.0\n", base=base, left=left, right=right, path="notes") == (
        "version 1.3.0 is in neither side"
    )
    assert doubt("version = 1.2.0\n", base=base, left=left, right=right, path="notes") == ""


@pytest.mark.parametrize(
    ("path", "base", "merged_extra", "named"),
    [
        ("a.ts", "const o = {\n  a: 1,\n};\n", "  b: 2,\n  b: 3,\n", "key b"),
        ("a.go", "package a\n\ntype T struct {\n\tA int\n}\n", "\tB int\n\tB string\n", "field B"),
        ("a.rs", "enum E {\n    A,\n}\n", "    B,\n    B(i32),\n", "case B"),
        ("a.java", "enum E {\n    A,\n}\n", "    B,\n    B(1),\n", "case B"),
        ("a.css", ".x {\n  color: red;\n}\n", "  margin: 1px;\n  margin: 2px;\n", "margin"),
    ],
)
def test_a_key_given_by_both_sides_is_found(path: str, base: str, merged_extra: str, named: str) -> None:
    first, second = merged_extra.splitlines(keepends=True)
    head, closing = base[: base.rindex("}")], base[base.rindex("}") :]
    left, right = head + first + closing, head + second + closing
    assert named in find_doubt(path, base, left, right, head + merged_extra + closing)


def test_an_edit_that_ended_up_in_a_neighbour_is_doubted() -> None:
    body = "class A {{\n  int f() {{\n    return {f};\n  }}\n  int g() {{\n    return {g};\n  }}\n}}\n"
    base, left = body.format(f=1, g=1), body.format(f=1, g=1) + "// end\n"
    doubt = find_doubt("A.java", base, left, body.format(f=2, g=1), body.format(f=1, g=2) + "// end\n")
    assert doubt == f"method f() {MISPLACED}"
    assert not find_doubt("A.java", base, left, body.format(f=2, g=1), body.format(f=2, g=1) + "// end\n")


@pytest.mark.parametrize(
    ("path", "base", "left", "right", "merged"),
    [
        ("a.toml", "a = 1\n", 'a = 1\n\n[t]\nb = 2\n', "a = 1\nc = 3\n", "a = 1\n\n[t]\nb = 2\nc = 3\n"),
        (
            "a.json",
            '{"a": {"x": 1}, "b": {}}',
            '{"a": {"x": 1, "y": 2}, "b": {}}',
            '{"a": {"x": 1}, "b": {"z": 3}}',
            '{"a": {"x": 1}, "b": {"y": 2, "z": 3}}',
        ),
        (
            "a.yaml",
            "a:\n  x: 1\nb:\n  k: 1\n",
            "a:\n  x: 1\n  y: 2\nb:\n  k: 1\n",
            "a:\n  x: 1\nb:\n  k: 1\n  z: 3\n",
            "a:\n  x: 1\nb:\n  k: 1\n  y: 2\n  z: 3\n",
        ),
    ],
    ids=["toml", "json", "yaml"],
)  # fmt: skip
def test_a_key_that_came_into_another_table_is_found(
    path: str, base: str, left: str, right: str, merged: str
) -> None:
    assert "misplaced" in doubt(merged, base=base, left=left, right=right, path=path)


def test_a_new_call_of_a_function_that_takes_something_else_now_is_found() -> None:
    base = "def price(n):\n    return n\n"
    left = base + "\n\ndef total():\n    return price(3)\n"
    right = base.replace("price(n)", "price(n, tax)")
    merged = left.replace("price(n)", "price(n, tax)")
    assert "the parameters of `price`" in doubt(merged, base=base, left=left, right=right)
    unrelated = left.replace("price(3)", "other.price(3)")
    assert doubt(unrelated.replace("price(n)", "price(n, tax)"), base=base, left=unrelated, right=right) == ""


def test_a_line_that_one_side_moved_and_the_other_removed_is_found() -> None:
    base = "def f():\n    enter()\n    work()\n"
    left = "def f():\n    help()\n\n\ndef help():\n        enter()\n        work()\n"
    right = "def f():\n    run()\n"
    merged = left.replace("    help()\n\n", "    run()\n\n", 1)
    found = doubt(merged, base=base, left=left, right=right)
    assert found == "expected 0 of `enter`, found 1"


def test_overloads_that_both_sides_add_are_doubted_only_where_the_name_is_new() -> None:
    known = "int pay(int cents) { return cents; }\n"
    ours, theirs = "int pay(long cents) { return 1; }\n", "int pay(char sign) { return 2; }\n"
    other = "int rest() { return 3; }\n"
    for base, is_new in ((other, True), (known + other, False)):
        found = doubt(base + ours + theirs, base=base, left=base + ours, right=base + theirs, path="shop.cpp")
        assert ("both sides define" in found) == is_new


def test_what_one_side_dropped_of_a_line_that_both_wrapped_anew_is_found() -> None:
    base = "int till(int rate, Log log, Words words, Store store);\n"
    right = "int till(\n    int rate,\n    Log *log,\n    Words words,\n    Store store);\n"
    left = right.replace("    Words words,\n", "")
    assert "expected 0 of `Words`, found 1" in doubt(right, base=base, left=left, right=right, path="a.c")
    assert doubt(left, base=base, left=left, right=right, path="a.c") == ""


def test_a_point_that_both_sides_wrote_under_headings_of_their_own_is_found() -> None:
    base = "# Changes\n\n## 1.0\n\n- The first shop\n"
    left = base.replace("## 1.0", "## 1.1-rc2\n\n- A refund that is whole\n\n## 1.0")
    right = base.replace("## 1.0", "## 1.1\n\n- A refund that is whole\n\n## 1.0")
    merged = left.replace("## 1.0", "## 1.1\n\n- A refund that is whole\n\n## 1.0")
    assert "has it 2 times" in doubt(merged, base=base, left=left, right=right, path="NEWS.md")
    sides = [text.replace("- A refund", "### What is new here\n\n- A refund") for text in (left, right)]
    other = sides[1].replace("refund", "return")
    both = sides[0].replace("## 1.0", other.partition("# Changes\n\n")[2].partition("## 1.0")[0] + "## 1.0")
    assert doubt(both, base=base, left=sides[0], right=other, path="NEWS.md") == ""


def test_an_argument_that_came_into_another_call_is_found() -> None:
    base = "x = outer(inner(one), two)\n"
    left, right = "x = inner(one)\n", "x = outer(inner(one), two, three)\n"
    merged = "x = inner(one, three)\n"
    assert "no side passes `three` to `inner`" in doubt(merged, base=base, left=left, right=right)
    renamed = base.replace("outer", "around")
    merged = right.replace("outer", "around")
    assert doubt(merged, base=base, left=renamed, right=right) == ""


def test_a_definition_that_came_into_a_comment_is_found() -> None:
    base = "int a() { return 1; }\nint b() { return 2; }\n"
    left = base.replace("int b()", "int c()")
    right = base.replace("int b()", "/* int b()").replace("2; }", "2; } */")
    merged = right.replace("int b()", "int c()")
    assert "one side added c, but it is in a comment" in doubt(
        merged, base=base, left=left, right=right, path="a.c"
    )
