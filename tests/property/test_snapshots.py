"""A snapshot holds what `git add --all` would, whatever happens in a worktree; thinning keeps the best."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from lineclear.core.agents.names import agent_name
from lineclear.core.worktrees.snapshots import ref_prefix, split_ref, thin
from tests.repository import TemporaryRepo, clean_environment
from tests.snapshotting import Studio

NAMES = ("a", "b", "dir/a", "dir/b", "dir/sub/a", "deep/er/x", "a.py")
STEPS = st.one_of(
    st.tuples(st.just("write"), st.sampled_from(NAMES), st.sampled_from(["", "1\n", "2\n", "1\r\n"])),
    st.tuples(st.just("link"), st.sampled_from(NAMES), st.sampled_from(["a", "dir", "nowhere"])),
    st.tuples(st.sampled_from(["remove", "add", "unstage", "mode"]), st.sampled_from(NAMES), st.just("")),
    st.tuples(st.sampled_from(["commit", "take", "reset"]), st.just(""), st.just("")),
)


def act(studio: Studio, kind: str, name: str, text: str) -> None:
    place = studio.path / name
    if kind in ("write", "link"):
        _make_way(studio.path, name)
        place.write_text(text, newline="") if kind == "write" else os.symlink(text, place)
    elif kind == "remove":
        _clear(place)
    elif kind == "mode" and place.is_file() and not place.is_symlink():
        place.chmod(0o755 if not place.stat().st_mode & 0o100 else 0o644)
    elif kind == "add" and os.path.lexists(place):
        studio.git("add", "--", name)
    elif kind == "unstage":
        studio.git("rm", "-r", "--quiet", "--cached", "--ignore-unmatch", "--force", "--", name)
    elif kind == "commit":
        studio.git("commit", "--quiet", "--allow-empty", "-m", "step")
    elif kind == "reset":
        studio.git("reset", "--quiet")
    elif kind == "take":
        studio.take()


def _make_way(root: Path, name: str) -> None:
    """Files on the way to a name give way to directories, and what is at the name itself goes."""
    parts = name.split("/")
    for depth in range(1, len(parts)):
        above = root.joinpath(*parts[:depth])
        if above.is_symlink() or above.is_file():
            above.unlink()
    (root / name).parent.mkdir(parents=True, exist_ok=True)
    _clear(root / name)


def _clear(place: Path) -> None:
    if place.is_symlink() or place.is_file():
        place.unlink()
    elif place.is_dir():
        shutil.rmtree(place)


@settings(max_examples=25)
@given(st.lists(STEPS, min_size=1, max_size=12))
def test_a_snapshot_holds_what_git_would_add(steps: list[tuple[str, str, str]]) -> None:
    with tempfile.TemporaryDirectory(prefix="lineclear-") as scratch:
        home = Path(scratch, "home")
        home.mkdir()
        repo = TemporaryRepo.create(Path(scratch, "repo"), clean_environment(home))
        studio = Studio(repo, repo.path)
        for step in steps:
            act(studio, *step)
        before = studio.marks()
        taken = studio.take()
        assert studio.marks() == before
        wanted = studio.as_git_adds_it()
        head, tree, left_out = studio.snapshots.tree_now()
        assert (tree, left_out) == (wanted, [])
        assert head == studio.git("rev-parse", "HEAD")
        if taken is not None:
            assert taken.tree == wanted
        assert studio.take() is None


@given(
    st.lists(st.tuples(st.integers(0, 10**6), st.booleans()), min_size=1, max_size=60),
    st.integers(1, 30),
    st.integers(0, 10**6),
    st.booleans(),
)
def test_thinning_keeps_what_must_stay_and_as_many_as_it_may(
    items: list[tuple[int, bool]], keep: int, keep_for: int, has_worktree: bool
) -> None:
    items.sort()
    ages, rolling = [age for age, _ in items], [is_rolling for _, is_rolling in items]
    gone = thin(ages, rolling, keep=keep, keep_for_s=keep_for, has_worktree=has_worktree)
    left = [place for place in range(len(ages)) if place not in gone]
    young = {place for place in range(len(ages)) if ages[place] <= keep_for}
    newest = {0} if has_worktree or 0 in young else set()
    assert newest <= set(left) <= young | newest
    assert {place for place in young if not rolling[place]} <= set(left)
    counted = [place for place in sorted(young | newest) if rolling[place] or not place]
    kept = [place for place in left if rolling[place] or not place]
    assert len(kept) == min(keep, len(counted))
    assert kept[: max(1, keep // 2)] == counted[: max(1, keep // 2)]


LEVEL = st.from_regex(r"[A-Za-z0-9][A-Za-z0-9._-]{0,20}", fullmatch=True)


@given(st.lists(LEVEL, min_size=1, max_size=4).map("/".join), st.integers(1, 10**6))
def test_an_agents_name_goes_through_a_ref_and_back(name: str, number: int) -> None:
    if name.split("/", maxsplit=1)[0].lower() in ("all", "me", "nobody"):
        return
    ref = f"{ref_prefix(agent_name(name))}{number}"
    assert split_ref(ref) == (name, number)
    word = ref.split("/")[3]
    assert ".." not in word
    assert not word.endswith((".", ".lock"))
