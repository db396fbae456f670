"""Versions that are read only where they differ from another one come out as if they had been read whole."""

from __future__ import annotations

from pathlib import Path

import pytest

from lineclear.code.languages import language_of
from lineclear.code.parse import forget_trees, parse
from lineclear.merge import version_trees
from lineclear.merge.shared_nodes import Part, Parts
from lineclear.merge.version_trees import read_versions
from tests.unit.merge.test_cases import FOUND as CASES
from tests.unit.merge.test_cases import path_of, read

PROGRAMS = sorted((Path(__file__).parents[2] / "property" / "merge_programs").iterdir())
SHELVES = {
    "a.css": ".shelf@ {\n  color: red;\n  margin: @px;\n}\n\n",
    "a.toml": '[shelf@]\nsize = @\nname = "left"\n\n',
    "a.yaml": "shelf@:\n  size: @\n  items:\n    - item @\n",
}


@pytest.fixture(autouse=True)
def _however_small(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in (("MIN_BYTES", 0), ("MIN_LEFT_OUT", 1), ("MOST_READ", 1.0), ("MOST_READ_BY_ROW", 1.0)):
        monkeypatch.setattr(version_trees, name, value)


@pytest.fixture
def beside(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Per version that was asked for, whether it was read only in part."""
    asked: list[bool] = []
    plain = version_trees._Model.beside

    def noted(self: version_trees._Model, text: str) -> object:
        found = plain(self, text)
        asked.append(found is not None)
        return found

    monkeypatch.setattr(version_trees._Model, "beside", noted)
    return asked


def every_part(root: Part) -> list[tuple[int, str, bytes]]:
    """Depth and kind of all parts; the text, too, where a part cannot be around everything."""
    found = []
    todo = [(root, 0)]
    while todo:
        part, depth = todo.pop()
        inner = part.inner()
        found.append((depth, part.kind, part.text if depth > 3 else b""))
        todo += [(child, depth + 1) for child in inner]
    return found


def assert_as_whole(name: str, texts: tuple[str, ...]) -> None:
    language = language_of(name)
    assert language is not None
    forget_trees()
    versions = read_versions(language, texts, first=1)
    assert versions is not None
    trees = [tree for text in texts if (tree := parse(language, text))]
    assert versions.errors == [tree.root_node.has_error for tree in trees]
    parts = Parts(has_errors=any(versions.errors))
    for tree, root in zip(trees, versions.roots, strict=True):
        assert every_part(root) == every_part(parts.of(tree.root_node))


def shelf(name: str, number: int) -> str:
    return SHELVES[name].replace("@", str(number))


def shelves(name: str, changed: dict[int, str] | None = None) -> str:
    """Twenty things at the top, some of them replaced."""
    return "".join((changed or {}).get(number, shelf(name, number)) for number in range(20))


@pytest.mark.parametrize("name", SHELVES)
def test_what_versions_have_in_common_is_read_once(name: str, beside: list[bool]) -> None:
    more = shelf(name, 100)
    texts = shelves(name), shelves(name, {4: more}), shelves(name, {11: ""}), shelves(name, {4: more, 11: ""})
    assert_as_whole(name, texts)
    assert beside == [True, True, True]


@pytest.mark.parametrize(
    ("name", "opening", "closing"),
    [
        ("a.css", "/* from here\n", "to here */\n"),
        ("a.toml", 'text = """\n', '"""\n'),
        ("a.yaml", "text: 'from here\n", "  to here'\n"),
    ],
)
def test_something_that_swallows_what_is_equal_is_read_whole(
    name: str, opening: str, closing: str, beside: list[bool]
) -> None:
    plain = shelves(name)
    swallowed = shelves(name, {3: opening, 15: closing})
    assert_as_whole(name, (plain, plain, swallowed, swallowed))
    assert beside == [True, False, False]


def test_a_version_that_does_not_parse_is_read_whole(beside: list[bool]) -> None:
    name = "a.css"
    broken = shelves(name, {5: "}} {\n"})
    assert_as_whole(name, (shelves(name), shelves(name), broken, broken))
    assert beside == [True, False, False]


def test_nothing_is_left_out_beside_a_version_that_does_not_parse(beside: list[bool]) -> None:
    name = "a.css"
    broken = shelves(name, {5: "}} {\n"})
    assert_as_whole(name, (shelves(name), broken, shelves(name), broken))
    assert not any(beside)


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda path: path.name)
def test_every_language_comes_out_as_read_whole(program: Path) -> None:
    lines = program.read_text().splitlines(True)
    for place in range(0, len(lines), 7):
        fewer, twice = [*lines[:place], *lines[place + 1 :]], [*lines[:place], lines[place], *lines[place:]]
        assert_as_whole(program.name, tuple(map("".join, (lines, fewer, twice, lines[:place]))))


@pytest.mark.parametrize(
    "case",
    [case for case in CASES if language_of(path_of(case))],
    ids=lambda case: f"{case.parent.name}: {case.name}",
)
def test_every_case_comes_out_as_read_whole(case: Path) -> None:
    base, left, right = (read(case, part) for part in ("base", "left", "right"))
    assert_as_whole(path_of(case), (base, left, right, base))
