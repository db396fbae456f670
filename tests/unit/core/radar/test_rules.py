from __future__ import annotations

from lineclear.core.radar.facts import (
    BASE,
    DEPENDENCY,
    FIELD,
    INTERFACE,
    LITERAL,
    METHOD,
    ROUTE,
    TYPE,
    Definition,
    FileFacts,
    Key,
    Use,
)
from lineclear.core.radar.rules import compare
from tests.unit.core.radar.facts_made import KnownWorld, brings, call, function, python, side

OLD, NEW = function("total", "items"), function("total", "items currency")
USER = python(uses=(call("total", 1),), imports=(brings("shop.cart", "total"),))
WORLD = KnownWorld()


def test_a_new_call_against_a_changed_signature_is_found() -> None:
    ada = side("ada", shop__cart=(python(OLD), python(NEW)))
    (found,) = compare(ada, side("bob", report=(None, USER)), WORLD)
    assert (found.kind, found.agents, found.symbol) == ("signature", ("ada", "bob"), "total")
    assert found.files == ("shop/cart.py", "report.py")
    assert found.interrupts
    assert "currency" in found.detail


def test_the_order_of_the_sides_does_not_matter() -> None:
    ada = side("ada", shop__cart=(python(OLD), python(NEW)))
    bob = side("bob", report=(None, USER))
    assert compare(ada, bob, WORLD) == compare(bob, ada, WORLD)


def test_a_call_that_stood_there_is_the_changers_business() -> None:
    ada = side("ada", shop__cart=(python(OLD), python(NEW)))
    bob = side("bob", report=(USER, python(function("other"), uses=USER.uses, imports=USER.imports)))
    assert compare(ada, bob, WORLD) == []


def test_a_copied_call_is_new() -> None:
    twice = python(uses=(*USER.uses, call("total", 1, inside="other")), imports=USER.imports)
    ada = side("ada", shop__cart=(python(OLD), python(NEW)))
    assert len(compare(ada, side("bob", report=(USER, twice)), WORLD)) == 1


def test_an_optional_parameter_is_silent() -> None:
    ada = side("ada", shop__cart=(python(OLD), python(function("total", "items currency?"))))
    assert compare(ada, side("bob", report=(None, USER)), WORLD) == []


def test_a_function_of_the_same_name_elsewhere_is_silent() -> None:
    ada = side("ada", shop__cart=(python(OLD), python(NEW)))
    other = python(uses=(call("total", 1),), imports=(brings("billing.sums", "total"),))
    assert compare(ada, side("bob", report=(None, other)), WORLD) == []


def test_a_removed_function_that_the_other_side_imports_is_found() -> None:
    ada = side("ada", shop__cart=(python(OLD), python()))
    (found,) = compare(ada, side("bob", report=(None, USER)), WORLD)
    assert (found.kind, found.symbol, found.interrupts) == ("removed", "total", True)


def test_a_moved_function_says_where_it_went() -> None:
    ada = side("ada", shop__cart=(python(OLD), python()), shop__sums=(None, python(OLD)))
    (found,) = compare(ada, side("bob", report=(None, USER)), WORLD)
    assert found.detail == "moved to shop/sums.py"


def test_a_moved_function_that_is_passed_on_is_silent() -> None:
    passing = python(imports=(brings("shop.sums", "total"),))
    ada = side("ada", shop__cart=(python(OLD), passing), shop__sums=(None, python(OLD)))
    assert compare(ada, side("bob", report=(None, USER)), WORLD) == []


def test_a_half_typed_file_removes_nothing() -> None:
    ada = side("ada", shop__cart=(python(OLD), python(is_broken=True)))
    assert compare(ada, side("bob", report=(None, USER)), WORLD) == []


def test_a_removed_file_removes_what_it_defined() -> None:
    ada = side("ada", shop__cart=(python(OLD), None))
    (found,) = compare(ada, side("bob", report=(None, USER)), WORLD)
    assert (found.kind, found.symbol) == ("removed", "total")


