"""Snapshots of real worktrees: everything is in them, and nothing of the agent's is touched."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from lineclear.core.words.refusals import Refusal
from lineclear.core.worktrees.snapshots import SnapshotLimits, read_message
from tests.repository import TemporaryRepo
from tests.snapshotting import Studio


@pytest.fixture
def studio(repo: TemporaryRepo) -> Studio:
    """A linked worktree with a few tracked files."""
    repo.commit("Files", {"a.py": "one\n", "src/b.py": "two\n", "src/deep/c.py": "three\n"})
    return Studio(repo, repo.add_worktree("w"))


def test_changed_new_and_deleted_files_are_in_it(studio: Studio) -> None:
    studio.write("a.py", "changed\n")
    studio.write("new/file.txt", "new\n")
    (studio.path / "src/b.py").unlink()
    taken = studio.taken()
    assert studio.names(taken.commit) == ["README.md", "a.py", "new/file.txt", "src/deep/c.py"]
    assert studio.text(taken.commit, "a.py") == "changed"
    assert taken.tree == studio.as_git_adds_it()
    assert taken.ref == "refs/lineclear/snapshots/ada/1"


def test_its_parent_is_head_and_its_message_says_what_it_is(studio: Studio) -> None:
    studio.write("new.txt")
    taken = studio.snapshots.take(agent="ada", task=7, why="at work\nnow", at_s=1_790_000_000)
    assert taken is not None
    assert taken.parent == studio.git("rev-parse", "HEAD") == studio.git("rev-parse", f"{taken.commit}^")
    facts = read_message(studio.git("log", "-1", "--format=%B", taken.commit))
    assert facts == {"Agent": ["ada"], "Task": ["7"], "Worktree": ["w"], "Why": ["at work\\nnow"]}
    assert studio.git("log", "-1", "--format=%an %at", taken.commit) == "lineclear 1790000000"


def test_the_agents_index_head_and_stash_are_untouched(studio: Studio) -> None:
    studio.write("a.py", "stashed\n")
    studio.git("stash")
    studio.write("a.py", "staged\n")
    studio.git("add", "a.py")
    studio.write("a.py", "on disk\n")
    studio.write("new.txt")
    before = studio.marks()
    taken = studio.taken()
    assert studio.marks() == before
    assert studio.text(taken.commit, "a.py") == "on disk"


def test_an_index_that_the_agents_git_has_locked_is_no_hindrance(studio: Studio) -> None:
    lock = Path(studio.layout.git_dir, "index.lock")
    lock.write_bytes(b"busy")
    studio.write("a.py", "changed\n")
    assert studio.text(studio.taken().commit, "a.py") == "changed"
    assert lock.read_bytes() == b"busy"


def test_nothing_changed_means_no_second_one(studio: Studio) -> None:
    studio.taken()
    assert studio.take() is None
    studio.write("new.txt")
    assert studio.taken().ref.endswith("/2")
    assert studio.take() is None
    assert studio.take() is None


def test_one_that_stays_is_taken_over_one_that_makes_room(studio: Studio) -> None:
    rolling = studio.taken()
    lasting = studio.take(why="the end of a run")
    assert lasting is not None
    assert (lasting.tree, lasting.ref != rolling.ref) == (rolling.tree, True)
    assert studio.take(why="the end of a run") is None
    assert studio.take() is None


def test_a_file_that_changes_back_gives_one_more(studio: Studio) -> None:
    first = studio.taken()
    studio.write("a.py", "changed\n")
    assert studio.taken().tree != first.tree
    studio.write("a.py", "one\n")
    assert studio.taken().tree == first.tree


def test_a_change_of_the_same_size_within_one_tick_is_seen(studio: Studio) -> None:
    for text in ("aaa\n", "bbb\n", "ccc\n", "ddd\n"):
        studio.write("new.txt", text)
        assert studio.text(studio.taken().commit, "new.txt") == text.strip()


def test_a_commit_alone_gives_one_whose_parent_it_is(studio: Studio) -> None:
    studio.taken()
    head = studio.repo.commit("Work", {"work.py": "done\n"}, at=studio.path)
    taken = studio.taken()
    assert taken.parent == head
    assert taken.tree == studio.git("rev-parse", "HEAD^{tree}")


def test_each_agent_counts_for_itself(studio: Studio) -> None:
    studio.taken("ada")
    assert studio.taken("ben/sub").ref == "refs/lineclear/snapshots/ben+sub/1"
    studio.write("new.txt")
    assert studio.taken("ben/sub").ref.endswith("ben+sub/2")
    assert studio.taken("ada").ref.endswith("ada/2")


def test_agents_in_one_worktree_do_not_make_each_other_take_more(studio: Studio) -> None:
    studio.write("new.txt")
    studio.taken("ada")
    studio.taken("ben")
    assert [studio.take("ada"), studio.take("ben"), studio.take("ada")] == [None, None, None]
    studio.write("new.txt", "more\n")
    assert studio.taken("ben").ref.endswith("ben/2")
    assert studio.taken("ada").ref.endswith("ada/2")
    assert studio.take("ben") is None


def test_ignored_files_stay_out(studio: Studio) -> None:
    studio.repo.commit("Ignore", {".gitignore": "*.log\nbuild/\n"}, at=studio.path)
    studio.write("x.log")
    studio.write("build/out.o")
    studio.write("kept.txt")
    assert studio.names(studio.taken().commit) == [
        ".gitignore", "README.md", "a.py", "kept.txt", "src/b.py", "src/deep/c.py",
    ]  # fmt: skip


def test_secret_and_huge_untracked_files_stay_out_and_are_named(studio: Studio) -> None:
    studio.repo.commit("Tracked", {"tracked.pem": "old\n"}, at=studio.path)
    studio.write("tracked.pem", "a tracked file is in git already\n")
    studio.write("conf/.ENV", "TOKEN=1\n")
    studio.write("big.bin", b"x" * 2_000)
    studio.write("small.bin", b"x" * 1_000)
    limits = SnapshotLimits(largest_file_bytes=1_000, secret_names=(".env", "*.pem"))
    taken = studio.taken(limits=limits)
    assert sorted(taken.left_out) == ["big.bin (too large)", "conf/.ENV (secret name)"]
    names = studio.names(taken.commit)
    assert {"small.bin", "tracked.pem"} < set(names)
    assert {"big.bin", "conf/.ENV"}.isdisjoint(names)
    assert "Left-out: big.bin (too large)" in studio.git("log", "-1", "--format=%B", taken.commit)
    assert studio.text(taken.commit, "tracked.pem") == "a tracked file is in git already"


def test_an_untracked_file_with_a_key_inside_stays_out_and_is_named(studio: Studio) -> None:
    key = "-----BEGIN OPENSSH " + "PRIVATE KEY-----\nb3Blb\n"
    studio.repo.commit("Tracked", {"known.txt": "old\n"}, at=studio.path)
    studio.write("known.txt", key)
    studio.write("notes.txt", "harmless\n")
    assert "notes.txt" in studio.names(studio.taken().commit)
    studio.write("notes.txt", key)
    taken = studio.taken()
    assert taken.left_out == ("notes.txt (holds a private key or an access token)",)
    assert "notes.txt" not in studio.names(taken.commit)
    assert studio.text(taken.commit, "known.txt") == key.strip()  # it is in git already
    assert "notes.txt" in studio.names(studio.taken(limits=SnapshotLimits(has_secrets=True)).commit)


def test_what_was_left_out_can_be_asked_for(studio: Studio) -> None:
    studio.write(".env", "TOKEN=1\n")
    studio.taken(limits=SnapshotLimits(secret_names=(".env",)))
    limits = SnapshotLimits(secret_names=(".env",), has_secrets=True)
    assert ".env" in studio.names(studio.taken(limits=limits).commit)


def test_a_secret_that_left_the_index_is_as_head_has_it(studio: Studio) -> None:
    studio.repo.commit("Oops", {".env": "old\n"}, at=studio.path)
    studio.git("rm", "--quiet", "--cached", ".env")
    studio.write(".env", "new\n")
    taken = studio.taken(limits=SnapshotLimits(secret_names=(".env",)))
    assert studio.text(taken.commit, ".env") == "old"


def test_links_modes_and_kinds_of_files_are_kept(studio: Studio) -> None:
    os.symlink("nowhere/at all", studio.path / "link")
    studio.write("run.sh", "#!/bin/sh\n")
    (studio.path / "run.sh").chmod(0o755)
    (studio.path / "a.py").chmod(0o755)
    (studio.path / "src/b.py").unlink()
    os.symlink("deep/c.py", studio.path / "src/b.py")
    os.mkfifo(studio.path / "pipe")
    taken = studio.taken()
    files = studio.files(taken.commit)
    assert {name: files[name][0] for name in (b"link", b"run.sh", b"a.py", b"src/b.py")} == {
        b"link": "120000", b"run.sh": "100755", b"a.py": "100755", b"src/b.py": "120000",
    }  # fmt: skip
    assert studio.text(taken.commit, "link") == "nowhere/at all"
    assert b"pipe" not in files
    (studio.path / "pipe").unlink()
    assert taken.tree == studio.as_git_adds_it()


def test_files_and_directories_that_changed_places(studio: Studio) -> None:
    (studio.path / "a.py").unlink()
    studio.write("a.py/inside.txt", "was a file\n")
    for name in ("src/deep/c.py", "src/b.py"):
        (studio.path / name).unlink()
    (studio.path / "src/deep").rmdir()
    (studio.path / "src").rmdir()
    studio.write("src", "was a directory\n")
    taken = studio.taken()
    assert studio.names(taken.commit) == ["README.md", "a.py/inside.txt", "src"]
    assert taken.tree == studio.as_git_adds_it()


@pytest.mark.parametrize(
    "name",
    [
        b"two\nlines", b'"quoted"', b'"q\nq"', b"back\\slash", b"caf\xe9", b" blank ", b"tab\there", b"-dash",
        b"new\ndir/x",
    ],
)  # fmt: skip
def test_odd_names_are_names(studio: Studio, name: bytes) -> None:
    studio.write(name, "odd\n")
    taken = studio.taken()
    assert name in studio.files(taken.commit)
    assert taken.tree == studio.as_git_adds_it()
    assert studio.take() is None
    studio.write(name, "odd again\n")
    assert studio.taken().tree == studio.as_git_adds_it()


def test_staged_only_content_and_intent_to_add(studio: Studio) -> None:
    studio.write("staged.txt", "staged\n")
    studio.git("add", "staged.txt")
    studio.write("meant.txt", "meant\n")
    studio.git("add", "--intent-to-add", "meant.txt")
    studio.git("rm", "--quiet", "--cached", "a.py")
    taken = studio.taken()
    assert taken.tree == studio.as_git_adds_it()
    assert studio.text(taken.commit, "meant.txt") == "meant"
    assert "a.py" in studio.names(taken.commit)


def test_a_merge_in_progress_is_taken_as_it_is_on_disk(studio: Studio) -> None:
    studio.repo.commit("Theirs", {"a.py": "theirs\n", "README.md": "theirs\n"})
    studio.repo.commit("Ours", {"a.py": "ours\n"}, at=studio.path)
    studio.git("rm", "--quiet", "README.md")
    studio.git("commit", "--quiet", "-m", "Gone")
    with pytest.raises(AssertionError):
        studio.git("merge", "main")
    (studio.path / "README.md").unlink()
    before = studio.marks()
    taken = studio.taken()
    assert "<<<<<<<" in studio.text(taken.commit, "a.py")
    assert "README.md" not in studio.names(taken.commit)
    assert studio.marks() == before


def test_line_ends_and_filters_are_gits(studio: Studio) -> None:
    studio.repo.commit(
        "Attributes", {".gitattributes": "*.crlf text eol=crlf\n*.up filter=up\n"}, at=studio.path
    )
    studio.git("config", "filter.up.clean", "tr a-z A-Z")
    studio.write("x.crlf", b"one\r\ntwo\r\n")
    studio.write("y.up", "quiet\n")
    taken = studio.taken()
    assert taken.tree == studio.as_git_adds_it()
    assert studio.text(taken.commit, "y.up") == "QUIET"


def test_a_file_whose_filter_is_broken_is_taken_as_it_is(studio: Studio) -> None:
    studio.repo.commit("Attributes", {".gitattributes": "*.big filter=gone\n"}, at=studio.path)
    studio.git("config", "filter.gone.clean", "no-such-program")
    studio.git("config", "filter.gone.required", "true")
    studio.write("x.big", "content\n")
    studio.write("z.txt", "behind it\n")
    taken = studio.taken()
    assert studio.text(taken.commit, "x.big") == "content"
    assert studio.text(taken.commit, "z.txt") == "behind it"


def test_files_outside_of_a_sparse_checkout_are_not_deleted(studio: Studio) -> None:
    studio.taken()
    studio.git("sparse-checkout", "set", "--cone", "src/deep")
    assert not (studio.path / "src/other").exists()
    studio.write("src/deep/c.py", "changed\n")
    taken = studio.taken()
    assert studio.names(taken.commit) == ["README.md", "a.py", "src/b.py", "src/deep/c.py"]


def test_a_submodule_is_the_commit_it_is_at(studio: Studio) -> None:
    other = TemporaryRepo.create(studio.repo.path.parent / "other", studio.repo.environment)
    studio.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(other.path), "sub")
    studio.git("commit", "--quiet", "-m", "Add it")
    moved = other.commit("More", {"more.txt": "more\n"}, at=studio.path / "sub")
    studio.write("sub/untracked.txt")
    taken = studio.taken()
    assert studio.files(taken.commit)[b"sub"] == ("160000", moved)


def test_a_repository_inside_the_worktree_is_named_and_left_out(studio: Studio) -> None:
    TemporaryRepo.create(studio.path / "vendor/inner", studio.repo.environment)
    studio.write("vendor/note.txt")
    taken = studio.taken()
    assert taken.left_out == ("vendor/inner/ (a repository of its own)",)
    assert "vendor/note.txt" in studio.names(taken.commit)


def test_a_repository_with_long_object_ids(tmp_path: Path, repo: TemporaryRepo) -> None:
    other = TemporaryRepo(tmp_path / "long", repo.environment)
    other.path.mkdir()
    other.git("init", "--quiet", "--initial-branch=main", "--object-format=sha256")
    studio = Studio(other, other.path)
    studio.write("first.txt")
    taken = studio.taken()
    assert (len(taken.commit), taken.parent) == (64, "")
    other.commit("Begin", {"a/b.txt": "text\n"})
    studio.write("a/c.txt")
    os.symlink("c.txt", studio.path / "a/link")
    assert studio.taken().tree == studio.as_git_adds_it()
    studio.git("fsck", "--strict")


def test_before_the_first_commit_there_is_no_parent(tmp_path: Path, repo: TemporaryRepo) -> None:
    other = TemporaryRepo(tmp_path / "fresh", repo.environment)
    other.path.mkdir()
    other.git("init", "--quiet", "--initial-branch=main")
    studio = Studio(other, other.path)
    studio.write("dir/first.txt")
    studio.git("add", "dir/first.txt")
    taken = studio.taken()
    assert (taken.parent, studio.names(taken.commit)) == ("", ["dir/first.txt"])
    assert studio.git("rev-list", "--count", taken.commit) == "1"


def test_an_emptied_worktree_is_an_empty_tree(studio: Studio) -> None:
    studio.taken()
    studio.git("rm", "-r", "--quiet", ".")
    assert studio.names(studio.taken().commit) == []


def test_a_worktree_that_is_gone_is_refused(studio: Studio) -> None:
    studio.taken()
    studio.git("worktree", "move", str(studio.path), str(studio.path) + "-elsewhere")
    with pytest.raises(Refusal, match="There is no worktree at"):
        studio.take()


def test_a_worktree_whose_git_file_was_deleted_is_still_saved(studio: Studio) -> None:
    studio.write("new.txt", "precious\n")
    (studio.path / ".git").unlink()
    taken = studio.snapshots.take(agent="ada", why="a test", at_s=1)
    assert taken is not None
    assert studio.repo.git("cat-file", "blob", f"{taken.commit}:new.txt") == "precious"


def test_users_hooks_are_not_run(studio: Studio) -> None:
    hooks = Path(studio.layout.common_dir, "hooks")
    for name in ("post-index-change", "reference-transaction", "post-commit", "pre-commit"):
        hook = hooks / name
        hook.write_text(f"#!/bin/sh\ntouch {hooks}/ran-{name}\n")
        hook.chmod(0o755)
    studio.write("new.txt")
    studio.taken()
    assert not list(hooks.glob("ran-*"))


def test_objects_are_read_only_and_whole(studio: Studio) -> None:
    studio.write("new/deep/file.txt")
    taken = studio.taken()
    place = Path(studio.layout.common_dir, "objects", taken.commit[:2], taken.commit[2:])
    assert stat.S_IMODE(place.stat().st_mode) & 0o333 == 0
    studio.git("fsck", "--strict", "--no-dangling")
