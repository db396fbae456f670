"""What does not fit is listed and nothing changes; or it is left in the worktree as git leaves a merge."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest

from lineclear.app.ports import Caller
from lineclear.core.queue.landing_results import Landed
from lineclear.core.worktrees.syncing import Conflicted
from lineclear.git import branch_moves
from lineclear.git.unfinished_merge import Keeper
from lineclear.wiring.repo import open_repo
from lineclear.wiring.sync import sync_in
from tests.landings import Team, land, open_team
from tests.repository import TemporaryRepo
from tests.syncs import BASE, files_of, git_dir, leftovers, refusal_of, state_of, sync

PROGRAM = "import os\n\n\ndef main() -> None:\n    os.getcwd()\n"
CODES = BASE["login.py"].replace("return True", "return code(user)")
AUDIT = BASE["login.py"].replace("return True", "return audit(user)").replace("return 1", "return 2")


@pytest.fixture
def team(repo: TemporaryRepo, monkeypatch: pytest.MonkeyPatch) -> Iterator[Team]:
    """ben has landed T-1, a change of one function and a new file; ada has changed the same function."""
    monkeypatch.setattr(branch_moves, "INDEX_WAIT_S", 0.2)
    repo.commit("Base", BASE | {"data.bin": "\0one", "app.py": PROGRAM})
    repo.add_worktree("ada")
    repo.add_worktree("ben")
    with open_team(repo) as team:
        number = team.task("Add codes", "ben")
        team.work("ben", {"login.py": CODES, "new.txt": "n\n"})
        assert isinstance(land(team.repo, Caller("ben", tree="ben"), task=number, branch="ben"), Landed)
        team.work("ada", {"login.py": AUDIT})
        yield team


@pytest.fixture
def place(team: Team) -> Path:
    return team.tree_of("ada")


def conflicted(team: Team, *, keep: bool) -> Conflicted:
    result = sync(team, keep=keep)
    assert isinstance(result, Conflicted)
    assert result.is_kept == keep
    assert leftovers(team.git, team.tree_of("ada")) == []
    return result


def stages(team: Team, place: Path) -> dict[str, list[int]]:
    found: dict[str, list[int]] = {}
    for row in team.git.git("ls-files", "--unmerged", at=place).splitlines():
        info, _, path = row.partition("\t")
        found.setdefault(path, []).append(int(info.split()[2]))
    return found


def test_a_conflict_is_told_with_symbol_line_and_the_other_author(team: Team, place: Path) -> None:
    before = state_of(team.git, place)
    (conflict,) = conflicted(team, keep=False).conflicts
    (other,), (own,) = conflict["sides"]["left"], conflict["sides"]["right"]
    assert (conflict["path"], conflict["kind"], conflict["symbols"]) == ("login.py", "content", ["login"])
    assert conflict["first_line"] == 3
    assert (other["task"], other["title"], other["agent"]) == ("T-1", "Add codes", "ben")
    assert (other["author"], other["subject"]) == ("Test Author", "Land T-1: Add codes")
    assert other["commit"] == team.main
    assert (own["task"], own["title"], own["commit"]) == ("", "Work", team.git.git("rev-parse", "ada"))
    assert state_of(team.git, place) == before


def test_those_of_main_are_told_who_changed_that_file_since_both_parted(team: Team) -> None:
    team.git.commit("By the\tperson", {"login.py": CODES + "# p\n", "b.txt": "p\n"})
    team.git.commit("Elsewhere", {"a.txt": "e\n"})
    (conflict,) = conflicted(team, keep=False).conflicts
    told = [(other["task"], other["agent"], other["title"]) for other in conflict["sides"]["left"]]
    assert told == [("", "", "By the\tperson"), ("T-1", "ben", "Add codes")]


def test_hostile_words_in_commits_of_main_stay_words(team: Team) -> None:
    words = "//\x01 \x1b[31m\n\nTask: T-1\nTask: T-x; rm -rf\nAgent: a b\tc"
    team.git.commit(words, {"login.py": CODES + "# p\n"})
    (conflict,) = conflicted(team, keep=False).conflicts
    first = conflict["sides"]["left"][0]
    assert (first["task"], first["agent"]) == ("", "a b\tc")
    assert len(conflict["sides"]["left"]) == 2


def test_a_kept_conflict_is_a_merge_as_git_leaves_one(team: Team, place: Path) -> None:
    result = conflicted(team, keep=True)
    assert result.open_paths == ["login.py"]
    assert stages(team, place) == {"login.py": [1, 2, 3]}
    assert team.git.git("show", ":2:login.py", at=place) + "\n" == AUDIT
    assert team.git.git("show", ":3:login.py", at=place) + "\n" == CODES
    assert (git_dir(team.git, place) / "MERGE_HEAD").read_text() == f"{team.main}\n"
    assert team.git.git("status", "--porcelain", at=place).splitlines() == ["UU login.py", "A  new.txt"]
    text = (place / "login.py").read_text()
    assert "<<<<<<< ada" in text
    assert ">>>>>>> main" in text
    assert text.index("audit") < text.index("code")
    assert "    return 2\n" in text
    lines = text.splitlines()
    assert lines[result.conflicts[0]["first_line"] - 1].startswith("<<<<<<<")
    assert result.conflicts[0]["sides"]["right"][0]["agent"] == "ben"
    assert result.conflicts[0]["sides"]["left"][0]["subject"] == "Work"


def test_beside_a_conflict_what_git_left_open_and_we_settled_is_staged(team: Team, place: Path) -> None:
    for name, where in (("sys", team.git.path), ("re", place)):
        text = PROGRAM.replace("import os\n", f"import os\nimport {name}\n")
        team.git.commit("Program", {"app.py": text}, at=where)
    assert conflicted(team, keep=True).open_paths == ["login.py"]
    assert "M  app.py" in team.git.git("status", "--porcelain", at=place).splitlines()
    text = team.git.git("show", ":app.py", at=place)
    assert "import re\n" in text
    assert "import sys\n" in text
    assert (place / "app.py").read_text() == text + "\n"


def test_a_kept_conflict_is_resolved_and_committed_as_usual_and_lands(team: Team, place: Path) -> None:
    tip = team.git.git("rev-parse", "ada")
    conflicted(team, keep=True)
    both = AUDIT.replace("return audit(user)", "return audit(user) and code(user)")
    (place / "login.py").write_text(both)
    team.git.git("add", "login.py", at=place)
    team.git.git("commit", "--no-edit", "-q", at=place)
    assert team.git.git("show", "-s", "--format=%P", "ada").split() == [tip, team.main]
    assert team.git.git("show", "-s", "--format=%B", "ada").rstrip() == "Sync ada\n\nAgent: ada"
    assert sorted(path.name for path in git_dir(team.git, place).glob("MERGE_*")) == []
    assert isinstance(land(team.repo, team.person, branch="ada"), Landed)
    assert team.file("login.py") == both


def test_aborting_brings_back_the_state_from_before(team: Team, place: Path) -> None:
    (place / "b.txt").write_text("not committed, not in the way\n")
    (place / "notes.txt").write_text("untracked\n")
    before = state_of(team.git, place)
    conflicted(team, keep=True)
    assert (place / "b.txt").read_text() == "not committed, not in the way\n"
    team.git.git("merge", "--abort", at=place)
    assert state_of(team.git, place) == before


def main_removes(team: Team) -> None:
    team.git.git("rm", "-q", "login.py")
    team.git.git("commit", "-qm", "Remove")


def ada_removes(team: Team) -> None:
    team.git.git("rm", "-q", "login.py", at=team.tree_of("ada"))
    team.git.git("commit", "-qm", "Remove", at=team.tree_of("ada"))


def both_change_what_is_not_text(team: Team) -> None:
    (team.git.path / "data.bin").write_bytes(b"\0main\xff")
    team.git.git("commit", "-qam", "Data")
    (team.tree_of("ada") / "data.bin").write_bytes(b"\0ada\xff")
    team.git.git("commit", "-qam", "Data", at=team.tree_of("ada"))


def both_add(team: Team) -> None:
    team.git.commit("Add", {"both.txt": "main\n"})
    team.git.commit("Add", {"both.txt": "ada\n"}, at=team.tree_of("ada"))


def a_file_meets_a_directory(team: Team) -> None:
    team.git.commit("Directory", {"kind/now": "d\n"})
    team.git.commit("File", {"kind": "file\n"}, at=team.tree_of("ada"))


def both_point_elsewhere(team: Team) -> None:
    for where, target in ((team.git.path, "a.txt"), (team.tree_of("ada"), "b.txt")):
        (where / "link").symlink_to(target)
        team.git.git("add", "link", at=where)
        team.git.git("commit", "-qm", "Link", at=where)


def both_move_a_library(team: Team) -> None:
    oids = [team.git.git("rev-parse", commit) for commit in ("main", "main~1")]
    for where, oid in zip((team.git.path, team.tree_of("ada")), oids, strict=True):
        (where / "lib").mkdir()
        team.git.git("update-index", "--add", "--cacheinfo", f"160000,{oid},lib", at=where)
        team.git.git("commit", "-qm", "Library", at=where)


def main_renames(team: Team) -> None:
    team.git.git("mv", "login.py", "entry.py")
    team.git.git("commit", "-qm", "Rename")


def names_are_odd(team: Team) -> None:
    team.git.commit("Odd", {'a "b"\t\\ü*.txt': "main\n"})
    team.git.commit("Odd", {'a "b"\t\\ü*.txt': "ada\n"}, at=team.tree_of("ada"))


KINDS = [
    main_removes,
    ada_removes,
    both_change_what_is_not_text,
    both_add,
    a_file_meets_a_directory,
    both_point_elsewhere,
    both_move_a_library,
    main_renames,
    names_are_odd,
]


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__.replace("_", " "))
def test_every_kind_of_conflict_is_left_as_git_leaves_it_and_can_be_taken_back(
    team: Team, place: Path, kind: Callable[[Team], None]
) -> None:
    kind(team)
    before = state_of(team.git, place)
    result = conflicted(team, keep=True)
    ours, our_files = stages(team, place), files_of(place)
    assert result.open_paths == open_in(team, place)
    assert sorted({conflict["path"] for conflict in result.conflicts}) == open_in(team, place)
    team.git.git("merge", "--abort", at=place)
    assert state_of(team.git, place) == before
    with pytest.raises(AssertionError, match="exited 1"):
        team.git.git("merge", "--quiet", "main", at=place)
    assert plain(team, ours) == plain(team, stages(team, place))
    assert plain(team, our_files).keys() == plain(team, files_of(place)).keys()


def open_in(team: Team, place: Path) -> list[str]:
    rows = team.git.git("ls-files", "--unmerged", "-z", at=place).split("\0")
    return sorted({row.partition("\t")[2] for row in rows if row})


def plain(team: Team, found: Mapping[str, object]) -> dict[str, object]:
    """Git names what it sets aside after the side as it was called: "kind~HEAD" for us is "kind~COMMIT"."""
    tip = team.git.git("rev-parse", "ada")
    return {path.replace(f"~{tip}", "~HEAD"): value for path, value in found.items()}


def test_an_open_file_that_stays_as_it_is_must_not_be_changed_either(team: Team, place: Path) -> None:
    """The merge would not touch it, but taking the merge back would throw the change away."""
    both_change_what_is_not_text(team)
    (place / "data.bin").write_bytes(b"\0not committed")
    refusal = refusal_of(lambda: sync(team, keep=True))
    assert (refusal.code, refusal.facts["files"]) == ("sync.overlaps", ["data.bin"])
    assert (place / "data.bin").read_bytes() == b"\0not committed"


@pytest.mark.parametrize("how", ["add", "intent-to-add"])
def test_something_staged_elsewhere_keeps_a_conflict_from_being_left(
    team: Team, place: Path, how: str
) -> None:
    (place / "mine.txt").write_text("mine\n")
    team.git.git("add", *(["-N"] if how == "intent-to-add" else []), "mine.txt", at=place)
    before = state_of(team.git, place)
    refusal = refusal_of(lambda: sync(team, keep=True))
    assert (refusal.code, refusal.facts["files"]) == ("sync.staged", ["mine.txt"])
    assert state_of(team.git, place) == before


def test_a_conflict_outside_a_sparse_checkout_is_shown(team: Team, place: Path) -> None:
    team.git.commit("Main", {"out/a.txt": "main\n"})
    team.git.commit("Mine", {"out/a.txt": "ada\n", "in/a.txt": "in\n"}, at=place)
    team.git.git("sparse-checkout", "set", "in", at=place)
    before = state_of(team.git, place)
    assert "out/a.txt" in conflicted(team, keep=True).open_paths
    assert "<<<<<<< ada" in (place / "out/a.txt").read_text()
    team.git.git("merge", "--abort", at=place)
    team.git.git("sparse-checkout", "reapply", at=place)  # git shows it for its own merges, too
    assert state_of(team.git, place) == before


def test_what_breaks_only_in_combination_is_left_to_be_seen_to(repo: TemporaryRepo) -> None:
    """No file is open, yet it is no merge to be made without looking."""
    routes = "from app import app\n\n\n@app.get('/a')\ndef a():\n    return 1\n"
    repo.commit("Base", {"routes/a.py": routes})
    place = repo.add_worktree("ada")
    with open_team(repo) as team:
        repo.commit("Main", {"routes/b.py": routes.replace("'/a'", "'/x'").replace("def a", "def b")})
        repo.commit(
            "Mine", {"routes/c.py": routes.replace("'/a'", "'/x'").replace("def a", "def c")}, at=place
        )
        result = conflicted(team, keep=True)
        assert result.open_paths == []
        assert [conflict["paths"] for conflict in result.conflicts] == [["routes/b.py", "routes/c.py"]]
        assert repo.git("status", "--porcelain", at=place) == "A  routes/b.py"
        repo.git("commit", "--no-edit", "-q", at=place)
        assert repo.git("merge-base", "main", "ada") == team.main


def test_a_branch_that_moved_meanwhile_is_merged_again(team: Team, place: Path) -> None:
    """The first look is at an older commit than the one that is there when the files move."""
    keep = Keeper.keep
    moved: list[str] = []

    def late(self: Keeper, *arguments: object) -> object:
        if not moved:
            moved.append(team.git.commit("Late", {"late.txt": "l\n"}, at=place))
        return keep(self, *arguments)  # type: ignore[arg-type]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Keeper, "keep", late)
        conflicted(team, keep=True)
    assert team.git.git("rev-parse", "ada") == moved[0]
    assert (place / "late.txt").exists()


# -- for the supervisor ---------------------------------------------------------------------------


def test_a_worktree_is_prepared_for_the_next_attempt(team: Team, place: Path) -> None:
    ada = Caller("ada", tree="ada")
    assert sync_in(team.repo, ada, str(place)).prepare_conflict() == ["login.py"]
    assert stages(team, place) == {"login.py": [1, 2, 3]}
    before = state_of(team.git, place)
    assert sync_in(team.repo, ada, str(place)).prepare_conflict() == ["login.py"]
    assert state_of(team.git, place) == before


def test_a_worktree_whose_work_fits_is_brought_up_to_main(team: Team, place: Path) -> None:
    team.git.git("reset", "-q", "--hard", "HEAD~1", at=place)
    team.work("ada", {"b.txt": "mine\n"})
    assert sync_in(team.repo, Caller("ada", tree="ada"), str(place)).prepare_conflict() == []
    assert team.git.git("status", "--porcelain", at=place) == ""
    assert team.git.git("merge-base", "main", "ada") == team.main


def test_the_stated_branch_is_what_a_worktree_is_brought_up_to(team: Team, place: Path) -> None:
    team.git.git("branch", "trunk", "main")
    team.git.git("reset", "-q", "--hard", "main~1")
    (team.git.path / "lineclear.toml").write_text('[queue]\nbranch = "trunk"\n')
    repo = open_repo(str(team.git.path), team.git.environment)
    assert sync_in(repo, team.person, str(place)).prepare_conflict() == ["login.py"]
    repo.close()
    assert ">>>>>>> trunk" in (place / "login.py").read_text()


def test_a_worktree_that_is_gone_is_refused(team: Team, place: Path) -> None:
    shutil.rmtree(place)
    assert (
        refusal_of(lambda: sync_in(team.repo, team.person, str(place)).prepare_conflict()).code == "repo.none"
    )
