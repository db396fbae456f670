"""Snapshots when things go wrong: damage, deaths, full disks, two at once, a git gc in between."""

from __future__ import annotations

import errno
import multiprocessing
import os
import subprocess
import sys
from pathlib import Path

import pytest

from lineclear.core.words.refusals import Refusal
from lineclear.core.worktrees.snapshots import SnapshotLimits
from lineclear.git.objects import Objects
from lineclear.git.snapshots import taking as module
from lineclear.git.snapshots.files import State
from lineclear.git.snapshots.refs import delete_snapshots, list_snapshots
from lineclear.git.status import parse_status as real_parse
from lineclear.host.locks import LockFile
from tests.repository import TemporaryRepo
from tests.snapshotting import Studio

# Dies at the N-th of the steps that change something, before it or after it.
DIES = """
import os, sys
from lineclear.git import objects
from lineclear.git.snapshots import taking
from lineclear.git.layout import find_layout
left = int(sys.argv[2])

def deadly(module, name):
    real = getattr(module, name)
    def step(*args, **options):
        global left
        left -= 1
        if left == 0: os._exit(9)
        done = real(*args, **options)
        left -= 1
        if left == 0: os._exit(9)
        return done
    setattr(module, name, step)

for module, name in ((os, "rename"), (os, "replace"), (os, "utime"), (os, "makedirs"),
                     (objects, "_write_loose"), (taking, "Started"), (taking, "create_loose_ref")):
    deadly(module, name)
layout = find_layout(sys.argv[1], {})
taking.Snapshots(layout, layout.common_dir + "/lineclear/snapshots").take(agent="ada", why="x", at_s=1)
"""


@pytest.fixture
def studio(repo: TemporaryRepo) -> Studio:
    repo.commit("Files", {"a.py": "one\n", "src/b.py": "two\n"})
    return Studio(repo, repo.add_worktree("w"))


@pytest.mark.parametrize("damage", [b"", b"DIRC garbage", b"\0" * 5_000])
def test_a_damaged_copy_of_the_index_is_made_anew(studio: Studio, damage: bytes) -> None:
    studio.taken()
    Path(f"{studio.stem}.index").write_bytes(damage)
    studio.write("a.py", "changed\n")
    assert studio.taken().tree == studio.as_git_adds_it()


def test_a_lock_left_behind_on_our_copy_is_no_hindrance(studio: Studio) -> None:
    studio.taken()
    Path(f"{studio.stem}.index.lock").write_bytes(b"")
    studio.write("a.py", "changed\n")
    studio.git("add", "a.py")
    assert studio.taken().tree == studio.as_git_adds_it()
    assert not Path(f"{studio.stem}.index.lock").exists()


@pytest.mark.parametrize("damage", [b"", b"{", b"[]", b'{"version": 1}', b"\xff\0", b'{"version": 99}'])
def test_a_damaged_memory_of_the_last_one_is_forgotten(studio: Studio, damage: bytes) -> None:
    studio.write("new.txt")
    first = studio.taken()
    Path(f"{studio.stem}.state").write_bytes(damage)
    second = studio.taken()
    assert (second.tree, second.ref) == (first.tree, "refs/lineclear/snapshots/ada/2")
    assert studio.take() is None


@pytest.mark.parametrize("damage", [b"", b"{}\n", b"\0" * 500, None])
def test_damaged_notes_about_heads_trees_are_forgotten(studio: Studio, damage: bytes | None) -> None:
    studio.write("src/new.txt", "1\n")
    studio.taken()
    notes = Path(f"{studio.stem}.trees")
    whole = notes.read_bytes()
    notes.write_bytes(whole[:-1] + b"?" if damage is None else damage)
    studio.write("src/new.txt", "2\n")
    assert studio.taken().tree == studio.as_git_adds_it()


@pytest.mark.parametrize("is_packed", [False, True])
def test_notes_about_heads_trees_are_of_one_commit(studio: Studio, is_packed: bool) -> None:
    studio.write("src/new.txt", "1\n")
    studio.taken()
    studio.repo.commit("More", {"src/more.py": "more\n"}, at=studio.path)
    if is_packed:
        studio.git("pack-refs", "--all", "--prune")
    for number in range(2, 5):
        studio.write("src/new.txt", f"{number}\n")
        assert studio.taken().tree == studio.as_git_adds_it()


