"""What the radar sees of real repositories: worktrees, branches, uncommitted files, and what is no work."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from lineclear.app.agents.membership import ensure_agent
from lineclear.app.ports import Caller
from lineclear.app.radar.ports import Side
from lineclear.core.log.tables import CANDIDATE, Candidate
from lineclear.core.queue.candidates import LANDED, WAITING
from lineclear.git import layout
from lineclear.git import radar as git_radar
from lineclear.git.radar import CloneRadar
from lineclear.git.snapshots.refs import list_snapshots
from lineclear.wiring import radar
from lineclear.wiring.repo import Repo, open_repo
from lineclear.wiring.starting import init_repo
from lineclear.wiring.worktrees import saved_work_in, worktrees_in
from tests.repository import TemporaryRepo

FILES = {"a.py": "def f(x):\n    return x\n", "b.py": "import a\n", "docs/c.md": "words\n"}
OLD = "2020-01-01T12:00:00+00:00"


class Clone:
    """A repository under coordination; commits have the current time."""

    def __init__(self, git: TemporaryRepo) -> None:
        for name in ("GIT_AUTHOR_DATE", "GIT_COMMITTER_DATE"):
            git.environment.pop(name, None)
        self.git = git
        git.commit("Files", FILES)
        init_repo(str(git.path), git.environment)
        self.repo: Repo = open_repo(str(git.path), git.environment)

    def save(self, name: str, agent: str) -> None:
        saved_work_in(self.repo).take(agent=agent, tree=name, why="at work")

    @contextmanager
    def look(self) -> Iterator[CloneRadar]:
        with closing(radar.cache_of(self.repo)) as cache, closing(radar.git_of(self.repo, cache)) as found:
            yield found

    def sides(self) -> dict[str, Side]:
        with self.look() as found:
            sides = found.sides()
        assert len({side.name for side in sides}) == len(sides)
        return {side.name: side for side in sides}

    def text(self, side: Side, path: str) -> str:
        return self.git.git("cat-file", "blob", f"{side.tree}:{path}")

    def main(self) -> str:
        return self.git.git("rev-parse", "main")


@pytest.fixture
def clone(repo: TemporaryRepo) -> Iterator[Clone]:
    made = Clone(repo)
    yield made
    made.repo.close()


def test_there_is_nothing_to_see_where_nobody_works(clone: Clone) -> None:
    clone.git.add_worktree("idle")
    clone.git.git("branch", "same")
    assert clone.sides() == {}


def test_before_the_first_commit_there_is_no_main(tmp_path: Path, repo: TemporaryRepo) -> None:
    place = tmp_path / "empty"
    place.mkdir()
    subprocess.run(["git", "init", "-q", "-b", "main"], cwd=place, env=repo.environment, check=True)
    init_repo(str(place), repo.environment)
    opened = open_repo(str(place), repo.environment)
    with (
        closing(opened),
        closing(radar.cache_of(opened)) as cache,
        closing(radar.git_of(opened, cache)) as found,
    ):
        assert found.main() == ("", "")
        assert found.sides() == []


def test_an_agents_uncommitted_and_new_files_are_seen_from_its_snapshot(clone: Clone) -> None:
    place = Path(worktrees_in(clone.repo).make(clone.repo.caller(), name="w", agent="ada").path)
    (place / "a.py").write_text("def f(x, y):\n    return x\n")
    (place / "new.py").write_text("import a\n")
    (place / "b.py").unlink()
    assert clone.sides() == {}  # nobody has saved it yet
    clone.save("w", "ada")
    side = clone.sides()["ada"]
    assert (side.worktree, side.branch, side.base) == ("w", "lineclear/w", clone.main())
    assert clone.text(side, "a.py") == "def f(x, y):\n    return x"
    with clone.look() as found:
        changed = found.changed(side.base_tree, side.tree)
        assert {path: (bool(old), bool(new)) for path, (old, new) in changed.items()} == {
            "a.py": (True, True), "b.py": (True, False), "new.py": (False, True),
        }  # fmt: skip
        assert found.read([changed["new.py"][1], "0" * 40]) == {changed["new.py"][1]: b"import a\n"}


def test_commits_after_the_last_snapshot_count(clone: Clone) -> None:
    place = clone.git.add_worktree("w")
    (place / "a.py").write_text("one\n")
    clone.save("w", "ada")
    clone.git.commit("Two", {"a.py": "two\n"}, at=place)
    side = clone.sides()["w"]
    assert (clone.text(side, "a.py"), side.commit) == ("two", clone.git.git("rev-parse", "w"))


def test_what_was_put_back_is_no_longer_seen(clone: Clone) -> None:
    place = clone.git.add_worktree("w")
    (place / "a.py").write_text("one\n")
    radar.save_worktrees(clone.repo)
    assert list(clone.sides()) == ["w"]
    clone.git.git("checkout", "--", "a.py", at=place)
    radar.save_worktrees(clone.repo)
    assert clone.sides() == {}


def test_a_new_worktree_does_not_inherit_the_work_of_one_that_had_its_name(clone: Clone) -> None:
    place = clone.git.add_worktree("w")
    (place / "a.py").write_text("one\n")
    clone.save("w", "ada")
    clone.git.git("worktree", "remove", "--force", str(place))
    clone.git.add_worktree("w", branch="again")
    assert clone.sides() == {}


def test_worktrees_without_an_agent_are_saved_under_their_branch(clone: Clone) -> None:
    place = clone.git.add_worktree("w", branch="topic/x")
    clone.git.add_worktree("clean")
    (place / "a.py").write_text("one\n")
    (clone.git.path / "a.py").write_text("dirty\n")
    (clone.git.path / "new.py").write_text("new\n")
    assert radar.save_worktrees(clone.repo) == 2
    assert radar.save_worktrees(clone.repo) == 0
    found = clone.sides()
    assert set(found) == {"topic/x", "main tree"}
    assert (found["main tree"].worktree, clone.text(found["main tree"], "new.py")) == ("main", "new")
    assert {kept.agent for kept in list_snapshots(clone.repo.layout.common_dir)} == {"topic/x", "main"}


def test_the_main_tree_goes_by_its_branch_or_by_the_agent_that_works_there(clone: Clone) -> None:
    clone.git.git("checkout", "-q", "-b", "feature")
    (clone.git.path / "a.py").write_text("dirty\n")
    radar.save_worktrees(clone.repo)
    assert list(clone.sides()) == ["feature"]
    ada = Caller("ada", tree="main")
    clone.repo.store.transact(ada, lambda tx: ensure_agent(tx, ada))
    clone.repo.presence.touch("ada", None)
    assert list(clone.sides()) == ["ada"]


def test_a_snapshot_of_an_agent_is_not_taken_twice(clone: Clone) -> None:
    place = clone.git.add_worktree("w")
    (place / "a.py").write_text("one\n")
    clone.save("w", "ada")
    assert radar.save_worktrees(clone.repo) == 0
    (place / "a.py").write_text("two\n")
    assert radar.save_worktrees(clone.repo) == 1


def test_open_branches_count_while_they_are_young(clone: Clone) -> None:
    clone.git.git("checkout", "-q", "-b", "young")
    clone.git.commit("Young", {"young.py": "1\n"})
    clone.git.git("checkout", "-q", "-b", "merged", "main")
    clone.git.commit("Merged", {"merged.py": "1\n"})
    clone.git.git("checkout", "-q", "main")
    clone.git.git("merge", "-q", "--no-ff", "merged")
    side = clone.sides()["young"]
    assert (side.worktree, side.commit) == ("", clone.git.git("rev-parse", "young"))
    assert side.base == clone.git.git("merge-base", "main", "young") != clone.main()
    assert list(clone.sides()) == ["young"]


def old_branches(clone: Clone, count: int) -> None:
    tree, main = clone.git.git("write-tree"), clone.main()
    clone.git.environment |= {"GIT_AUTHOR_DATE": OLD, "GIT_COMMITTER_DATE": OLD}
    blob = clone.git.git("hash-object", "-w", "--stdin", stdin="old\n")
    listing = clone.git.git("ls-tree", tree) + f"\n100644 blob {blob}\told.py\n"
    changed = clone.git.git("mktree", stdin=listing)
    commit = clone.git.git("commit-tree", changed, "-p", main, "-m", "old")
    rows = "".join(f"create refs/heads/old/{number} {commit}\n" for number in range(count))
    clone.git.git("update-ref", "--stdin", stdin=rows)
    for name in ("GIT_AUTHOR_DATE", "GIT_COMMITTER_DATE"):
        del clone.git.environment[name]


def test_of_200_old_branches_only_one_that_waits_in_the_queue_counts(clone: Clone) -> None:
    old_branches(clone, 200)
    assert clone.sides() == {}
    tip = clone.git.git("rev-parse", "old/7")
    record(clone, WAITING, "old/7", tip, task=3)
    assert {name: side.task for name, side in clone.sides().items()} == {"old/7": 3}


def record(clone: Clone, state: str, branch: str, tip: str, task: int = 0) -> None:
    row = Candidate(1, branch, tip, "", "ada", task, 1, 0, 0, "", state, "", "", "", "", "", "", 1, 1, 1)
    clone.repo.store.transact(Caller("ada"), lambda tx: tx.put(CANDIDATE, row))


def test_too_many_sides_are_counted(clone: Clone, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(git_radar, "MOST_SIDES", 2)
    for name in ("x", "y", "z"):
        (clone.git.add_worktree(name) / "a.py").write_text(name)
        radar.save_worktrees(clone.repo)
    with clone.look() as found:
        assert len(found.sides()) == 2
        assert found.left_out == 1


def test_a_branch_that_landed_in_another_commit_is_gone(clone: Clone) -> None:
    place = clone.git.add_worktree("w")
    tip = clone.git.commit("Work", {"a.py": "one\n", "new.py": "new\n"}, at=place)
    assert list(clone.sides()) == ["w"]
    clone.git.git("merge", "-q", "--squash", "w")
    clone.git.git("commit", "-q", "-m", "squashed")
    assert clone.sides() == {}
    # Somebody else changes the same file: only the queue knows that it has landed.
    clone.git.commit("Later", {"a.py": "later\n"})
    assert list(clone.sides()) == ["w"]
    record(clone, LANDED, "w", tip)
    assert clone.sides() == {}
    (place / "b.py").write_text("more\n")
    clone.save("w", "ada")
    side = clone.sides()["w"]
    with clone.look() as found:
        assert list(found.changed(side.base_tree, side.tree)) == ["b.py"]


def test_a_worktree_that_vanishes_in_the_middle_is_left_out(
    clone: Clone, monkeypatch: pytest.MonkeyPatch
) -> None:
    places = {name: clone.git.add_worktree(name) for name in ("x", "y", "z")}
    for name, place in places.items():
        (place / "a.py").write_text(name)
    radar.save_worktrees(clone.repo)
    listed = layout.worktrees

    def listed_before(common_dir: str) -> list[tuple[str, str]]:
        found = listed(common_dir)
        if places["y"].exists():
            clone.git.git("worktree", "remove", "--force", str(places["y"]))
            clone.git.git("branch", "-q", "-D", "y")
        return found

    monkeypatch.setattr(layout, "worktrees", listed_before)
    assert set(clone.sides()) == {"x", "z"}
    shutil.rmtree(places["z"])
    assert set(clone.sides()) == {"x"}
    assert radar.save_worktrees(clone.repo) == 0


def test_broken_half_made_and_check_worktrees_are_left_out(clone: Clone) -> None:
    for name in ("broken", "half", "check-1"):
        clone.git.add_worktree(name)
    admin = clone.git.path / ".git/worktrees"
    (admin / "broken/HEAD").write_text("garbage\n")
    (admin / "half/locked").write_text("initializing")
    checks = clone.git.path.parent / ".checks"
    checks.mkdir()
    clone.git.git("worktree", "move", str(clone.git.path.parent / "repo.worktrees/check-1"), str(checks))
    for name in ("half", "check-1"):
        clone.git.git("update-ref", f"refs/heads/{name}", commit_on(clone, name))
    found = clone.sides()
    # Their branches are work like any other.
    assert {name: side.worktree for name, side in found.items()} == {"half": "", "check-1": ""}


def commit_on(clone: Clone, name: str) -> str:
    blob = clone.git.git("hash-object", "-w", "--stdin", stdin=f"{name}\n")
    listing = clone.git.git("ls-tree", "main") + f"\n100644 blob {blob}\t{name}.py\n"
    tree = clone.git.git("mktree", stdin=listing)
    return clone.git.git("commit-tree", tree, "-p", "main", "-m", name)


def test_submodules_links_and_binary_files_are_no_files_to_read(clone: Clone, tmp_path: Path) -> None:
    other = TemporaryRepo.create(tmp_path / "other", clone.git.environment)
    place = clone.git.add_worktree("w")
    clone.git.git(
        "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(other.path), "sub", at=place
    )
    (place / "link").symlink_to("a.py")
    (place / "picture.png").write_bytes(b"\x89PNG\0\0")
    (place / "large.js").write_bytes(b"x" * 2_000_000)
    clone.save("w", "ada")
    side = clone.sides()["w"]
    with clone.look() as found:
        changed = found.changed(side.base_tree, side.tree)
        assert set(changed) == {".gitmodules", "picture.png", "large.js"}
        assert set(found.read(new for _, new in changed.values())) == {
            changed[".gitmodules"][1], changed["picture.png"][1],
        }  # fmt: skip
        main_tree = found.main()[1]
        assert found.merge(side.base_tree, main_tree, side.tree)["clean"]


def objects(clone: Clone) -> set[str]:
    return set(map(str, (clone.git.path / ".git/objects").glob("??/*")))


def test_a_merge_leaves_no_object_behind(clone: Clone) -> None:
    for name in ("x", "y"):
        (clone.git.add_worktree(name) / "a.py").write_text(f"def f({name * 2}):\n    return x\n")
        (clone.git.path.parent / f"repo.worktrees/{name}/{name}.py").write_text(name)
    radar.save_worktrees(clone.repo)
    before = objects(clone)
    with clone.look() as found:
        x, y = sorted(found.sides(), key=lambda side: side.name)
        report = found.merge(x.base_tree, x.tree, y.tree)
        assert not report["clean"]
        assert [file["path"] for file in report["files"]] == ["a.py"]
        merged = found.changed(x.base_tree, report["tree"])
        assert set(merged) == {"a.py", "x.py", "y.py"}
        assert found.read([merged["y.py"][1]]) == {merged["y.py"][1]: b"y"}
    assert objects(clone) == before
    assert not (clone.git.path / ".git/lineclear/radar.objects").exists()


def test_words_are_found_in_all_files_and_then_only_in_those_that_changed(
    clone: Clone, monkeypatch: pytest.MonkeyPatch
) -> None:
    clone.git.commit("More", {"d.py": "total = total_of(total)\nf\n", "e.bin": "f\0f"})
    searched: list[list[str]] = []
    search: Callable[[CloneRadar, str, list[str]], dict[str, dict[str, str]]] = CloneRadar._search

    def counted(self: CloneRadar, tree: str, words: list[str]) -> dict[str, dict[str, str]]:
        searched.append(words)
        return search(self, tree, words)

    monkeypatch.setattr(CloneRadar, "_search", counted)
    for _ in range(2):
        with clone.look() as found:
            tree = found.main()[1]
            named = found.files_naming(tree, ["f", "total", "nowhere"])
        assert {word: sorted(files) for word, files in named.items()} == {
            "f": ["a.py", "d.py"], "total": ["d.py"], "nowhere": [],
        }  # fmt: skip
        assert named["total"]["d.py"] == clone.git.git("rev-parse", "main:d.py")
    assert searched == [["f", "total", "nowhere"]]
    clone.git.commit("Changed", {"a.py": "total\n", "new.py": "-nowhere\n", "d.py": "total_of\n"})
    with clone.look() as found:
        named = found.files_naming(found.main()[1], ["f", "total", "nowhere", "total_of"])
    assert {word: sorted(files) for word, files in named.items()} == {
        "f": [], "total": ["a.py"], "nowhere": ["new.py"], "total_of": ["d.py"],
    }  # fmt: skip
    assert searched[1:] == [["total_of"]]


def test_the_commit_that_changed_a_file_is_known(clone: Clone) -> None:
    base = clone.main()
    one = clone.git.commit("One", {"a.py": "1\n"})
    clone.git.commit("Two", {"[b].py": "2\n"})
    with clone.look() as found:
        assert found.who_changed(base, clone.main(), "a.py") == one
        assert found.who_changed(base, clone.main(), "[b].py") == clone.main()
        assert found.who_changed(base, clone.main(), "b.py") == ""


def test_a_pass_runs_and_saves_first_if_asked(clone: Clone) -> None:
    place = clone.git.add_worktree("w")
    (place / "a.py").write_text("one\n")
    caller = Caller("anna", is_person=True)
    assert radar.run_pass(clone.repo, caller).sides == []
    assert [side.name for side in radar.run_pass(clone.repo, caller, snapshots=True).sides] == ["w"]
