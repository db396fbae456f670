"""What the kernel tells of a tree, at the moment at which it is asked."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from lineclear.process.tree_watch import Seen, TreeWatch

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the kernel tells on Linux only")


class Watched:
    def __init__(self, root: Path, watch: TreeWatch) -> None:
        self.root, self.watch = root, watch
        assert watch.follow("t", (str(root),), lambda _path: False)

    def take(self) -> Seen:
        return self.watch.take(lambda _directory, _name: False).get("t", Seen())

    def names(self, paths: set[str]) -> set[str]:
        return {os.path.relpath(path, self.root) for path in paths}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "tree/src/deep").mkdir(parents=True)
    (tmp_path / "tree/src/a.py").write_text("a")
    return tmp_path / "tree"


@pytest.fixture
def watched(root: Path) -> Iterator[Watched]:
    watched = Watched(root, TreeWatch(1_000, is_strict=True))
    yield watched
    watched.watch.close()


def test_each_write_is_told_as_soon_as_it_has_come_back(watched: Watched) -> None:
    path = watched.root / "src/a.py"
    for number in range(200):
        path.write_text(str(number))
        assert watched.names(watched.take().paths) == {"src/a.py"}
    assert watched.take().paths == set()


def test_files_and_directories_that_come_and_go(watched: Watched) -> None:
    (watched.root / "src/b.py").write_text("b")
    (watched.root / "src/b.py").rename(watched.root / "src/deep/c.py")
    (watched.root / "new").mkdir()
    (watched.root / "src/a.py").chmod(0o755)
    seen = watched.take()
    assert watched.names(seen.paths) == {"src/b.py", "src/deep/c.py", "src/a.py"}
    assert watched.names(seen.new) == {"new"}
    assert seen.grew
    assert not seen.is_lost
    (watched.root / "src/deep/c.py").unlink()
    (watched.root / "src/deep").rmdir()
    assert {"src/deep", "src/deep/c.py"} <= watched.names(watched.take().paths)


def test_a_new_directory_is_watched_when_it_is_asked_for(watched: Watched) -> None:
    (watched.root / "new/inner").mkdir(parents=True)
    watched.take()
    (watched.root / "new/inner/x").write_text("x")
    assert watched.take().paths == set()
    assert watched.watch.extend("t", [str(watched.root / "new")], lambda _path: False, 10)
    (watched.root / "new/inner/x").write_text("y")
    assert watched.names(watched.take().paths) == {"new/inner/x"}


def test_too_many_new_ones_end_the_watch(watched: Watched) -> None:
    for number in range(12):
        (watched.root / f"new/{number}").mkdir(parents=True)
    watched.take()
    assert not watched.watch.extend("t", [str(watched.root / "new")], lambda _path: False, 10)
    (watched.root / "src/a.py").write_text("x")
    assert watched.take().paths == set()
    assert watched.watch.watched == 0


def test_a_directory_that_is_renamed_is_known_by_its_new_name(watched: Watched) -> None:
    (watched.root / "src").rename(watched.root / "lib")
    seen = watched.take()
    assert watched.names(seen.paths) == {"src"}
    assert watched.names(seen.new) == {"lib"}
    assert watched.watch.extend("t", [str(watched.root / "lib")], lambda _path: False, 10)
    (watched.root / "lib/deep/x").write_text("x")
    assert watched.names(watched.take().paths) == {"lib/deep/x"}


def test_many_paths_are_not_told_one_by_one(watched: Watched) -> None:
    for number in range(300):
        (watched.root / f"f{number}").write_text("x")
    seen = watched.take()
    assert seen.are_many
    assert not seen.is_lost


def test_many_directories_are_lost(watched: Watched) -> None:
    for number in range(300):
        (watched.root / f"d{number}").mkdir()
    assert watched.take().is_lost


def test_a_queue_that_overflowed_is_said(watched: Watched) -> None:
    most = int(Path("/proc/sys/fs/inotify/max_queued_events").read_text())
    one, two = watched.root / "one", watched.root / "two"
    one.write_text("x")
    for _ in range(most // 2 + 10):  # two events each
        one.rename(two)
        one, two = two, one
    assert watched.take().is_lost


@pytest.mark.parametrize("what", ["repository", "names"])
def test_what_would_not_be_told_is_not_watched(root: Path, what: str) -> None:
    if what == "repository":
        (root / "src/deep/.git").mkdir()
    else:
        os.link(root / "src/a.py", root / "src/b.py")
    strict, plain = TreeWatch(1_000, is_strict=True), TreeWatch(1_000)
    try:
        assert not strict.follow("t", (str(root),), lambda _path: False)
        assert strict.follow("t", (str(root),), lambda path: path.endswith("/deep")) == (what == "repository")
        assert plain.follow("t", (str(root),), lambda _path: False)
    finally:
        strict.close()
        plain.close()


def test_a_file_that_vanishes_while_it_is_looked_at_hides_nothing(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The directories beside it are watched all the same."""
    gone = FileNotFoundError()

    class Entry:
        name, path = "gone", str(root / "gone")

        def is_dir(self, *, follow_symlinks: bool) -> bool:
            return False

        def stat(self, *, follow_symlinks: bool) -> os.stat_result:
            raise gone

    plain = os.scandir

    @contextmanager
    def listing(path: str) -> Iterator[list[Any]]:
        with plain(path) as entries:
            yield [Entry(), *entries]

    monkeypatch.setattr(os, "scandir", listing)
    watched = Watched(root, TreeWatch(1_000, is_strict=True))
    (root / "src/deep/x").write_text("x")
    assert watched.names(watched.take().paths) == {"src/deep/x"}
    watched.watch.close()
