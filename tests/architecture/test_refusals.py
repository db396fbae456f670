"""Every refusal that the program gives has a row, every row is given, and every fact it names is there."""

from __future__ import annotations

import ast
import string
from collections.abc import Iterator
from pathlib import Path

import pytest

from lineclear.core.words.sentences import ROWS

SOURCE = Path(__file__).parents[2] / "src" / "lineclear"


def given() -> Iterator[tuple[str, str, set[str], bool]]:
    """(place, code, the facts that are given, whether more come from a `**`) of every `refuse(...)`."""
    for path in sorted(SOURCE.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "refuse":
                names = {keyword.arg for keyword in node.keywords}
                for code in codes_in(node.args[0]):
                    place = f"{path.relative_to(SOURCE)}:{node.lineno}"
                    yield place, code, {name for name in names if name}, None in names


def codes_in(node: ast.expr) -> list[str]:
    if isinstance(node, ast.Constant):
        return [str(node.value)]
    return codes_in(node.body) + codes_in(node.orelse) if isinstance(node, ast.IfExp) else []


def facts_named_in(code: str) -> set[str]:
    row = ROWS[code]
    texts = [text for part in (row.what, row.who, row.next) for text in part]
    return {name for text in texts for _, name, _, _ in string.Formatter().parse(text) if name}


def test_a_refusal_is_given_with_the_facts_that_its_row_names() -> None:
    wrong = []
    for place, code, facts, has_more in given():
        if code not in ROWS:
            wrong.append(f"{place}: no row {code}")
        elif not has_more and facts_named_in(code) - facts:
            wrong.append(f"{place}: {code} lacks {sorted(facts_named_in(code) - facts)}")
        elif ROWS[code].words and not has_more and set(ROWS[code].words) - facts:
            wrong.append(
                f"{place}: {code} keeps {sorted(set(ROWS[code].words) - facts)} out of the data in vain"
            )
    assert wrong == []


def test_every_row_is_given_somewhere() -> None:
    # A code that a table chooses is a plain text near a `refuse`.
    texts = {
        node.value
        for path in SOURCE.rglob("*.py")
        if "words" not in path.relative_to(SOURCE).parts
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    }
    said = {code for _, code, _, _ in given()} | texts
    assert sorted(ROWS.keys() - said) == []


@pytest.mark.parametrize("code", sorted(ROWS))
def test_a_row_keeps_out_of_the_data_only_facts_that_it_says(code: str) -> None:
    assert set(ROWS[code].words) <= facts_named_in(code) | {"until"}
