"""A tree made from the tree of another version is the tree that a parser makes of the whole text."""

from __future__ import annotations

from itertools import permutations
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tree_sitter import Parser, Tree

from lineclear.code import parse as parsing
from lineclear.code import reparse
from lineclear.code.languages import language_named, language_of
from lineclear.code.languages.python import PYTHON
from lineclear.code.parse import parse
from lineclear.code.reparse import changed_rows, parse_beside
from tests.unit.merge.test_cases import FOUND as CASES
from tests.unit.merge.test_cases import path_of, read

PROGRAMS = sorted((Path(__file__).parents[2] / "property" / "merge_programs").iterdir())
ROWS = st.lists(st.sampled_from([b"", b"a", b"b", b"}", b"return", b"\xc3\xa4"]), min_size=1, max_size=40)


def parser_of(name: str) -> Parser:
    language = language_of(name)
    assert language is not None
    parser = parsing._load(language)
    assert parser is not None
    return parser


def every_node(tree: Tree) -> list[tuple[object, ...]]:
    """All that the engine may ask of a tree."""
    found: list[tuple[object, ...]] = []
    todo = [tree.root_node]
    while todo:
        node = todo.pop()
        place = node.start_byte, node.end_byte, node.start_point, node.end_point
        found.append((node.type, node.is_named, node.has_error, node.text, *place))
        todo += node.children
    return found


def edited(lines: list[str], place: int) -> list[list[str]]:
    """The line in other words, twice, gone, and with everything from there to the end gone."""
    line = lines[place]
    return [
        [*lines[:place], line.replace("1", "22").replace("e", "ee"), *lines[place + 1 :]],
        [*lines[:place], line, *lines[place:]],
        [*lines[:place], *lines[place + 1 :]],
        lines[:place],
    ]


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda path: path.name)
def test_the_tree_is_that_of_the_whole_text(program: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reparse, "MIN_BYTES", 0)
    parser = parser_of(program.name)
    lines = program.read_text().splitlines(True)
    before = "".join(lines).encode()
    tree = parser.parse(before)
    assert not tree.root_node.has_error
    for place in range(0, len(lines), 2):
        for version in edited(lines, place):
            text = "".join(version).encode()
            assert every_node(parse_beside(parser, text, (before, tree))) == every_node(parser.parse(text))


@pytest.mark.parametrize(
    "name", sorted({found.name for case in CASES if (found := language_of(path_of(case)))})
)
def test_the_versions_of_a_case_have_the_trees_of_the_whole_texts(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reparse, "MIN_BYTES", 0)
    language = language_named(name)
    parser = parsing._load(language)
    assert parser is not None
    compared = 0
    for case in (case for case in CASES if language_of(path_of(case)) == language):
        texts = {read(case, part.name).encode() for part in case.iterdir() if part.name != "conflict"}
        for before, text in permutations(texts, 2):
            tree = parser.parse(before)
            if not tree.root_node.has_error and changed_rows(before.split(b"\n"), text.split(b"\n")):
                compared += 1
                made = parse_beside(parser, text, (before, tree))
                assert every_node(made) == every_node(parser.parse(text)), (case.name, before, text)
    assert compared >= 50


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[tuple[bytes, Tree] | None]:
    """What each new tree was made from, in a process that has parsed nothing yet."""
    seen: list[tuple[bytes, Tree] | None] = []

    def noted(parser: Parser, text: bytes, beside: tuple[bytes, Tree] | None) -> Tree:
        seen.append(beside)
        return parse_beside(parser, text, beside)

    monkeypatch.setattr(parsing, "parse_beside", noted)
    parsing.forget_trees()
    return seen


def test_a_tree_is_made_from_that_of_the_last_text(asked: list[tuple[bytes, Tree] | None]) -> None:
    old = "".join(f"def f{n}():\n    return {n}\n" for n in range(400))
    first = parse(PYTHON, old)
    parse(PYTHON, old.replace("return 7\n", "return 8\n"))
    assert first is not None
    assert asked == [None, (old.encode(), first)]


def test_no_tree_is_made_from_one_with_an_error(asked: list[tuple[bytes, Tree] | None]) -> None:
    for text in ("def f(:\n", "def f():\n    return 1\n"):
        parse(PYTHON, text)
    assert asked == [None, None]


@example(old=[b"", b"", b"", b"", b"a"], new=[b"", b"", b"", b"", b"", b""])
@given(ROWS, ROWS)
def test_between_two_changes_all_rows_are_equal(old: list[bytes], new: list[bytes]) -> None:
    changes = changed_rows(old, new)
    at, made = 0, []
    for a0, a1, b0, b1 in changes or []:
        made += [*old[at:a0], *new[b0:b1]]
        assert len(made) == b1
        at = a1
    assert changes is None or [*made, *old[at:]] == new


def test_a_long_addition_is_one_change() -> None:
    old = [b"row %d" % n for n in range(1_000)]
    new = [*old[:500], *(b"new %d" % n for n in range(300)), *old[500:]]
    assert changed_rows(old, new) == [(500, 500, 500, 800)]


def test_other_texts_are_not_compared_row_by_row() -> None:
    assert changed_rows([b"a%d" % n for n in range(50)], [b"b%d" % n for n in range(50)]) is None
