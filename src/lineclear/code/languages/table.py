"""The facts about a language that are needed to read its programs: node types of its grammar, by meaning.

Each language has one table in this folder. Tables state facts; other modules decide what follows from them
for a merge, a check or a message.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import re
    from collections.abc import Iterator

    from tree_sitter import Node

    from lineclear.code.facts.scopes import Scope
    from lineclear.code.facts.walk import Handler
    from lineclear.core.radar.facts import Import, Parameter


@dataclass(slots=True, kw_only=True)
class Shape:
    """The parts of one definition, for the facts of its file. `names` are the tokens that it defines; `kind`
    is a kind of `core/radar/facts.py`."""

    kind: str
    names: list[Node]
    parameters: Node | None = None
    result: Node | None = None  # the declared type of a field, or what a function returns
    bases: list[Node] = field(default_factory=list)
    body: Node | None = None
    value: Node | None = None
    extends: str = ""  # the type that a method outside its type, or more members, belong to
    has_receiver: bool = False  # its first parameter is the object
    is_class: bool = False  # it can be called, even if no constructor is written
    inherits: str = ""  # the class whose constructor it has unless it writes its own
    fields: tuple[Parameter, ...] | None = None  # what its constructor takes, if made from its fields
    is_open: bool = False
    is_optional: bool = False
    is_private: bool = False


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class FactNodes:
    """Which nodes tell what a file defines and uses, for `code/facts`."""

    # Definitions. `shape` gives the parts of a definition that is directly in this scope, or None.
    defines: tuple[str, ...]
    shape: Callable[[Node, Scope], Shape | None]
    parameters: Callable[[Node], Iterator[tuple[Parameter, Node]]]  # each with its name or pattern
    constructors: tuple[str, ...] = ()  # names of methods; "" if they have the name of their type
    type_parameters: tuple[str, ...] = ()
    spaces: tuple[str, ...] = ()  # modules and namespaces that are part of the names inside them
    # Local names.
    scopes: tuple[str, ...] = ()  # functions without a name, comprehensions
    blocks: tuple[str, ...] = ()  # outside functions, their names are local as well
    binds: Mapping[str, str] = field(default_factory=dict)  # node -> its field with names to bind
    bound: tuple[str, ...] = ("identifier",)  # the tokens in a pattern that are bound
    value_type: Callable[[Node], str] | None = (
        None  # the type of a new object, by the expression that makes it
    )
    # Uses. A call's fields: (what is called, "", arguments) or (name, receiver, arguments).
    calls: Mapping[str, tuple[str, str, str]] = field(default_factory=dict)
    accesses: Mapping[str, tuple[str, str]] = field(default_factory=dict)  # node -> fields: object, name
    names: tuple[str, ...] = ("identifier",)
    type_names: tuple[str, ...] = ()
    type_paths: tuple[str, ...] = ()  # types with their module
    types: tuple[str, ...] = ()  # every name inside is a type
    spreads: tuple[str, ...] = ()
    named_spreads: tuple[str, ...] = ()
    argument_name: Callable[[Node], str] | None = None
    fields_are_bare: bool = False  # a method reaches the fields of its object without `this`
    selves: tuple[str, ...] = ("self", "this")
    # Imports, and other nodes that need their own reading.
    read_imports: Callable[[Node], list[Import]] | None = None
    package: str = ""
    special: Mapping[str, Handler] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Language:
    """Names are node types of the grammar unless stated otherwise."""

    name: str
    grammar: str  # the module of the wheel
    grammar_function: str = "language"

    # Definitions: nodes that give a name to something in its scope -> the kind shown to people.
    definitions: Mapping[str, str] = field(default_factory=dict)
    # Nodes that have a key instead of a name (cases, selectors, pairs) -> the kind shown to people.
    keyed: Mapping[str, str] = field(default_factory=dict)
    defined_by_body: tuple[str, ...] = ()  # definitions only if they have a body; else uses of the name
    wrappers: tuple[str, ...] = ()  # around one definition, in their field `definition` or `declaration`
    groups: tuple[str, ...] = ()  # named after the definition that is their last child
    bodies: tuple[str, ...] = ()  # may contain definitions without being one
    name_fields: Mapping[str, str] = field(default_factory=dict)  # the field with the name, if not `name`
    overloads: bool = False  # functions with the same name are distinguished by their parameters
    overload_bodies: bool = False  # and each of them has a body
    outermost: tuple[str, ...] = ()  # may be the only child of the root, around everything in the file

    # Order: parent -> members whose order does not matter if their names differ.
    members: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    attached: tuple[str, ...] = ("comment",)  # belongs to the member after it
    lists: tuple[str, ...] = ()  # a duplicate element is suspicious
    registries: tuple[str, ...] = ()  # lists whose order does not matter if their name says "registry"
    sequences: tuple[str, ...] = ()  # in data: their elements have a position, not a key

    # References: calls and their arguments.
    calls: tuple[str, ...] = ()
    arguments: tuple[str, ...] = ()
    values: tuple[str, ...] = ()  # arguments that are just a name
    objects: tuple[str, ...] = ()  # literals with keys
    titled_calls: tuple[str, ...] = ()  # functions (by name) that register a test under its title

    # Imports.
    imports: tuple[str, ...] = ()
    import_parents: tuple[str, ...] = ()  # may be between the root of the file and an import
    imported: Callable[[Node], list[str]] | None = None  # the names of one import; by default its whole text
    imports_bind_names: bool = False  # two imports with the same last name exclude each other
    imports_tell_names: bool = True  # the name that the program uses is part of the import
    # The same for text that is not parsed: how a statement may begin (and its first words, which are quicker
    # to search for), how it ends, and where its names are.
    import_line: re.Pattern[str] | None = None
    import_words: tuple[str, ...] = ()
    import_end: re.Pattern[str] | None = None
    import_names: re.Pattern[str] | None = None
    line_width: int = 80  # at which its formatters break an import

    # Definitions and uses for the radar; None if they are not read.
    facts: FactNodes | None = None

    # Text.
    opaque: tuple[str, ...] = ("comment",)  # comments and strings: nothing inside is part of the program
    texts: tuple[str, ...] = ()  # strings that may span several lines, in which every blank counts
    is_data: bool = False  # keys and values, not a program
    is_indented: bool = False  # indentation matters
    is_scanned_by_row: bool = False  # the grammar's scanner remembers rows or indents
