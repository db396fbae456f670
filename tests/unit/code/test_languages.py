"""The table of every language: it loads, and names only what its grammar has."""

from __future__ import annotations

from dataclasses import fields

import pytest

from lineclear.code.languages import LANGUAGES, language_named, language_of
from lineclear.code.languages.table import FactNodes
from lineclear.code.parse import parser_of

NOT_TYPES = {
    "name",
    "grammar",
    "grammar_function",
    "titled_calls",
    "import_words",
    "facts.constructors",
    "facts.selves",
}


def types_of(grammar_of: str) -> set[str]:
    parser = parser_of(language_named(grammar_of))
    assert parser is not None
    grammar = parser.language
    assert grammar is not None
    return {grammar.node_kind_for_id(number) or "" for number in range(grammar.node_kind_count)}


def types_named_by(name: str) -> set[str]:
    language = language_named(name)
    found: set[str] = set()
    values = {field.name: getattr(language, field.name) for field in fields(language)}
    if language.facts is not None:
        values |= {f"facts.{field.name}": getattr(language.facts, field.name) for field in fields(FactNodes)}
    for field_name, value in values.items():
        if field_name not in NOT_TYPES and isinstance(value, tuple | dict):
            found.update(value)
    return found.union(*language.members.values())


@pytest.mark.parametrize("name", LANGUAGES)
def test_every_type_of_a_table_is_one_of_its_grammar(name: str) -> None:
    """JavaScript has the table of TypeScript, so a type may belong to a sister in the same module."""
    sisters = [other for other, row in LANGUAGES.items() if row[0] == LANGUAGES[name][0]]
    known = set().union(*map(types_of, sisters))
    # The default of `attached` and `opaque`, in languages without comments or without members.
    assert types_named_by(name) - known - {"comment"} == set()


@pytest.mark.parametrize("name", LANGUAGES)
def test_a_language_is_found_by_its_files(name: str) -> None:
    for ending in LANGUAGES[name][1]:
        assert language_of(f"src/shop{ending}") is language_named(name)
    assert language_named(name).name == name


def test_other_files_have_no_language() -> None:
    assert language_of("notes.txt") is None
    assert language_of("py") is None


@pytest.mark.parametrize("name", LANGUAGES)
def test_what_may_be_added_in_any_order_can_be_named(name: str) -> None:
    """Every definition that a table frees of order is one that the table also names."""
    language = language_named(name)
    free = {kind for members in language.members.values() for kind in members}
    named = {
        *language.definitions,
        *language.keyed,
        *language.wrappers,
        *language.groups,
        *language.name_fields,
    }
    plain = {"string", "identifier", "call", "expression_statement"}
    unnamed = {kind for kind in (free & types_of(name)) - named - plain if not kind.startswith("shorthand_")}
    assert unnamed <= {"method_signature", "export_specifier", "method_elem", "constant_declaration"}
