"""Every case in tests/merge_cases: a directory per kind of file, in it a directory per situation with `base`,
`left`, `right` and either `expected` or `conflict`.

`conflict` holds what the engine reports, a line `KIND: REASON` per conflict; then, behind an empty line, why
nobody can decide it, for people.

A directory called like a file gives the path; the others stand in `PATHS`.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from lineclear.merge import MergeResult, merge_texts

CASES = Path(__file__).parents[2] / "merge_cases"
PATHS = {"ignore-list": ".gitignore", "python": "shop.py"}
FOUND = sorted(path.parent for path in CASES.glob("*/*/base"))


def read(case: Path, part: str) -> str:
    return (case / part).read_bytes().decode()


def path_of(case: Path) -> str:
    return PATHS.get(case.parent.name, case.parent.name)


def words(text: str) -> list[str]:
    """Without commas: which entry is the last one depends on the side."""
    return sorted(text.replace(",", " ").split())


def reported(result: MergeResult) -> list[str]:
    return [f"{conflict.kind}: {conflict.doubt}" for conflict in result.conflicts]


def stated(case: Path) -> list[str]:
    report, _, why = read(case, "conflict").partition("\n\n")
    assert why.strip(), "say why nobody can decide it"
    return report.split("\n")


def called(case: Path) -> str:
    return f"{case.parent.name}: {case.name}"


@pytest.mark.parametrize("case", FOUND, ids=called)
def test_the_case_comes_out_as_written(case: Path) -> None:
    base, left, right = (read(case, part) for part in ("base", "left", "right"))
    result = merge_texts(path_of(case), base, left, right)
    if (case / "conflict").exists():
        assert reported(result) == stated(case), result.text
        assert "<<<<<<<" in result.text
    else:
        assert result.is_clean, result.verdict
        assert result.text == read(case, "expected")


@pytest.mark.parametrize("case", FOUND, ids=called)
def test_the_sides_may_be_exchanged(case: Path) -> None:
    base, left, right = (read(case, part) for part in ("base", "left", "right"))
    there = merge_texts(path_of(case), base, left, right)
    back = merge_texts(path_of(case), base, right, left)
    assert there.is_clean == back.is_clean
    assert sorted(reported(there)) == sorted(reported(back))
    if there.is_clean:
        assert words(there.text) == words(back.text)


def test_every_kind_of_file_has_cases_that_must_conflict() -> None:
    for kind in {case.parent for case in FOUND}:
        assert any((case / "conflict").exists() for case in kind.iterdir()), kind.name
