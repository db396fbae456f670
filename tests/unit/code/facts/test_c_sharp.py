"""The facts of C# files."""

from __future__ import annotations

import pytest

from lineclear.code.facts.reading import read_facts
from lineclear.core.radar.facts import BASE, CALL, LITERAL
from tests.unit.code.facts.shown import definitions, imports, uses


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("class A { public A(int x, int y = 1) {} public A() {} }\n",
         ["type A(x, y?)", "type A()", "method A.A(x, y?)", "method A.A()"]),
        ("class A : Base<int>, IFoo { int n; public void F(params int[] rest) {} }\n",
         ["type A() < Base, IFoo", "field A.n -> int optional private", "method A.F(*rest) -> void"]),
        ("partial class A { }\n", ["type A"]),
        ("record Point(int X, int Y = 0);\n",
         ["type Point(X, Y?)", "field Point.X -> int", "field Point.Y -> int"]),
        ("interface I { int A { get; } void M(int x); void D() { } }\n",
         ["interface I", "field I.A -> int open optional", "method I.M(x) -> void open", "method I.D() -> void"]),
        ("abstract class A { public abstract int M(); }\n", ["type A", "method A.M() -> int open"]),
        ("enum Color { Red, Green = 2 }\n", ["type Color", "field Color.Red", "field Color.Green"]),
        ("static class E { public static int Sum(this Cart cart, int n) => n; }\n",
         ["type E", "method E.Sum(n) -> int"]),
        ("class A { public required string Name { get; init; } }\n", ["type A()", "field A.Name -> string"]),
    ],
)  # fmt: skip
def test_definitions(text: str, expected: list[str]) -> None:
    assert definitions("a.cs", text) == expected


def test_calls_know_the_types_of_their_receivers() -> None:
    text = """
class Shop {
    private readonly Store _store;
    void Run(Cart cart, Cart? other) {
        var order = new Order(1, limit: 2);
        order.Send();
        cart.Total(2);
        other?.Total();
        _store.Get<int>(3);
        this._store.Put();
        foreach (Line line in lines) { line.Drop(); }
        base.Run(cart);
    }
}
"""
    assert uses("a.cs", text, CALL) == [
        "call Order(1, limit)",
        "call order<Order> Send(0)",
        "call cart<Cart> Total(1)",
        "call other<Cart> Total(0)",
        "call _store<Store> Get(1)",
        "call this._store<Store> Put(0)",
        "call line<Line> Drop(0)",
        "call base Run(1)",
    ]


def test_an_initializer_is_a_literal() -> None:
    text = "class A { B b = new() { X = 1 }; object c = new C(2) { Y = 1, Z = 2 }; }\n"
    assert uses("a.cs", text, CALL, LITERAL) == [
        "call B(0)",
        "literal B(0, X)",
        "call C(1)",
        "literal C(0, Y, Z)",
    ]


def test_constructors_call_those_of_their_bases() -> None:
    text = "class A : B { A(int x) : base(x) {} A() : this(1) {} }\nrecord C(int X) : D(X);\n"
    assert uses("a.cs", text, BASE, CALL) == ["base B", "call B(1)", "call A(1)", "base D", "call D(1)"]


def test_the_namespace_is_the_package() -> None:
    assert read_facts("a.cs", "namespace Shop.Core;\nclass A {}\n").package == "Shop.Core"
    facts = read_facts("a.cs", "namespace Shop.Core { class A {} }\n")
    assert (facts.package, [one.name for one in facts.definitions]) == ("Shop.Core", ["A"])


def test_imports() -> None:
    text = "using System.Text;\nusing static System.Math;\nusing P = Shop.Price;\n"
    assert imports("a.cs", text) == ["System.Text:  as ", "System.Math: * as ", "Shop: Price as P"]


def test_a_half_typed_file_keeps_what_is_complete() -> None:
    text = "class A {\n    public int F(int a) { return a; }\n    public int G(int b) { return F(\n}\n"
    assert read_facts("a.cs", text).is_broken
    assert "method A.F(a) -> int" in definitions("a.cs", text)
