"""Git's objects, made by ourselves: ids as git gives them, trees in git's order."""

from __future__ import annotations

import pytest

from lineclear.git.objects import BLOB, TREE, Objects, directories, edit_trees, format_tree, parse_tree

EMPTY_TREE = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"
EMPTY_BLOB = "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391"


def test_ids_are_gits() -> None:
    objects = Objects("sha1")
    assert (objects.add(TREE, b""), objects.add(BLOB, b"")) == (EMPTY_TREE, EMPTY_BLOB)
    assert (
        Objects("sha256").add(TREE, b"") == "6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321"
    )


def test_a_directory_is_ordered_as_if_it_ended_with_a_slash() -> None:
    entries = {name: ("40000" if name == b"a" else "100644", EMPTY_BLOB) for name in (b"a", b"a.b", b"a0")}
    assert list(parse_tree(format_tree(entries), 20)) == [b"a.b", b"a", b"a0"]
    assert parse_tree(format_tree(entries), 20) == entries


def test_directories_come_deepest_first() -> None:
    assert directories([b"a/b/c", b"d", b"a/e"]) == [b"a/b", b"a", b""]
    assert directories([]) == [b""]


FILE = ("100644", EMPTY_BLOB)


@pytest.mark.parametrize(
    ("root", "changes", "left"),
    [
        ({b"f": FILE}, {b"f": None}, {}),
        ({b"f": FILE}, {b"f/x": FILE, b"f": None}, {b"f": "40000"}),
        ({b"d": ("40000", EMPTY_TREE)}, {b"d/x": None, b"d": FILE}, {b"d": "100644"}),
        ({b"d": ("40000", EMPTY_TREE)}, {b"d/x": None}, {}),
        ({}, {b"a/b/c": FILE}, {b"a": "40000"}),
        ({b"s": ("160000", EMPTY_BLOB)}, {b"f": FILE}, {b"s": "160000", b"f": "100644"}),
    ],
)
def test_changes_that_meet(
    root: dict[bytes, tuple[str, str]], changes: dict[bytes, tuple[str, str] | None], left: dict[bytes, str]
) -> None:
    objects = Objects("sha1")
    trees = {b"": root}
    if root.get(b"d"):
        trees[b"d"] = {b"x": FILE}
    oid = edit_trees(objects, trees, changes)
    made = objects.content(oid)
    assert {name: mode for name, (mode, _) in parse_tree(made, 20).items()} == left
