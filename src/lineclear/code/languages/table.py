"""What must be known of a language to read its programs: node types of its grammar, by what they mean.

A language is one table in this folder. It states facts about the language; what follows from them for a
merge, a check or a message is not decided here.
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
    """Names are node types of the grammar unless said otherwise; other types have no such meaning."""

    name: str
    grammar: str  # the module of the wheel
    grammar_function: str = "language"

    # Definitions: what gives a name to something in its scope -> the kind shown to people.
    definitions: Mapping[str, str] = field(default_factory=dict)
    # What stands under a key, not under a name (cases, selectors, pairs) -> the kind shown to people.
    keyed: Mapping[str, str] = field(default_factory=dict)
    defined_by_body: tuple[str, ...] = ()  # definitions only where they have a body; else uses of the name
    wrappers: tuple[str, ...] = ()  # around one definition, in their field `definition` or `declaration`
    groups: tuple[str, ...] = ()  # known by the definition that is their last child
    bodies: tuple[str, ...] = ()  # may hold definitions without being one
    name_fields: Mapping[str, str] = field(default_factory=dict)  # the field with the name, if not `name`
    overloads: bool = False  # functions of one name are told apart by their parameters
    overload_bodies: bool = False  # and each of them has a body
    outermost: tuple[str, ...] = ()  # may stand alone below the root, around everything in the file

    # Order: parent -> members that have no order among each other as long as their names differ.
    members: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    attached: tuple[str, ...] = ("comment",)  # belongs to the member behind it
    lists: tuple[str, ...] = ()  # an element that is there twice is worth a look
    registries: tuple[str, ...] = ()  # lists without an order when their name says that they are a registry
    sequences: tuple[str, ...] = ()  # in data: what is in them has a place, not a key

    # References: calls and what they pass.
    calls: tuple[str, ...] = ()
    arguments: tuple[str, ...] = ()
    values: tuple[str, ...] = ()  # arguments that are a mere name
    objects: tuple[str, ...] = ()  # literals with keys
    titled_calls: tuple[str, ...] = ()  # functions (by name) that register a test under its title

    # Imports.
    imports: tuple[str, ...] = ()
    import_parents: tuple[str, ...] = ()  # may stand between the top of the file and an import
    imported: Callable[[Node], list[str]] | None = None  # what one import brings in; by default its text
    imports_bind_names: bool = False  # two imports of one last name exclude each other
    imports_tell_names: bool = True  # the name that the program uses is part of the import
    # The same by lines, for files that need not be parsed: how a statement may begin (and its first words,
    # which are quicker to look for), how it ends, and where its names are.
    import_line: re.Pattern[str] | None = None
    import_words: tuple[str, ...] = ()
    import_end: re.Pattern[str] | None = None
    import_names: re.Pattern[str] | None = None
    line_width: int = 80  # at which its formatters break an import

    # Text.
    opaque: tuple[str, ...] = ("comment",)  # comments and strings: nothing inside is part of the program
    texts: tuple[str, ...] = ()  # strings that may have several lines, in which every blank counts
    is_data: bool = False  # keys and values, no program
    is_indented: bool = False  # blanks at the beginning of a line mean something
    is_scanned_by_row: bool = False  # the grammar's scanner remembers rows or indents
