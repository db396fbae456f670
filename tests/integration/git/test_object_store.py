"""Objects and refs read and trees compared by gits that stay: always as git tells it when asked alone."""

from __future__ import annotations

import ast
import os
import random
import signal
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from lineclear.git import object_store
from lineclear.git.object_store import ObjectStore
from lineclear.git.objects import BLOB, Objects
from lineclear.git.run import GitFailed
from lineclear.git.trees import GitTrees
from tests.repository import TemporaryRepo

if TYPE_CHECKING:
    from lineclear.git.objects import Entry


@pytest.fixture
def store(repo: TemporaryRepo) -> Iterator[ObjectStore]:
    with ObjectStore(str(repo.path)) as store:
        yield store


def blob(repo: TemporaryRepo, text: str) -> str:
    (repo.path / "blob").write_text(text)
    return repo.git("hash-object", "-w", "blob")


def test_objects_are_found_alone_and_packed_and_when_they_are_new(
    repo: TemporaryRepo, store: ObjectStore
) -> None:
    commit = repo.commit("Old", {"a": "\0\n binary \n\n"})
    repo.git("gc", "-q")
    late = [blob(repo, f"late {number}\n") for number in range(3)]
    packed = repo.git("rev-parse", f"{commit}:a")
    assert store.find([packed, commit])[packed] == (BLOB, b"\0\n binary \n\n")
    late.append(blob(repo, ""))
    assert list(store.read(late).values()).count(b"") == 1
    assert store.find([commit])[commit][1].endswith(b"\n\nOld\n")


def test_what_is_not_there_is_left_out_or_an_error(repo: TemporaryRepo, store: ObjectStore) -> None:
    known, unknown = blob(repo, "x"), "0" * 39 + "1"
    assert store.find([unknown, known, unknown]) == {known: (BLOB, b"x")}
    with pytest.raises(GitFailed, match="missing"):
        store.read([known, unknown])
    assert store.read([known]) == {known: b"x"}


def test_many_and_large_objects_come_whole(repo: TemporaryRepo, store: ObjectStore) -> None:
    objects = Objects("sha1")
    large = os.urandom(3 << 20)
    contents = {objects.add(BLOB, data): data for data in (large, *(b"%d\n" % n for n in range(500)))}
    ObjectStore(str(repo.path)).write(objects)
    assert store.read(contents) == contents
    assert store.read(contents) == contents


