"""What is there twice: counted without walking more than is asked for, and in the same words."""

from __future__ import annotations

from pathlib import Path

import pytest

from lineclear.code.languages import language_of
from lineclear.code.languages.python import PYTHON
from lineclear.code.languages.yaml import YAML
from lineclear.code.parse import parse
from lineclear.merge.inventory import Inventory, take_inventory
from lineclear.merge.shared_nodes import Part, Parts, Shared

PROGRAMS = sorted((Path(__file__).parents[2] / "property" / "merge_programs").iterdir())


def inventory(path: str, text: str, scopes: set[str] | None = None) -> Inventory:
    language = language_of(path)
    assert language is not None
    tree = parse(language, text)
    assert tree is not None
    root = Parts(has_errors=tree.root_node.has_error).of(tree.root_node)
    return take_inventory(language, root, scopes=scopes)


def test_an_import_is_there_again_for_each_time_after_the_first() -> None:
    assert inventory("a.py", "import os\n").repeated == set()
    assert inventory("a.py", "import os\n" * 2).repeated == {"import import os", "import under the name os"}
    assert {"import import os", "import import os again", "import import os again again"} < inventory(
        "a.py", "import os\n" * 4
    ).repeated


def test_the_scopes_of_what_is_there_twice_lead_from_the_top_to_it() -> None:
    found = inventory("a.py", "class A:\n    def f(self): ...\n    def f(self): ...\ndef g(): ...\n")
    assert found.repeated == {"function f in /type A"}
    assert found.scopes == {"/type A"}


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda path: path.name)
def test_looking_only_where_something_is_twice_finds_the_same_there(program: Path) -> None:
    """Every line of the program twice, in turn: whatever that repeats is found by the short way, too."""
    lines = program.read_text().splitlines(True)
    for place in range(len(lines)):
        text = "".join([*lines[:place], lines[place], *lines[place:]])
        whole = inventory(program.name, text)
        assert inventory(program.name, text, whole.scopes).repeated == whole.repeated


def test_other_scopes_are_not_entered() -> None:
    text = "class A:\n    x = {1: 1, 1: 2}\nclass B:\n    x = {2: 1, 2: 2}\n"
    assert inventory("a.py", text, {"/type A"}).repeated == {"key 1 in /type A"}


def test_what_is_alike_in_two_versions_is_one_part() -> None:
    trees = [parse(PYTHON, text) for text in ("def f(): ...\ndef g(): ...\n", "def g(): ...\nx = 1\n")]
    parts = Parts(has_errors=False)
    first, second = (parts.of(tree.root_node).inner() for tree in trees if tree)
    assert first[1] is second[0]
    assert first[0] is not second[0]


def test_what_holds_an_error_is_like_nothing() -> None:
    tree = parse(PYTHON, "x = (1\n")
    assert tree is not None
    parts = Parts(has_errors=True)
    assert parts.of(tree.root_node) is not parts.of(tree.root_node)


def whole_files(*texts: str) -> list[Part]:
    trees = [tree for text in texts if (tree := parse(YAML, text))]
    parts = Parts(has_errors=False)
    return [parts.of(tree.root_node) for tree in trees]


def test_what_all_versions_hold_once_is_shared() -> None:
    roots = whole_files("a: 1\nb: 1\nc: 1\n", "# first\na: 1\nb: 2\nc: 1\n", "a: 1\nb: 1\nc: 1\nc: 1\n")
    assert {part.text for part in Shared(YAML, roots).parts} == {b"a: 1"}


def test_what_is_shared_is_left_out_at_the_top_and_nowhere_else() -> None:
    roots = whole_files("a: 1\nb:\n  a: 1\n", "a: 1\nb:\n  a: 1\n  c: 1\n")
    shared = Shared(YAML, roots)
    left = [roots[0]]
    seen = []
    while left:
        part = left.pop()
        seen.append((part.kind, part.text))
        left += shared.apart(part)
    assert [text for kind, text in seen if kind == "block_mapping_pair"] == [b"b:\n  a: 1\n", b"a: 1"]
