"""Names, kinds and parameters of definitions, and what stands around a place, in every language."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from lineclear.code.languages import language_of
from lineclear.code.parse import parse
from lineclear.code.symbols import is_in_text, label_of, names_in, signature_of, symbols_in

if TYPE_CHECKING:
    from tree_sitter import Node

    from lineclear.code.languages.table import Language


def read(path: str, text: str) -> tuple[Language, Node]:
    language = language_of(path)
    assert language is not None
    tree = parse(language, text)
    assert tree is not None
    return language, tree.root_node


def labels(path: str, text: str) -> list[str]:
    """Of all nodes, from the top; a wrapper has the label of what it wraps."""
    language, root = read(path, text)
    found: list[str] = []
    todo = [root]
    while todo:
        node = todo.pop(0)
        label = label_of(language, node)
        if label and label not in found:
            found.append(label)
        todo += node.named_children
    return found


@pytest.mark.parametrize(
    ("path", "text", "expected"),
    [
        (
            "a.py",
            "@app\ndef f(x): ...\nclass A:\n    def g(self): ...\n",
            ["function f", "type A", "function g"],
        ),
        ("a.py", "x = {'a': 1}\n", ["key 'a'"]),
        ("a.ts", "export const f = 1\n", ["variable f"]),
        ("a.ts", "class A { m(a: B): void {} }\n", ["type A", "method m(a: B)", "parameter a"]),
        ("a.ts", "namespace N { }\n", ["namespace N"]),
        ("a.js", "function* f(a) {}\n", ["function f"]),
        ("a.go", "package a\nfunc (s *Shop) Pay(n int) {}\n", ["method (s *Shop)Pay"]),
        ("a.go", "package a\nvar x = 1\nvar _ I = x\n", ["variable x"]),
        (
            "a.rs",
            "impl A { fn f() {} }\nunion U { a: u8 }\n",
            ["impl A", "type U", "function f", "field a"],
        ),
        ("A.java", "class A { int f(int a) { return a; } }", ["type A", "method f(int a)", "parameter a"]),
        ("A.java", "@interface N { }", ["type N"]),
        ("a.cs", "struct S { void F(int a) {} }", ["type S", "method F(int a)"]),
        ("a.php", "<?php\ntrait T { function f() {} }\n", ["type T", "method f"]),
        ("a.rb", "class A\n  def self.f; end\nend\n", ["type A", "method f"]),
        ("a.kt", "class A { fun f(a: Int) = 1 }\n", ["type A", "function f"]),
        ("a.c", "int f(int a) { int n = 1; return n; }\n", ["function f(int a)", "variable n"]),
        ("a.css", ".a { color: red }\n", ["selector .a", "property color"]),
        ("a.toml", "[t]\na = 1\n", ["table t", "key a"]),
    ],
)
def test_what_a_text_defines(path: str, text: str, expected: list[str]) -> None:
    assert labels(path, text) == expected


def test_a_type_that_is_only_used_is_not_defined() -> None:
    assert labels("a.c", "struct item { int price; };\n") == ["type item", "field price"]
    assert labels("a.c", "int f(struct item *one) { return 0; }\n") == ["function f(struct item *one)"]


@pytest.mark.parametrize(
    ("path", "text", "row", "expected"),
    [
        ("a.py", "class A:\n    def f(self):\n        x = 1\n        return x\n", 2, ["A.f"]),
        ("a.ts", "export const f = () => {\n  one()\n  two()\n}\n", 1, ["f"]),
        ("a.rs", "impl A {\n    fn f() {\n        one();\n    }\n}\n", 2, ["A.f"]),
        ("a.c", "int *f(int a)\n{\n    int n = a;\n    return n;\n}\n", 2, ["f"]),
        ("a.go", "package a\n\nfunc F() {\n\tone()\n\ttwo()\n}\n", 3, ["F"]),
        ("a.py", "def f(a):\n    return call(\n        name=1,\n        other=2,\n    )\n", 2, ["f"]),
        ("a.json", '{\n  "a": {\n    "b": 1,\n    "c": 2\n  }\n}\n', 2, ['"a"."b"']),
    ],
)
def test_the_definitions_around_a_row(path: str, text: str, row: int, expected: list[str]) -> None:
    language, root = read(path, text)
    assert symbols_in(language, root, row, row + 1) == expected


def test_rows_over_several_definitions_name_each() -> None:
    language, root = read(
        "a.py", "class A:\n    def f(self):\n        pass\n\n    def g(self):\n        pass\n"
    )
    assert symbols_in(language, root, 1, 6) == ["A.f", "A.g"]


def test_a_decorated_definition_is_named_once() -> None:
    text = "class A:\n    @one\n    @two\n    def f(self):\n        x = 1\n        return x\n"
    language, root = read("a.py", text)
    assert symbols_in(language, root, 4, 5) == ["A.f"]


@pytest.mark.parametrize(
    ("path", "text", "rows", "expected"),
    [
        ("a.py", "x = 1\ndef f():\n    y = 1\n    return y\ndef g(): ...\n", (1, 5), {"f", "g"}),
        ("a.py", "def f():\n    x = 1\n    return x\n", (1, 2), set()),
        ("a.py", "@one\n@two\ndef f(): ...\n", (0, 2), set()),
        ("a.ts", "export const f = 1\nlet x = 2\n", (0, 2), {"f", "x"}),
        ("a.json", '{\n  "a": 1,\n  "b": 2\n}\n', (1, 3), {'"a"', '"b"'}),
    ],
)
def test_the_definitions_that_begin_in_rows(
    path: str, text: str, rows: tuple[int, int], expected: set[str]
) -> None:
    language, root = read(path, text)
    assert names_in(language, root, *rows) == expected


def test_a_signature_is_compared_without_blanks() -> None:
    _, root = read("a.py", "def f(a,\n      b = 1): ...\n")
    assert signature_of(root.named_children[0]) == ("f", "(a,b=1)")
    assert signature_of(root) is None


@pytest.mark.parametrize(
    ("path", "text", "row", "is_text"),
    [
        ("a.py", 'x = """\na\n"""\n', 1, True),
        ("a.py", "x = [\n    1,\n]\n", 1, False),
        ("a.ts", "const x = `\n  a\n`\n", 1, True),
        ("a.cpp", "template <class T>\nT f(T a) {\n    return a;\n}\n", 2, False),
        ("a.sh", "cat <<END\n  a\nEND\n", 1, True),
        ("a.yaml", "a: |\n  b\n  c\n", 2, True),
    ],
)
def test_a_row_inside_a_long_text(path: str, text: str, row: int, is_text: bool) -> None:
    language, root = read(path, text)
    assert is_in_text(language, root, row) == is_text