def test_what_is_kept_has_an_end(
    repo: TemporaryRepo, store: ObjectStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(object_store, "_MOST_KEPT_BYTES", 100)
    blobs = {blob(repo, f"{number}" * 40): f"{number}".encode() * 40 for number in range(9)}
    for oid, content in [*blobs.items(), *blobs.items()]:
        assert store.read([oid]) == {oid: content}
        assert sum(len(data) for _, data in store._kept.values()) <= 100


def test_an_object_that_was_replaced_is_read_as_git_shows_it(repo: TemporaryRepo) -> None:
    old, new = blob(repo, "old\n"), blob(repo, "new\n")
    repo.git("replace", old, new)
    for pack in (False, True):
        if pack:
            repo.git("pack-refs", "--all")
        with ObjectStore(str(repo.path)) as store:
            assert store.read([old]) == {old: b"new\n"}


def test_a_damaged_file_is_for_git_to_judge(repo: TemporaryRepo) -> None:
    oid = blob(repo, "text\n")
    path = repo.path / ".git/objects" / oid[:2] / oid[2:]
    path.chmod(0o600)
    path.write_bytes(b"no object")
    with ObjectStore(str(repo.path)) as store, pytest.raises(GitFailed):
        store.read([oid])


def test_a_git_that_was_killed_is_told_and_the_next_question_has_a_new_one(repo: TemporaryRepo) -> None:
    first, second = blob(repo, "1"), blob(repo, "2")
    with ObjectStore(str(repo.path)) as store:
        store.read([first])
        assert store._live is not None
        os.kill(store._live._child.pid, signal.SIGKILL)
        store._live._child.wait()
        with pytest.raises(GitFailed):
            store.read([second])
        assert store.read([second]) == {second: b"2"}


def test_a_store_that_is_forgotten_leaves_no_git_behind(repo: TemporaryRepo) -> None:
    store = ObjectStore(str(repo.path))
    store.read([blob(repo, "x")])
    assert store._live is not None
    child = store._live._child
    del store
    assert child.returncode is not None


def test_refs_are_read_as_they_are_now(repo: TemporaryRepo, store: ObjectStore) -> None:
    first = repo.commit("One", {"a": "1\n"})
    names = [
        "refs/heads/main",
        "refs/heads/none",
        first,
        "HEAD",
        f"{first}^{{tree}}",
        "a\ninfo HEAD",
        "7 8 9",
        "",
    ]
    assert store.commits_of(names) == [first, "", first, first, "", "", "", ""]
    second = repo.commit("Two", {"a": "2\n"})
    repo.git("pack-refs", "--all")
    assert store.commit_of("refs/heads/main") == second
    repo.git("update-ref", "refs/heads/main", first)
    assert store.commit_of("refs/heads/main") == first
    repo.git("switch", "-q", "-c", "side")
    repo.git("branch", "-q", "-D", "main")
    assert store.commit_of("refs/heads/main") == ""


def test_the_size_of_an_object_is_known_without_its_content(repo: TemporaryRepo, store: ObjectStore) -> None:
    oid = blob(repo, "x" * 1_000)
    assert (store.size_of(oid), store.size_of("0" * 39 + "1"), store._kept) == (1_000, -1, {})


# -- trees ----------------------------------------------------------------------------------------

PLACES = ["a", "b", "a.c", "d/x", "d/y/z", "d/y", "d", "e/f/g", "e", "\xe4/\n", "-n"]


def random_tree(repo: TemporaryRepo, dice: random.Random, scratch: Path) -> str:
    """Files, links, programs and submodules; what is a file in one tree is a directory in another."""
    index = {"GIT_INDEX_FILE": str(scratch)}
    inside = TemporaryRepo(repo.path, repo.environment | index)
    inside.git("read-tree", "--empty")
    for path in dice.sample(PLACES, dice.randint(0, 7)):
        mode = dice.choice(["100644", "100644", "100755", "120000", "160000"])
        oid = repo.git("rev-parse", "main") if mode == "160000" else blob(repo, str(dice.randint(0, 2)))
        inside.git("update-index", "--add", "--replace", "--cacheinfo", f"{mode},{oid},{path}")
    return inside.git("write-tree")


def told_by_git(repo: TemporaryRepo, old: str, new: str) -> dict[str, tuple[Entry | None, Entry | None]]:
    """By a git of its own, which quotes what it must."""
    rows = repo.git("-c", "core.quotePath=true", "diff-tree", "-r", "--no-renames", old, new).splitlines()
    found: dict[str, tuple[Entry | None, Entry | None]] = {}
    for row in rows:
        info, _, path = row.partition("\t")
        old_mode, new_mode, old_id, new_id, _ = info.removeprefix(":").split(" ")
        if path.startswith('"'):
            path = ast.literal_eval("b" + path).decode()
        sides = [(mode, oid) if int(mode) else None for mode, oid in ((old_mode, old_id), (new_mode, new_id))]
        found[path] = (sides[0], sides[1])
    return found


@pytest.fixture
def trees(repo: TemporaryRepo) -> Iterator[GitTrees]:
    with closing(GitTrees(str(repo.path))) as trees:
        yield trees


def test_trees_differ_as_git_tells_it(repo: TemporaryRepo, trees: GitTrees, tmp_path: Path) -> None:
    dice = random.Random(5)
    made = [random_tree(repo, dice, tmp_path / "index") for _ in range(14)]
    pairs = [(old, new) for old in made for new in made[::3]]
    expected = {pair: told_by_git(repo, *pair) for pair in pairs}
    assert sum(map(len, expected.values())) > 100
    assert {pair: trees.differences(*pair) for pair in pairs} == expected


def test_trees_of_many_files_are_compared_whole(repo: TemporaryRepo, trees: GitTrees) -> None:
    old = repo.commit("Old", {"a": "1\n"})
    new = repo.commit("New", {f"{'long-name-' * 20}{number}": "1\n" for number in range(3_000)})
    ends = [repo.git("rev-parse", f"{commit}^{{tree}}") for commit in (old, new)]
    assert len(trees.differences(*ends)) == 3_000
    assert next(iter(trees.differences(*reversed(ends)).values()))[1] is None


def test_a_tree_that_is_not_there_is_an_error_and_the_next_question_is_answered(
    repo: TemporaryRepo, trees: GitTrees
) -> None:
    old, new = (repo.commit(text, {"a": text}) for text in ("1\n", "2\n"))
    ends = [repo.git("rev-parse", f"{commit}^{{tree}}") for commit in (old, new)]
    for missing in ("0" * 39 + "1", ""):
        with pytest.raises(GitFailed, match="no tree"):
            trees.differences(ends[0], missing)
    assert list(trees.differences(*ends)) == ["a"]


def test_modes_of_old_repositories_are_those_git_shows(repo: TemporaryRepo, trees: GitTrees) -> None:
    oid = blob(repo, "x")
    made = []
    for mode in ("100664", "100644", "100755"):
        objects = Objects("sha1")
        made.append(objects.add("tree", f"{mode} f\0".encode() + bytes.fromhex(oid)))
        ObjectStore(str(repo.path)).write(objects)
    for old in made:
        for new in made:
            assert trees.differences(old, new) == told_by_git(repo, old, new)


def test_a_written_tree_is_the_one_git_writes(repo: TemporaryRepo) -> None:
    repo.commit("Base", {"a": "1\n", "d/e/f": "1\n", "d/g": "1\n", "gone/x": "1\n"})
    trees = GitTrees(str(repo.path))
    tree = trees.write(
        repo.git("rev-parse", "main^{tree}"),
        {
            "a": ("100755", b"2\n"),
            "d/e/f": ("100644", b"2\n"),
            "gone/x": ("100644", None),
            "n/m/o": ("100644", b""),
        },
    )
    trees.close()
    repo.git("rm", "-q", "gone/x")
    for name, text in (("a", "2\n"), ("d/e/f", "2\n"), ("n/m/o", "")):
        (repo.path / name).parent.mkdir(parents=True, exist_ok=True)
        (repo.path / name).write_text(text)
    (repo.path / "a").chmod(0o755)
    repo.git("add", "a", "d", "n")
    assert repo.git("write-tree") == tree


# -- merges ---------------------------------------------------------------------------------------


@pytest.fixture
def sides(repo: TemporaryRepo, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Commits of which some pairs merge and others conflict, one of them in many files with long names."""
    # A busy machine's git is not one that keeps its answers back.
    monkeypatch.setattr("lineclear.git.trees._PATIENCE_S", 60.0)
    names = [f"{'long-name-' * 20}{number}" for number in range(60)]
    names.append("what a terminal may change: \r\n\t\x03\x04\x11\x13\x1a\x7f\xe4")
    repo.commit("Base", dict.fromkeys([*names, "a"], "1\n"))
    found = []
    for number, files in enumerate(
        ({"b": "1\n"}, {"a": "2\n"}, {"a": "3\n"}, dict.fromkeys(names, "4\n"), dict.fromkeys(names, "5\n"))
    ):
        repo.git("switch", "-q", "-c", f"side{number}", "main")
        found.append(repo.commit("Work", files))
    return found


def test_a_git_that_stays_merges_as_one_that_is_asked_alone(repo: TemporaryRepo, sides: list[str]) -> None:
    trees, alone = GitTrees(str(repo.path)), GitTrees(str(repo.path))
    alone._may_live = False
    conflicts = 0
    for left in sides:
        for right in sides:
            merged = trees.merge_commits(left, right)
            assert merged == alone.merge_commits(left, right)
            conflicts += bool(merged[1])
    assert (conflicts, len(trees._merging), alone._merging) == (4, 1, [])
    trees.close()
    assert trees._merging == []


@pytest.mark.parametrize("where", ["core.attributesFile", "info/attributes"])
@pytest.mark.parametrize("driver", ["union", "noisy"])
def test_merge_drivers_of_the_users_count_for_a_git_that_stays(
    repo: TemporaryRepo, sides: list[str], where: str, driver: str
) -> None:
    place = (
        repo.path / ".git/info/attributes" if where == "info/attributes" else repo.path.parent / "attributes"
    )
    place.write_text(f"a merge={driver}\n")
    repo.git("config", "core.attributesFile", str(repo.path.parent / "attributes"))
    repo.git("config", "merge.noisy.driver", "echo talk; echo driven > %A")
    trees = GitTrees(str(repo.path))
    merged = [trees.merge_commits(sides[1], sides[2]) for _ in range(3)]
    assert len(trees._merging) == 1
    trees.close()
    text = repo.git("show", f"{merged[0][0]}:a")
    assert (text, merged) == ("2\n3" if driver == "union" else "driven", [(merged[0][0], {})] * 3)


def test_a_git_that_keeps_its_answers_back_is_not_waited_for(
    repo: TemporaryRepo, sides: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """As an old one does on a system whose library writes only when it must."""
    monkeypatch.setattr("lineclear.git.trees._PATIENCE_S", 0.05)
    monkeypatch.setattr("lineclear.git.trees._MERGE_MANY", ("hash-object", "--stdin"))
    trees = GitTrees(str(repo.path))
    merged = [trees.merge_commits(sides[0], side) for side in sides]
    assert (len({tree for tree, _ in merged}), trees._may_live, trees._merging) == (5, False, [])


def test_a_merge_that_git_refuses_is_told_in_its_words(repo: TemporaryRepo, sides: list[str]) -> None:
    trees = GitTrees(str(repo.path))
    trees.merge_commits(sides[0], sides[1])
    with pytest.raises(GitFailed, match="not something we can merge"):
        trees.merge_commits(sides[0], "0" * 39 + "1")
    assert trees.merge_commits(sides[0], sides[1])[1] == {}
