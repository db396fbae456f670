"""The facts of Python files."""

from __future__ import annotations

import pytest

from lineclear.code.facts.reading import read_facts
from lineclear.core.radar.facts import BASE, CALL, MENTION, TYPE_NAME
from tests.unit.code.facts.shown import definitions, imports, uses


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("def total(items, currency='EUR'): ...\n", ["function total(items, currency?)"]),
        ("async def f(a, /, b, *, c, d=1): ...\n", ["function f(a/, b, c:, d:?)"]),
        ("def f(a: int, *rest: str, k=1, **more: int) -> bool: ...\n",
         ["function f(a, *rest, k:?, **more) -> bool"]),
        ("key = lambda a, b=1: a\n", ["function key(a, b?)"]),
        ("MAX = 3\nA, B = 1, 2\nx = y = 0\n",
         ["constant MAX", "constant A", "constant B", "constant x", "constant y"]),
        ("LIMIT: Final = 3\n", ["constant LIMIT -> Final"]),
        ("type Money = int | None\n", ["type Money"]),
        ("if TYPE_CHECKING:\n    def f(): ...\nelse:\n    f = None\n", ["function f()", "constant f"]),
        ("def f():\n    x = 1\n    def g(): ...\n    class A: ...\n", ["function f()"]),
        ("def _hidden(): ...\ndef __getattr__(name): ...\n",
         ["function _hidden() private", "function __getattr__(name)"]),
    ],
)  # fmt: skip
def test_definitions_of_a_module(text: str, expected: list[str]) -> None:
    assert definitions("a.py", text) == expected


def test_a_class_has_the_parameters_of_its_constructor() -> None:
    text = """
class Cart:
    rate = 1
    def __init__(self, owner: User, limit=10):
        self.owner = owner
        self._lines: list[Line] = []
    def total(self, currency): ...
    @staticmethod
    def parse(text): ...
    @classmethod
    def empty(cls, owner): ...
    @property
    def size(self) -> int: ...
    class Inner: ...
"""
    assert definitions("a.py", text) == [
        "type Cart(owner, limit?)",
        "field Cart.rate optional",
        "method Cart.__init__(owner, limit?)",
        "field Cart.owner -> User",
        "field Cart._lines -> list[Line] private",
        "method Cart.total(currency)",
        "method Cart.parse(text)",
        "method Cart.empty(owner)",
        "field Cart.size -> int",
        "type Cart.Inner()",
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("class A: ...\n", "type A()"),
        ("class A(Base): ...\n", "type A < Base"),
        ("class A(object): ...\n", "type A() < object"),
        ("class A(shop.Base[int], metaclass=M): ...\n", "type A < shop.Base"),
        ("@dataclass\nclass A:\n    x: int\n    y: str = ''\n    n: ClassVar[int] = 1\n", "type A(x, y?)"),
        ("@dataclass(kw_only=True)\nclass A:\n    x: int\n", "type A(x:)"),
        ("@dataclasses.dataclass\nclass A:\n    x: int\n    _: KW_ONLY\n    y: int = field(default=1)\n",
         "type A(x, y:?)"),
        ("@dataclass\nclass A:\n    x: int = field()\n    y: int = field(init=False)\n", "type A(x)"),
        ("@attr.s\nclass A:\n    x = attr.ib()\n    y = attr.ib(default=1)\n", "type A(x, y?)"),
        ("class A(NamedTuple):\n    x: int\n", "type A(x) < NamedTuple"),
        ("class A(BaseModel):\n    x: int\n    y: int = 1\n", "type A(x:, y:?) < BaseModel"),
    ],
)  # fmt: skip
def test_constructors_that_are_not_written(text: str, expected: str) -> None:
    assert definitions("a.py", text)[0] == expected


def test_a_constructor_is_inherited_within_the_file() -> None:
    text = "class A:\n    def __init__(self, x): ...\nclass B(A): ...\n"
    assert definitions("a.py", text)[2:] == ["type B(x) < A"]
    text = "@dataclass\nclass A:\n    x: int\n@dataclass\nclass B(A):\n    y: int\n"
    assert "type B(x, y) < A" in definitions("a.py", text)


def test_abstract_members_are_open() -> None:
    text = """
class Store(ABC):
    @abstractmethod
    def find(self, id): ...
    def close(self): ...
class Clock(Protocol):
    zone: str
    def now(self) -> datetime: ...
"""
    assert definitions("a.py", text) == [
        "interface Store() < ABC",
        "method Store.find(id) open",
        "method Store.close()",
        "interface Clock() < Protocol",
        "field Clock.zone -> str open",
        "method Clock.now() -> datetime open",
    ]


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("total(1, x, currency='EUR')", ["call total(2, currency)"]),
        ("total(*items, **options)", ["call total(-1, *)"]),
        ("shop.cart.total(1)", ["call shop.cart total(1)"]),
        ("super().save(1)", ["call super save(1)", "call super(0)"]),
        ("total(x for x in items)", ["call total(1)"]),
        ("f'{total(1)}'", ["call total(1)"]),
        ("'total(1)'  # total(2)", []),
        ("a(b(c))", ["call a(1)", "call b(1)"]),
        ("items[0].price(2)", ["call items[0] price(1)"]),
    ],
)
def test_calls(body: str, expected: list[str]) -> None:
    assert uses("a.py", f"def f():\n    {body}\n", CALL) == expected


