"""A server that watches a worktree knows what a command changed."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from lineclear.git.layout import find_layout
from lineclear.git.pictures import STATUS
from lineclear.git.run import quick_git
from lineclear.wiring import tree_looks
from lineclear.wiring.tree_looks import Looks, Tree
from tests.hooked_repo import HookedRepo, Served

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the kernel tells on Linux only")


class Session:
    """One session's commands, answered by a server that has got ready to watch."""

    def __init__(self, served: Served) -> None:
        self._served, self.ways, self.tree, self._calls = served, served.ways, served.ways.tree, 0
        looks = served.hooks._stores.looks
        assert looks is not None
        self.looked = looks.at(find_layout(str(self.tree), {}))
        settle(self.looked)
        assert self.looked.is_known

    def next(self) -> None:
        self._calls += 1

    @property
    def _command(self) -> dict[str, Any]:
        return {"tool": "Bash", "given": {"command": "make"}, "tool_use_id": f"t{self._calls}"}

    def before(self) -> str:
        self.next()
        return self._served("PreToolUse", "x", **self._command)

    def after(self) -> str:
        return self._served("PostToolUse", "x", **self._command)


def settle(tree: Tree) -> None:
    """What was written a moment ago is not believed yet."""
    for _ in range(500):
        if tree.wait(30) and (tree.is_known or not tree.is_ready):
            break
        tree.status()


@pytest.fixture
def session(served: Served) -> Session:
    return Session(served)


def test_git_does_not_look_through_a_tree_that_is_watched(session: Session) -> None:
    quick, whole = session.looked.quick, session.looked.whole
    session.before()
    assert session.after() == ""
    (session.tree / "new.py").write_text("new\n")
    session.before()
    (session.tree / "a.py").write_text("changed\n")
    assert session.after() == ""
    assert session.looked.whole == whole
    assert session.looked.quick > quick


def test_a_forbidden_change_is_reported_with_the_content_from_before(session: Session) -> None:
    (session.tree / "a.py").write_text("mine, before\n")
    session.before()
    session.after()
    session.ways.claim("eve", "file:a.py", "exclusive")
    session.before()
    (session.tree / "a.py").write_text("by a command\n")
    whole = session.looked.whole
    said = session.after()
    assert "eve holds file:a.py" in said
    oid = said.partition("cat-file blob ")[2].split()[0]
    assert session.ways.repo.git("cat-file", "blob", oid) == "mine, before"
    assert session.looked.whole == whole


# -- what is not watched --------------------------------------------------------------------------


@pytest.fixture
def looks() -> Iterator[Looks]:
    looks = Looks()
    yield looks
    looks.close()


def begin(looks: Looks, place: Path) -> Tree:
    tree = looks.at(find_layout(str(place), {}))
    settle(tree)
    return tree


def agrees(tree: Tree, place: Path) -> bool:
    return tree.status() == quick_git(STATUS, str(place))


def test_a_tree_with_another_repository_in_it_is_left_to_git(ways: HookedRepo, looks: Looks) -> None:
    inner = ways.tree / "inner"
    ways.repo.git("init", "-q", str(inner))
    tree = begin(looks, ways.tree)
    assert not tree.is_ready
    (inner / "x.py").write_text("x")
    assert agrees(tree, ways.tree)


def test_one_that_git_ignores_is_no_trouble(ways: HookedRepo, looks: Looks) -> None:
    (ways.repo.path / ".git/info/exclude").write_text("inner/\n")
    ways.repo.git("init", "-q", str(ways.tree / "inner"))
    assert begin(looks, ways.tree).is_known


def test_a_file_with_two_names_is_left_to_git(ways: HookedRepo, looks: Looks, tmp_path: Path) -> None:
    tree = begin(looks, ways.tree)
    os.link(ways.tree / "a.py", ways.tree / "src/other.py")
    assert agrees(tree, ways.tree)
    assert not tree.is_ready
    (ways.tree / "a.py").write_text("both\n")
    assert agrees(tree, ways.tree)
    os.link(ways.side / "a.py", tmp_path / "outside.py")
    assert not begin(looks, ways.side).is_ready


def test_no_more_is_watched_than_the_kernel_has_room_for(
    ways: HookedRepo, looks: Looks, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tree_looks, "kernel_limit", lambda: 4)
    tree = begin(looks, ways.tree)
    assert not tree.is_ready
    (ways.tree / "a.py").write_text("changed\n")
    assert agrees(tree, ways.tree)


def test_a_look_at_everything_is_taken_now_and_then(
    ways: HookedRepo, looks: Looks, monkeypatch: pytest.MonkeyPatch
) -> None:
    tree = begin(looks, ways.tree)
    whole = tree.whole
    assert agrees(tree, ways.tree)
    assert tree.whole == whole
    monkeypatch.setattr(tree_looks, "LOOK_ANYWAY_S", 0.0)
    assert agrees(tree, ways.tree)
    assert tree.whole == whole + 1


def test_what_another_program_settles_for_git_counts(ways: HookedRepo, looks: Looks, tmp_path: Path) -> None:
    tree = begin(looks, ways.tree)
    (ways.tree / "x.tmp").write_text("x")
    assert b"x.tmp" in tree.status()
    rules = tmp_path / "rules"
    rules.write_text("*.tmp\n")
    ways.repo.git("config", "core.excludesFile", str(rules))
    assert b"x.tmp" not in tree.status()
    settle(tree)
    assert tree.is_known
    rules.write_text("*.other\n")
    assert b"x.tmp" in tree.status()


def test_a_worktree_that_is_gone_is_forgotten(ways: HookedRepo, looks: Looks) -> None:
    tree = begin(looks, ways.side)
    ways.repo.git("worktree", "remove", "--force", str(ways.side))
    with pytest.raises(OSError, match="git"):
        tree.status()
    begin(looks, ways.tree)
    assert not tree.is_ready


def test_the_least_asked_for_make_room(
    ways: HookedRepo, looks: Looks, monkeypatch: pytest.MonkeyPatch
) -> None:  # fmt: skip
    monkeypatch.setattr(tree_looks, "MOST_TREES", 1)
    first = begin(looks, ways.tree)
    second = begin(looks, ways.side)
    assert not first.is_ready
    assert second.is_known
    assert agrees(first, ways.tree)


def test_another_rule_counts_for_files_that_nobody_touched(ways: HookedRepo, looks: Looks) -> None:
    (ways.tree / "x.log").write_text("x")
    tree = begin(looks, ways.tree)
    assert b"x.log" in tree.status()
    (ways.tree / ".gitignore").write_text("*.log\n")
    assert agrees(tree, ways.tree)
    (ways.tree / ".gitignore").write_text("*.tmp\n")
    assert b"x.log" in tree.status()


def test_a_directory_that_is_no_longer_ignored_is_watched_from_then_on(
    ways: HookedRepo, looks: Looks, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tree_looks, "AGAIN_S", 0.0)
    (ways.tree / ".gitignore").write_text("out/\n")
    (ways.tree / "out").mkdir()
    tree = begin(looks, ways.tree)
    assert tree.is_known
    (ways.tree / "out/x").write_text("x")
    assert b"out/x" not in tree.status()
    (ways.tree / ".gitignore").unlink()
    assert b"out/x" in tree.status()
    settle(tree)
    (ways.tree / "out/y").write_text("y")
    assert b"out/y" in tree.status()