def test_a_broken_index_of_the_agent_does_not_lose_its_work(studio: Studio) -> None:
    Path(studio.layout.git_dir, "index").write_bytes(b"DIRC broken")
    studio.write("a.py", "changed\n")
    studio.write("new.txt")
    assert studio.taken().tree == studio.as_git_adds_it()
    assert Path(studio.layout.git_dir, "index").read_bytes() == b"DIRC broken"


def test_an_index_that_is_gone_does_not_lose_its_work(studio: Studio) -> None:
    studio.taken()
    Path(studio.layout.git_dir, "index").unlink()
    studio.write("new.txt")
    assert studio.taken().tree == studio.as_git_adds_it()


def test_a_removed_ref_is_not_built_upon(studio: Studio) -> None:
    studio.write("new.txt", "only in the snapshot\n")
    studio.taken()
    delete_snapshots(studio.layout.common_dir, list_snapshots(studio.layout.common_dir))
    studio.git("gc", "--quiet", "--prune=now")
    taken = studio.taken()
    assert studio.text(taken.commit, "new.txt") == "only in the snapshot"
    studio.git("fsck", "--strict")


def test_a_removed_ref_is_not_built_upon_when_there_is_more_to_save(studio: Studio) -> None:
    studio.write("new.txt", "only in the snapshot\n")
    studio.taken()
    studio.taken("other")  # its files are known now without being read again
    delete_snapshots(studio.layout.common_dir, list_snapshots(studio.layout.common_dir))
    studio.git("gc", "--quiet", "--prune=now")
    studio.write("more.txt")
    taken = studio.taken("other")
    assert studio.text(taken.commit, "new.txt") == "only in the snapshot"
    studio.git("fsck", "--strict")


def test_a_git_gc_keeps_what_is_in_a_snapshot(studio: Studio) -> None:
    studio.write("new.txt", "saved\n")
    taken = studio.taken()
    studio.write("new.txt", "again\n")
    studio.git("gc", "--quiet", "--prune=now")
    studio.git("pack-refs", "--all", "--prune")
    again = studio.taken()
    assert studio.text(taken.commit, "new.txt") == "saved"
    assert again.ref.endswith("/2")
    studio.git("pack-refs", "--all", "--prune")
    assert studio.take() is None


def test_a_number_that_is_taken_is_not_written_over(studio: Studio) -> None:
    studio.taken()
    head = studio.git("rev-parse", "HEAD")
    studio.git("update-ref", "refs/lineclear/snapshots/ada/2", head)
    studio.git("pack-refs", "--all", "--prune")
    studio.write("new.txt")
    assert studio.taken().ref == "refs/lineclear/snapshots/ada/3"
    assert studio.git("rev-parse", "refs/lineclear/snapshots/ada/2") == head


@pytest.mark.parametrize("damage", [b"", b"\0" * 41, b"f" * 40 + b"\n"])
def test_a_ref_that_a_power_cut_broke_is_stepped_over(studio: Studio, damage: bytes) -> None:
    studio.taken()
    studio.write("new.txt", "1\n")
    broken = studio.taken()
    Path(studio.layout.common_dir, broken.ref).write_bytes(damage)
    studio.write("new.txt", "2\n")
    taken = studio.taken()
    assert taken.ref != broken.ref
    assert taken.tree == studio.as_git_adds_it()
    found = [kept.ref for kept in list_snapshots(studio.layout.common_dir, "ada")]
    assert taken.ref in found
    assert broken.ref not in found


def test_a_lock_left_behind_on_the_next_ref_is_stepped_over(studio: Studio) -> None:
    studio.taken()
    Path(studio.layout.common_dir, "refs/lineclear/snapshots/ada/2.lock").write_bytes(b"")
    studio.write("new.txt")
    assert studio.taken().ref == "refs/lineclear/snapshots/ada/3"


