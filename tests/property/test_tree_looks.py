"""What is known of a worktree by the kernel's word is what git says of all of it, whatever was done there."""

from __future__ import annotations

import itertools
import os
import random
import shutil
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lineclear.git.layout import find_layout
from lineclear.git.pictures import STATUS
from lineclear.git.run import quick_git
from lineclear.wiring import tree_looks
from lineclear.wiring.tree_looks import Looks, Tree
from tests.repository import TemporaryRepo

pytestmark = pytest.mark.skipif(not hasattr(os, "eventfd"), reason="the kernel tells on Linux only")

NAMES = ("a.py", "b.py", "é.txt", "two words", "x.log", '"q".py')
PLACES = ("", "src", "src/deep", "lib", "out", "out/in")
IGNORED = ("*.log\n", "out/\n", "lib/\n*.py\n", "", "out/*\n!out/in\n")


class World:
    """A worktree with two branches, and dice: the same numbers are the same deeds."""

    def __init__(self, repo: TemporaryRepo, tree: Path, seed: int) -> None:
        self.repo, self.tree, self.dice = repo, tree, random.Random(seed)

    def place(self) -> Path:
        path = self.tree / self.dice.choice(PLACES)
        return path if path.is_dir() and not path.is_symlink() else self.tree

    def name(self) -> Path:
        return self.place() / self.dice.choice(NAMES)

    def file(self) -> Path:
        files = [path for path in sorted(self.tree.rglob("*")) if path.is_file() and ".git" not in path.parts]
        return self.dice.choice(files) if files else self.name()

    def git(self, *words: str) -> None:
        try:
            self.repo.git("-c", "core.hooksPath=/dev/null", *words, at=self.tree)
        except Exception:  # noqa: BLE001  what git refuses is a deed as well
            pass


def _write(world: World) -> None:
    world.name().write_text(f"{world.dice.random()}\n")


def _append(world: World) -> None:
    with world.file().open("a") as file:
        file.write("more\n")


def _same_size(world: World) -> None:
    path = world.file()
    if path.is_file():
        found = path.stat()
        path.write_bytes(bytes(reversed(path.read_bytes())))
        os.utime(path, ns=(found.st_atime_ns, found.st_mtime_ns))


def _rename(world: World) -> None:
    path = world.file()
    if path.exists():
        path.replace(world.place() / f"moved{world.dice.randrange(3)}.py")


def _delete(world: World) -> None:
    world.file().unlink(missing_ok=True)


def _make_directory(world: World) -> None:
    path = world.tree / world.dice.choice(PLACES[1:])
    if not path.exists():
        path.mkdir(parents=True)
        for _ in range(world.dice.randrange(3)):
            (path / world.dice.choice(NAMES)).write_text("new\n")


def _remove_directory(world: World) -> None:
    path = world.tree / world.dice.choice(PLACES[1:])
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)


def _move_directory(world: World) -> None:
    old, new = (world.tree / place for place in world.dice.sample(PLACES[1:], 2))
    is_possible = old.is_dir() and not old.is_symlink() and new.parent.is_dir() and old not in new.parents
    if is_possible and not os.path.lexists(new):
        old.rename(new)


def _move_and_write(world: World) -> None:
    _move_directory(world)
    _write(world)


def _link(world: World) -> None:
    path = world.name()
    if not path.is_dir():
        path.unlink(missing_ok=True)
        path.symlink_to(world.dice.choice(["src", "a.py", "nowhere"]))


def _link_for_directory(world: World) -> None:
    path = world.tree / "lib"
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
        path.symlink_to("src")


def _file_for_directory(world: World) -> None:
    path = world.tree / world.dice.choice(PLACES[1:])
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
        path.write_text("a file\n")
    elif path.is_file():
        path.unlink()
        path.mkdir()


def _second_name(world: World) -> None:
    path, other = world.file(), world.place() / "second.py"
    if path.is_file() and not path.is_symlink() and not os.path.lexists(other):
        os.link(path, other)


