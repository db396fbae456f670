"""Calls: to whom, by which name, with what; and those that register something under a key."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from lineclear.code.languages import language_of
from lineclear.code.nodes import flat_text
from lineclear.code.parse import parse
from lineclear.code.references import read_call
from lineclear.code.registrations import are_apart, element, registered
from lineclear.code.selectors import selectors_of

if TYPE_CHECKING:
    from tree_sitter import Node

    from lineclear.code.languages.table import Language


def first_of(path: str, text: str, kinds: tuple[str, ...] = ()) -> tuple[Language, Node]:
    """The outermost call, or the outermost node of these types."""
    language = language_of(path)
    assert language is not None
    tree = parse(language, text)
    assert tree is not None
    todo = [tree.root_node]
    while todo:
        node = todo.pop(0)
        if node.type in (kinds or language.calls):
            return language, node
        todo += node.named_children
    raise AssertionError(text)


@pytest.mark.parametrize(
    ("path", "text", "receiver", "name", "arguments"),
    [
        ("a.py", "app.get('/pay', pay)\n", "app", "get", ["'/pay'", "pay"]),
        ("a.py", "f()\n", "", "f", []),
        ("a.ts", "this.app.get('/pay', pay)\n", "this.app", "get", ["'/pay'", "pay"]),
        ("a.go", 'package a\nfunc f() { mux.Handle("/pay", pay) }\n', "mux", "Handle", ['"/pay"', "pay"]),
        ("A.java", "class A { void f() { app.get(x, y); } }", "app", "get", ["x", "y"]),
        ("a.php", "<?php\nRoute::get('/pay', $pay);\n", "Route", "get", ["'/pay'", "$pay"]),
        ("a.rb", "resources :returns\n", "", "resources", [":returns"]),
        ("a.rs", "fn f() { a::b(1); }\n", "a", "b", ["1"]),
    ],
)
def test_a_call(path: str, text: str, receiver: str, name: str, arguments: list[str]) -> None:
    found = read_call(*first_of(path, text))
    assert (found[0], found[1], [flat_text(node) for node in found[2]]) == (receiver, name, arguments)


def test_what_is_no_call_reads_as_nothing() -> None:
    assert read_call(*first_of("a.py", "x = 1\n", ("assignment",))) == ("", "", [])


@pytest.mark.parametrize(
    ("path", "text", "key"),
    [
        ("a.py", "app.get('/pay', pay)\n", "'/pay'"),
        ("a.py", "cli.add_command(pay)\n", "pay"),
        ("a.rb", "resources :returns\n", "returns"),
        ("a.ts", "app.use('/pay', pay)\n", ""),
        ("a.ts", "cache.get('/pay', pay)\n", ""),
        ("a.ts", "app.get(name, pay)\n", ""),
    ],
)
def test_a_registration_has_a_key(path: str, text: str, key: str) -> None:
    found = registered(*first_of(path, text))
    assert (found[1] if found else "") == key


@pytest.mark.parametrize(
    ("name", "is_registry"), [("urlpatterns", True), ("my_routes", True), ("rows", False)]
)
def test_a_list_is_a_registry_by_its_name(name: str, is_registry: bool) -> None:
    language, container = first_of("a.py", f"{name} = [path('pay/', pay)]\n", ("list",))
    found = element(language, container.named_children[0], container)
    assert (found is not None) == is_registry


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [
        ("/pay", "/sell", True),
        ("/pay", "/pay", False),
        ("/:page", "/pay", False),
        ("pay/", "pay/later/", False),
    ],
)
def test_keys_of_which_one_may_take_the_other_are_not_apart(left: str, right: str, expected: bool) -> None:
    assert are_apart([left], [right]) == are_apart([right], [left]) == expected


def test_the_selectors_of_a_style_sheet_with_their_bodies() -> None:
    text = (
        "/* .gone {} */\n@import 'a';\n.pay,\n.buy { color: red;\n  a { margin: 0 } }\nbody { margin: 0 }\n"
    )
    assert selectors_of(text) == {".pay, .buy": "color: red; a { margin: 0 }"}
