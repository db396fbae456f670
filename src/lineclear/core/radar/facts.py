"""What one file says, in any language: its definitions, what it uses, what it imports, what it
registers.

`code/facts` makes these values from a text, the radar's rules compare them, and a cache keeps them by the
id of the text. So they are plain, and `to_json` and `from_json` turn them into lists and back.
"""

from __future__ import annotations

from dataclasses import astuple, dataclass
from typing import Any

# A change of what the values below mean or of how they are read makes every cached one useless.
VERSION = 1

# Kinds of definitions. A type has members; a member's name is `Type.member`.
FUNCTION, METHOD, TYPE, INTERFACE, CONSTANT, FIELD = (
    "function", "method", "type", "interface", "constant", "field",
)  # fmt: skip
# Kinds of parameters: by place or name; by place only; by name only; `*rest`; `**rest`.
PLAIN, BY_PLACE, BY_NAME, REST, NAMED_REST = "plain", "by place", "by name", "rest", "named rest"
# Kinds of uses: a call; a literal or constructor call with fields; a base of a type; a type in a declaration;
# any other mention.
CALL, LITERAL, BASE, TYPE_NAME, MENTION = "call", "literal", "base", "type name", "mention"
# Kinds of keys that a file registers.
ROUTE, COMMAND, EVENT, VARIABLE, SELECTOR, MIGRATION, DEPENDENCY, TABLE = (
    "route", "command", "event", "variable", "selector", "migration", "dependency", "table",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Parameter:
    name: str
    kind: str = PLAIN
    is_required: bool = True
    type: str = ""


@dataclass(frozen=True, slots=True)
class Definition:
    """`name` is dotted (`Cart.total`). `parameters` is None for what cannot be called; a type has those of
    its constructor where the file shows them. `type`: the declared type of a field or constant, or
    what a function returns. `text`: a digest of the definition without comments and blanks; `head`:
    its first lines up to the body, for people. `is_open`: an implementor must provide it (an abstract
    method, a member of an interface). `is_optional`: a field that a literal may leave out."""

    name: str
    kind: str
    row: int
    parameters: tuple[Parameter, ...] | None
    type: str
    bases: tuple[str, ...]
    text: str
    head: str
    is_open: bool = False
    is_optional: bool = False
    is_private: bool = False

    @property
    def bare(self) -> str:
        return self.name.rpartition(".")[2]


@dataclass(frozen=True, slots=True)
class Use:
    """`receiver` is the text before the name (`self`, `cart`, `shop.cart`), `receiver_type` its type where
    the same function says it (an annotation, `cart = Cart()`). `places` counts arguments without a
    name, -1 if a spread hides how many; `names` are named arguments or a literal's fields, with "*"
    if a spread may add more. `inside` is the definition around it."""

    name: str
    kind: str
    receiver: str = ""
    receiver_type: str = ""
    places: int = 0
    names: tuple[str, ...] = ()
    inside: str = ""
    row: int = 0


@dataclass(frozen=True, slots=True)
class Import:
    """`name` is "" for a whole module and "*" for everything in it; `alias` is the name in this file.
    `is_passed_on`: the file exports it again."""

    module: str
    name: str
    alias: str
    is_passed_on: bool = False


@dataclass(frozen=True, slots=True)
class Key:
    """Something registered under a name. Two keys with the same kind and name, and another meaning, clash."""

    kind: str
    name: str
    meaning: str
    row: int = 0


@dataclass(frozen=True, slots=True)
class FileFacts:
    """`package` is what the file says it belongs to (Java, Kotlin, Go, C#, PHP). `is_broken`: the text does
    not parse, so a definition that is missing here may only be hidden. `is_read` is False for what we
    do not read: too large, generated, or in a language without a table."""

    language: str = ""
    package: str = ""
    is_read: bool = True
    is_broken: bool = False
    definitions: tuple[Definition, ...] = ()
    uses: tuple[Use, ...] = ()
    imports: tuple[Import, ...] = ()
    keys: tuple[Key, ...] = ()

    def to_json(self) -> list[Any]:
        rows = [list(map(astuple, part)) for part in (self.definitions, self.uses, self.imports, self.keys)]
        return [self.language, self.package, self.is_read, self.is_broken, *rows]


def from_json(row: list[Any]) -> FileFacts:
    language, package, is_read, is_broken, definitions, uses, imports, keys = row
    return FileFacts(
        language,
        package,
        is_read,
        is_broken,
        tuple(_definition(*one) for one in definitions),
        tuple(_use(*one) for one in uses),
        tuple(Import(*one) for one in imports),
        tuple(Key(*one) for one in keys),
    )


def _definition(
    name: str, kind: str, row: int, parameters: list[Any] | None, type: str, bases: list[str], *rest: Any
) -> Definition:
    shape = tuple(Parameter(*one) for one in parameters) if parameters is not None else None
    return Definition(name, kind, row, shape, type, tuple(bases), *rest)


def _use(
    name: str, kind: str, receiver: str, receiver_type: str, places: int, names: list[str], *rest: Any
) -> Use:
    return Use(name, kind, receiver, receiver_type, places, tuple(names), *rest)


NOT_READ = FileFacts(is_read=False)