def _mode(world: World) -> None:
    path = world.file()
    if path.is_file():
        path.chmod(world.dice.choice((0o644, 0o755)))


def _rules(world: World) -> None:
    (world.place() / ".gitignore").write_text(world.dice.choice(IGNORED))


def _rules_of_the_clone(world: World) -> None:
    (world.repo.path / ".git/info/exclude").write_text(world.dice.choice(IGNORED))


def _nested(world: World) -> None:
    path = world.tree / "lib"
    if path.is_dir() and not path.is_symlink():
        world.git("init", "-q", str(path))


def _unnested(world: World) -> None:
    path = world.tree / "lib/.git"
    if path.is_dir():
        shutil.rmtree(path)


def _many(world: World) -> None:
    path = world.place()
    for number in range(world.dice.choice((120, 300))):
        (path / f"many{number}").write_text("x")


DEEDS: dict[str, Callable[[World], object]] = {
    function.__name__: function
    for function in (
        _write, _append, _same_size, _rename, _delete, _make_directory, _remove_directory, _move_directory,
        _move_and_write, _link, _link_for_directory, _file_for_directory, _second_name, _mode, _rules,
        _rules_of_the_clone, _nested, _unnested, _many,
    )
} | {
    "_nothing": lambda _world: None,
    "_add": lambda world: world.git("add", "-A"),
    "_add_ignored": lambda world: world.git("add", "-f", "--", "out", "lib"),
    "_commit": lambda world: world.git("commit", "-qm", "x"),
    "_commit_all": lambda world: world.git("commit", "-qam", "x"),
    "_reset": lambda world: world.git("reset", "-q", "--hard"),
    "_unstage": lambda world: world.git("reset", "-q"),
    "_branch": lambda world: world.git("checkout", "-qf", world.dice.choice(("side", "desk"))),
    "_stash": lambda world: world.git("stash", "-qu"),
    "_merge": lambda world: world.git("merge", "-q", "side"),
    "_clean": lambda world: world.git("clean", "-qfd"),
    "_refresh": lambda world: world.git("status"),
}  # fmt: skip


# What agents mostly do.
OFTEN = (
    "_write", "_append", "_same_size", "_rename", "_delete", "_make_directory", "_move_directory",
    "_remove_directory", "_file_for_directory", "_link", "_mode",
)  # fmt: skip
FILES = {"a.py": "a\n", "src/b.py": "b\n", "src/deep/a.py": "c\n", "lib/a.py": "d\n"}
_made = itertools.count()


@pytest.mark.slow
@pytest.mark.timeout(600)
@settings(
    max_examples=40,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(
    seed=st.integers(0, 1 << 30),
    deeds=st.lists(
        st.lists(st.sampled_from(OFTEN) | st.sampled_from(sorted(DEEDS)), min_size=1, max_size=4),
        min_size=4,
        max_size=12,
    ),
)
def test_it_says_what_git_says_after_any_deeds(
    repo: TemporaryRepo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int, deeds: list[list[str]]
) -> None:
    monkeypatch.setattr(tree_looks, "AGAIN_S", 0.0)
    fresh = TemporaryRepo.create(tmp_path / f"r{next(_made)}/repo", repo.environment)
    fresh.commit("Files", FILES)
    fresh.git("branch", "side")
    place = fresh.add_worktree("desk")
    world, layout, looks = World(fresh, place, seed), find_layout(str(place), {}), Looks()
    try:
        tree = looks.at(layout)
        _settle(tree)
        for step in deeds:
            for deed in step:
                with suppress(OSError):  # as a command may fail halfway
                    DEEDS[deed](world)
            assert _lines(tree.status()) == _lines(quick_git(STATUS, str(place))), step
            _settle(tree)
    finally:
        looks.close()
        shutil.rmtree(fresh.path.parent)


def _settle(tree: Tree) -> None:
    """What was written a moment ago is not believed yet."""
    for _ in range(100):
        if tree.wait(30) and (tree.is_known or not tree.is_ready):
            break
        tree.status()


def _lines(status: bytes) -> list[bytes]:
    return status.split(b"\0")