@pytest.mark.parametrize("is_warm", [False, True])
def test_a_head_that_moves_meanwhile_is_looked_at_again(
    studio: Studio, monkeypatch: pytest.MonkeyPatch, is_warm: bool
) -> None:
    if is_warm:
        studio.write("new.txt", "before\n")
        studio.taken()
    studio.write("new.txt")
    moved: list[str] = []

    def parse_status(output: bytes) -> object:
        if not moved:
            moved.append(studio.repo.commit("Meanwhile", {"a.py": "committed\n"}, at=studio.path))
        return real_parse(output)

    monkeypatch.setattr(module, "parse_status", parse_status)
    taken = studio.taken()
    assert taken.parent == moved[0]
    assert taken.tree == studio.as_git_adds_it()


def test_a_file_that_vanishes_while_it_is_read_is_named(
    studio: Studio, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("a.txt", "m.txt", "z.txt"):
        studio.write(name)
    real = module.Snapshots._hash_files

    def hash_files(self: module.Snapshots, files: object, *rest: object) -> list[str]:
        (studio.path / "m.txt").unlink(missing_ok=True)
        return real(self, files, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(module.Snapshots, "_hash_files", hash_files)
    taken = studio.taken()
    assert taken.left_out == ("m.txt (not readable)",)
    assert {"a.txt", "z.txt"} < set(studio.names(taken.commit))


def test_a_full_disk_is_said_and_the_next_one_is_whole(
    studio: Studio, monkeypatch: pytest.MonkeyPatch
) -> None:
    studio.write("new.txt")
    with monkeypatch.context() as patch:

        def write(*_args: object) -> None:
            raise OSError(errno.ENOSPC, "No space left on device")

        patch.setattr(Objects, "write", write)
        with pytest.raises(Refusal, match="No space left on device"):
            studio.take()
    assert studio.taken().tree == studio.as_git_adds_it()


def test_a_worktree_that_vanishes_amid_it_is_refused(studio: Studio, monkeypatch: pytest.MonkeyPatch) -> None:

    def parse_status(output: bytes) -> object:
        os.rename(studio.path, f"{studio.path}-gone")
        return real_parse(output)

    studio.write("new.txt")
    monkeypatch.setattr(module, "parse_status", parse_status)
    with pytest.raises(Refusal, match="There is no worktree"):
        studio.take()


def test_two_at_once_take_turns(studio: Studio) -> None:
    studio.write("new.txt")
    with multiprocessing.get_context("fork").Pool(4) as pool:
        refs = pool.starmap(_take_in_a_process, [(str(studio.path), number) for number in range(12)])
    made = [ref for ref in refs if ref]
    assert len(made) == len(set(made)) >= 1
    assert studio.take() is None
    studio.git("fsck", "--strict")


def _take_in_a_process(path: str, number: int) -> str:
    from lineclear.git.layout import find_layout

    Path(path, f"file-{number}").write_text("text\n")
    layout = find_layout(path, {})
    taken = module.Snapshots(layout, f"{layout.common_dir}/lineclear/snapshots").take(
        agent="ada", why="x", at_s=1
    )
    return taken.ref if taken is not None else ""


def test_an_agents_own_git_never_meets_ours(studio: Studio) -> None:
    """The agent adds, commits, switches and stashes as fast as it can; none of it may fail for our sake."""
    program = """
set -e
for n in $(seq 25); do
  echo $n > file-$n; git add .; git commit --quiet -m $n; echo more >> file-$n; git status > /dev/null
  git stash --quiet; git stash pop --quiet; git commit --quiet --all -m again; git switch --quiet --detach
  git switch --quiet w; git pack-refs --all
done
"""
    agent = subprocess.Popen(["sh", "-c", program], cwd=studio.path, env=studio.repo.environment)
    taken = 0
    while agent.poll() is None:
        try:
            taken += studio.take() is not None
        except Refusal as refusal:
            assert refusal.code == "snapshot.failed", refusal
    assert agent.returncode == 0
    assert taken
    studio.take()
    assert list_snapshots(studio.layout.common_dir, "ada")[0].tree == studio.as_git_adds_it()
    studio.git("fsck", "--strict")


def test_one_that_never_ends_is_not_waited_for_for_ever(
    studio: Studio, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_WAIT_S", 0.05)
    os.makedirs(os.path.dirname(studio.stem), exist_ok=True)
    with LockFile(f"{studio.stem}.lock"), pytest.raises(Refusal, match="is still taking a snapshot"):
        studio.take()


@pytest.mark.parametrize("key", ["core.splitIndex", "core.untrackedCache", "core.fsmonitor", "index.sparse"])
def test_an_index_with_extensions_is_left_as_it_is(studio: Studio, key: str) -> None:
    studio.git("config", key, "true" if key != "core.fsmonitor" else "/bin/false")
    studio.git("update-index", "--force-write-index")
    studio.git("status")
    before, shared = studio.marks(), sorted(Path(studio.layout.git_dir).glob("sharedindex*"))
    studio.write("src/new.txt")
    studio.write("a.py", "changed\n")
    assert studio.taken().tree == studio.as_git_adds_it()
    assert studio.marks() == before
    assert sorted(Path(studio.layout.git_dir).glob("sharedindex*")) == shared


def test_killed_at_any_step_nothing_is_half_there(studio: Studio) -> None:
    studio.write("first.txt")
    studio.taken()
    steps = 0
    while True:
        steps += 1
        studio.write("dir/new.txt", f"{steps}\n")
        (studio.path / "link").unlink(missing_ok=True)
        os.symlink(f"to {steps}", studio.path / "link")
        done = subprocess.run([sys.executable, "-c", DIES, str(studio.path), str(steps)], check=False)
        for kept in list_snapshots(studio.layout.common_dir, "ada"):
            assert studio.git("rev-list", "--objects", "--count", kept.commit)
        if done.returncode == 0:
            break
        assert done.returncode == 9
    assert steps > 15
    studio.take()
    assert list_snapshots(studio.layout.common_dir, "ada")[0].tree == studio.as_git_adds_it()
    studio.git("fsck", "--strict")


def test_what_is_there_now_is_told_without_writing(studio: Studio) -> None:
    studio.write("new.txt")
    objects = sorted(Path(studio.layout.common_dir, "objects").glob("*/*"))
    head, tree, left_out = studio.snapshots.tree_now()
    assert sorted(Path(studio.layout.common_dir, "objects").glob("*/*")) == objects
    assert (head, left_out) == (studio.git("rev-parse", "HEAD"), [])
    assert tree == studio.taken(limits=SnapshotLimits()).tree


def test_snapshots_are_listed_newest_first_and_removed_only_as_seen(studio: Studio) -> None:
    for number in range(3):
        studio.write("new.txt", f"{number}\n")
        studio.taken()
    studio.taken("ben/sub")
    common = studio.layout.common_dir
    found = list_snapshots(common)
    assert [(kept.agent, kept.number) for kept in found] == [
        ("ada", 3),
        ("ada", 2),
        ("ada", 1),
        ("ben/sub", 1),
    ]
    assert (found[0].why, found[0].worktree, found[0].at_s) == ("at work", "w", 1_790_000_000)
    studio.git("update-ref", found[1].ref, found[0].commit)
    assert [kept.number for kept in delete_snapshots(common, found[:3])] == [3, 1]
    assert [kept.number for kept in list_snapshots(common, "ada")] == [2]


def test_a_state_goes_through_its_file_unchanged(tmp_path: Path) -> None:
    path = str(tmp_path / "w.state")
    changes = {b"caf\xe9\n": ("100644", "a" * 40), b"gone": None}
    signatures = {b"caf\xe9\n": [1, 2, 3]}
    state = State()
    state.index = [4, 5]
    state.keep(path, "ada", ("ref", "commit", "at work"), "head", changes, signatures)
    found = State.load(path)
    assert (found.changes, found.signatures, found.index) == (changes, signatures, [4, 5])
    last = found.last_with("ada", "head", changes)
    assert last is not None
    assert (last.ref, last.commit, last.why) == ("ref", "commit", "at work")
    assert found.last_with("ben", "head", changes) is None
    assert found.last_with("ada", "head", {}) is None
