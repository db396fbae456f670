"""The glossary and the code use the same words. Each stands once, names something in the code, is plain."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from lineclear.cli.index import INDEX
from lineclear.core.log.events import KINDS
from lineclear.settings import SETTINGS

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src" / "lineclear"
ENTRY = re.compile(r"^\*\*([^*]+)\*\*: (\S.*)$", re.MULTILINE)
WORD = re.compile(r"[A-Z]?[a-z0-9]+|[A-Z]+(?![a-z])")
# The words of the design.
DESIGN = (
    "repo", "main", "agent", "person", "task", "resource", "strategy", "claim", "fence", "value", "proposal",
    "message", "contract", "snapshot", "candidate", "queue", "phase", "event",
)  # fmt: skip
# A reader should not have to learn these.
METAPHORS = (
    "yard", "bench", "footing", "shipment", "office", "sitting", "visitor", "spell", "spot", "shelf", "crew",
    "desk", "looks", "hush",
)  # fmt: skip


def entries_in(page: str) -> list[tuple[str, str]]:
    return ENTRY.findall(page)


ENTRIES = entries_in((ROOT / "docs" / "glossary.md").read_text())
TERMS = [term for term, _ in ENTRIES]


def words_of(name: str) -> tuple[str, ...]:
    """`CheckTree`, `check_trees` and `check-tree` are the words check and tree; plurals do not matter."""
    return tuple(singular(word.lower()) for word in WORD.findall(name))


def singular(word: str) -> str:
    if word.endswith("ies"):
        return f"{word[:-3]}y"
    return word[:-1] if word.endswith("s") and not word.endswith("ss") else word


def names_in(source: str) -> Iterator[str]:
    """What a module defines: classes, functions, arguments, variables, attributes."""
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                yield name
            case ast.arg(arg=name) | ast.Name(id=name, ctx=ast.Store()):
                yield name
            case ast.Attribute(attr=name, ctx=ast.Store()):
                yield name


def all_names() -> set[tuple[str, ...]]:
    """Every name in the code, every verb, setting and event, each as its words."""
    found = {words_of(name) for name in (*INDEX, *SETTINGS, *KINDS)}
    for path in PACKAGE.rglob("*.py"):
        found.update(words_of(part) for part in path.relative_to(PACKAGE).with_suffix("").parts)
        found.update(words_of(name) for name in names_in(path.read_text()))
    return found


def is_in(words: tuple[str, ...], names: set[tuple[str, ...]]) -> bool:
    """Do these words stand side by side in some name?"""
    length = len(words)
    return any(
        words == name[start : start + length] for name in names for start in range(len(name) - length + 1)
    )


def test_each_word_stands_once_in_the_order_of_the_alphabet() -> None:
    assert len(TERMS) > 40
    assert sorted(set(TERMS)) == TERMS


def test_nothing_else_in_the_glossary_looks_like_an_entry() -> None:
    page = (ROOT / "docs" / "glossary.md").read_text()
    assert page.count("**") == 2 * len(TERMS)


def test_every_word_of_the_glossary_is_a_word_of_the_code() -> None:
    names = all_names()
    assert [term for term in TERMS if not is_in(words_of(term), names)] == []


def test_every_word_of_the_design_has_an_entry() -> None:
    assert [word for word in DESIGN if word not in TERMS] == []


def test_every_noun_that_has_a_room_has_an_entry() -> None:
    rooms = [path.name for path in (PACKAGE / "core").iterdir() if (path / "__init__.py").exists()]
    assert len(rooms) > 8
    assert [room for room in rooms if room != "words" and singular(room) not in TERMS] == []


def test_no_entry_is_a_metaphor_that_a_reader_would_have_to_learn() -> None:
    metaphors = {singular(word) for word in METAPHORS}
    assert [term for term in TERMS if metaphors & set(words_of(term))] == []


def test_no_name_in_the_code_is_a_metaphor() -> None:
    # To look is what functions do; only the noun is a metaphor.
    metaphors = {singular(word) for word in METAPHORS} - {"look"}
    assert sorted(name for name in all_names() if metaphors & set(name)) == []


def test_what_is_wrong_is_found() -> None:
    assert entries_in("**check tree**: a tree.\n\ntext\n**bond**: a lock.\n") == [
        ("check tree", "a tree."),
        ("bond", "a lock."),
    ]
    names = {words_of(name) for name in ("CheckTree", "read_marks", "operation_id")}
    assert is_in(words_of("check trees"), names)
    assert is_in(words_of("operation id"), names)
    assert not is_in(words_of("tree check"), names)
    assert not is_in(words_of("check"), {words_of("recheck")})
    source = "class A:\n    def b(self, c): self.d = 1\nasync def e(): f = 2\n"
    assert {"A", "b", "c", "d", "e", "f"} <= set(names_in(source))