def test_a_method_through_an_unknown_receiver_counts_only_if_it_is_the_only_one() -> None:
    old, new = function("Cart.checkout", "a", kind=METHOD), function("Cart.checkout", "a b", kind=METHOD)
    ada = side("ada", shop__cart=(python(old), python(new)))
    bob = side("bob", report=(None, python(uses=(call("checkout", 1, receiver="cart"),))))
    (found,) = compare(ada, bob, KnownWorld({"shop/cart.py": python(new)}))
    assert found.confidence == "likely"
    other = python(function("Order.checkout", "a", kind=METHOD))
    assert compare(ada, bob, KnownWorld({"shop/order.py": other})) == []


def test_both_edit_one_function() -> None:
    before = python(function("total", "items", text="0"))
    ada = side("ada", cart=(before, python(function("total", "items", text="1"))))
    bob = side("bob", cart=(before, python(function("total", "items", text="2"))))
    (found,) = compare(ada, bob, WORLD)
    assert (found.kind, found.interrupts) == ("same-symbol", False)
    same = side("bob", cart=(before, python(function("total", "items", text="1"))))
    assert compare(ada, same, WORLD) == []


def test_both_make_one_name_in_one_file() -> None:
    ada = side("ada", cart=(python(), python(function("tax", text="1"))))
    bob = side("bob", cart=(python(), python(function("tax", text="2"))))
    (found,) = compare(ada, bob, WORLD)
    assert (found.kind, found.symbol) == ("same-name", "tax")
    assert compare(ada, side("bob", order=(python(), python(function("tax", text="2")))), WORLD) == []


def _type(name: str, kind: str = TYPE, bases: tuple[str, ...] = ()) -> Definition:
    return Definition(name, kind, 1, None, "", bases, name, f"class {name}")


def test_a_new_implementor_that_lacks_a_new_member_is_found() -> None:
    opened = Definition("Store.flush", METHOD, 2, (), "", (), "flush", "def flush(self)", is_open=True)
    before = python(_type("Store", INTERFACE))
    ada = side("ada", store=(before, python(_type("Store", INTERFACE), opened)))
    implementor = python(
        _type("Disk", bases=("Store",)),
        uses=(Use("Store", BASE, inside="Disk"),),
        imports=(brings("store", "Store"),),
    )
    (found,) = compare(ada, side("bob", disk=(None, implementor)), WORLD)
    assert (found.kind, found.symbol) == ("signature", "Store.flush")


def _interface(*fields: str) -> FileFacts:
    rows = [Definition(f"User.{name}", FIELD, 1, None, "string", (), name, name) for name in fields]
    return FileFacts("typescript", "", True, False, (_type("User", INTERFACE), *rows))


def test_a_literal_that_lacks_a_new_required_field_is_found() -> None:
    ada = side("ada", ".ts", user=(_interface("id"), _interface("id", "email")))
    literal = FileFacts(
        "typescript", uses=(Use("User", LITERAL, names=("id",)),), imports=(brings("./user", "User"),)
    )
    (found,) = compare(ada, side("bob", ".ts", make=(None, literal)), WORLD)
    assert found.detail == "does not set `email`, which is required now"


def _keys(*keys: Key) -> FileFacts:
    return FileFacts("json", keys=keys)


def test_both_register_one_route_with_another_handler() -> None:
    ada = side("ada", a=(_keys(), _keys(Key(ROUTE, "GET /users", "list_users"))))
    bob = side("bob", b=(_keys(), _keys(Key(ROUTE, "GET /users", "all_users"))))
    assert [row.kind for row in compare(ada, bob, WORLD)] == ["same-name"]
    same = side("bob", b=(_keys(), _keys(Key(ROUTE, "GET /users", "list_users"))))
    assert compare(ada, same, WORLD) == []


def test_ranges_that_exclude_each_other_are_found() -> None:
    ada = side("ada", a=(_keys(), _keys(Key(DEPENDENCY, "npm zod", "^3.0.0"))))
    bob = side("bob", b=(_keys(), _keys(Key(DEPENDENCY, "npm zod", "^4.0.0"))))
    (found,) = compare(ada, bob, WORLD)
    assert (found.kind, found.symbol) == ("dependency", "zod")
