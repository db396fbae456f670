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

    from tree_sitter import Node


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

    # Text.
    opaque: tuple[str, ...] = ("comment",)  # comments and strings: nothing inside is part of the program
    texts: tuple[str, ...] = ()  # strings that may span several lines, in which every blank counts
    is_data: bool = False  # keys and values, not a program
    is_indented: bool = False  # indentation matters
    is_scanned_by_row: bool = False  # the grammar's scanner remembers rows or indents