@pytest.mark.parametrize(
    "body",
    [
        "x = 1\n    x(x)",
        "for x in (): x(x)",
        "with (1) as x: x()",
        "[x for x in ()]",
        "(lambda x: x)",
        "x(1)\n    x = 2",
        "try: 1\n    except 1 as x: x",
        "def x(): ...\n    x()",
        "x: 1 = 2\n    print = x\n    (y := x)\n    y",
        "match 1:\n        case x: x\n        case [*x]: x",
        "x, (y, *z) = 1\n    x(y, z)",
    ],
)
def test_local_names_are_no_uses(body: str) -> None:
    assert uses("a.py", f"def f(p, *q, k=1):\n    {body}\n    p, q, k\n") == []


def test_a_global_is_no_local_name() -> None:
    assert uses("a.py", "def f():\n    global x\n    x = 1\n    x\n", MENTION) == ["mention x"]


def test_receivers_have_the_type_that_the_file_tells() -> None:
    text = """
cart = Cart()
class Page:
    def __init__(self, repo: Repo, clock: "Clock | None"):
        self.repo = repo
        self.cache: Cache = make()
    def show(self, user: Optional[User], other):
        self.repo.find(1)
        self.cache.get(1)
        self.render(1)
        user.name
        cart.add(1)
        basket = shop.Basket(1)
        basket.add(1)
        other.add(1)
"""
    found = uses("a.py", text, CALL, MENTION, inside="Page.show")
    assert [one for one in found if " " in one.partition(" ")[2]] == [
        "call self.repo<Repo> find(1)",
        "mention self repo",
        "call self.cache<Cache> get(1)",
        "mention self cache",
        "call self render(1)",
        "mention user<User> name",
        "call cart<Cart> add(1)",
        "call shop Basket(1)",
        "call basket<shop.Basket> add(1)",
        "call other add(1)",
    ]


def test_bases_types_and_members() -> None:
    text = (
        "class A(shop.Base, Generic[T]):\n    x: dict[str, models.User]\n    def f(self): return self.x.y\n"
    )
    assert uses("a.py", text, BASE) == ["base shop Base", "base Generic"]
    assert uses("a.py", text, TYPE_NAME) == ["type name dict", "type name str", "type name models User"]
    assert uses("a.py", text, MENTION) == ["mention T", "mention self.x<dict> y", "mention self x"]


def test_a_use_names_the_definition_around_it() -> None:
    text = "RATE = tax(1)\nclass A:\n    def f(self):\n        def g(): tax(2)\ntax(3)\n"
    assert [one.inside for one in read_facts("a.py", text).uses if one.name == "tax"] == ["RATE", "A.f", ""]
    assert [one.row for one in read_facts("a.py", text).uses if one.name == "tax"] == [0, 3, 4]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("from .cart import total as t, tax\n", [".cart: total as t", ".cart: tax as tax"]),
        ("from . import cart\nfrom .. a import b\n", [".: cart as cart", "..a: b as b"]),
        ("import shop.cart, shop.tax as tax\n", ["shop.cart:  as shop", "shop.tax:  as tax"]),
        ("from shop import *\n", ["shop: * as "]),
        ("def f():\n    from shop import cart\n", ["shop: cart as cart"]),
        ("from a import b, c\n__all__ = ['b']\n", ["a: b as b (passed on)", "a: c as c"]),
        ("from a import b as b\n", ["a: b as b (passed on)"]),
    ],
)
def test_imports(text: str, expected: list[str]) -> None:
    assert imports("shop/page.py", text) == expected


def test_a_package_passes_its_imports_on() -> None:
    assert imports("shop/__init__.py", "from .cart import total\n") == [".cart: total as total (passed on)"]


def digest(text: str, name: str = "f") -> str:
    return next(one.text for one in read_facts("a.py", text).definitions if one.name == name)


def test_a_digest_ignores_comments_docstrings_and_formatting() -> None:
    plain = "def f(a, b):\n    return g(a, b)\n"
    assert digest(plain) == digest(
        'def f(\n    a,\n    b,\n):\n    """Say."""\n    # why\n    return g(a,  b)\n'
    )
    assert digest(plain) != digest("def f(a, b):\n    return g(b, a)\n")
    assert digest(plain) != digest("@cached\n" + plain)


def test_a_digest_sees_a_line_that_moves_out_of_a_loop() -> None:
    loop = "def f():\n    for x in y:\n        a()\n        b()\n"
    assert digest(loop) != digest(loop.replace("        b()", "    b()"))


def test_heads_are_one_readable_line() -> None:
    text = "@cached\ndef total(\n    items, currency\n) -> int:\n    return 1\nclass A(B):\n    x: int\n"
    assert [one.head for one in read_facts("a.py", text).definitions] == [
        "def total( items, currency ) -> int",
        "class A(B)",
        "x: int",
    ]
