"""Work reaches main: merged, ended once, sent back where it does not fit, never by force."""

from __future__ import annotations

import random
import subprocess
import sys
from collections.abc import Iterator, Sequence

import pytest

from lineclear.app import claims, tasks
from lineclear.app.ports import Caller
from lineclear.app.queue.runner import Runner
from lineclear.core.claims.granting import INTENT, Request
from lineclear.core.claims.resources import parse_resource
from lineclear.core.log.tables import Candidate, Landing
from lineclear.core.queue.landing_results import Landed, SentBack
from lineclear.git import landing as git_landing
from lineclear.git.branch_moves import BranchMove
from lineclear.wiring.queue import landings_of
from tests.landings import Team, land, open_team
from tests.repository import TemporaryRepo
from tests.world import refused


@pytest.fixture
def team(repo: TemporaryRepo) -> Iterator[Team]:
    with open_team(repo) as team:
        yield team


def agent(name: str) -> Caller:
    return Caller(name, tree=name)


def test_work_of_a_task_becomes_a_merge_commit_with_its_trailers(team: Team) -> None:
    number = team.task("Say hello", "claude-1")
    team.work("claude-1", {"hello.py": "print('hello')\n"})
    before = team.main
    result = land(team.repo, agent("claude-1"), task=number, branch="claude-1")
    assert isinstance(result, Landed)
    assert (result.how, result.commit, result.files) == ("merge", team.main, ["hello.py"])
    parents = team.git.git("show", "-s", "--format=%P", "main").split()
    assert parents == [before, team.git.git("rev-parse", "claude-1")]
    text = team.git.git("show", "-s", "--format=%B", "main").strip()
    assert text == "Land T-1: Say hello\n\nTask: T-1\nAgent: claude-1"
    assert team.git.git("show", "-s", "--format=%(trailers:key=Task,valueonly)", "main").strip() == "T-1"
    assert team.state(number) == "merged"
    assert team.file("hello.py") == "print('hello')\n"
    assert team.status() == []
    assert team.leftovers() == []
    assert team.findings() == []


def test_authors_of_the_branch_are_kept(team: Team) -> None:
    number = team.task("Two hands", "claude-1")
    team.work("claude-1", {"a": "1\n"})
    place = team.tree_of("claude-1")
    for name, email in (("Ben", "ben@example.invalid"), ("Cid", "cid@example.invalid")):
        (place / "a").write_text(f"{name}\n")
        team.git.git("commit", "-qam", "More", f"--author={name} <{email}>", at=place)
    land(team.repo, agent("claude-1"), task=number, branch="claude-1")
    assert (
        team.git.git("show", "-s", "--format=%an <%ae> %cn", "main")
        == "Cid <cid@example.invalid> Test Author"
    )
    helpers = team.git.git("show", "-s", "--format=%(trailers:key=Co-authored-by,valueonly)", "main")
    assert helpers.split("\n")[:2] == [
        "Test Author <author@example.invalid>",
        "Ben <ben@example.invalid>",
    ]


def test_where_git_knows_no_user_a_name_of_nobody_signs(team: Team, monkeypatch: pytest.MonkeyPatch) -> None:
    team.work("claude-1", {"a": "1\n"})
    team.git.commit("Elsewhere", {"b": "2\n"})
    for name in ("NAME", "EMAIL"):
        monkeypatch.delenv(f"GIT_COMMITTER_{name}")
        monkeypatch.delenv(f"GIT_AUTHOR_{name}")
    team.git.git("config", "user.useConfigOnly", "true")
    assert isinstance(land(team.repo, team.person, branch="claude-1"), Landed)
    assert team.git.git("show", "-s", "--format=%an %cn", "main") == "Test Author lineclear"


def test_a_branch_of_nobodys_task_is_fast_forwarded_when_it_can_be(team: Team) -> None:
    team.work("side", {"a": "1\n"})
    result = land(team.repo, team.person, branch="side")
    assert isinstance(result, Landed)
    assert (result.how, team.main) == ("fast-forward", team.git.git("rev-parse", "side"))
    assert team.file("a") == "1\n"


def test_landing_again_changes_nothing(team: Team) -> None:
    number = team.task("Once", "claude-1")
    team.work("claude-1", {"a": "1\n"})
    land(team.repo, agent("claude-1"), task=number, branch="claude-1")
    main = team.main
    again = land(team.repo, agent("claude-1"), task=number, branch="claude-1")
    assert isinstance(again, Landed)
    assert (again.how, team.main) == ("nothing", main)
    assert team.state(number) == "merged"
    notes = team.repo.store.read(lambda view: tasks.show(view, number))["notes"]
    assert [note["kind"] for note in notes].count("TaskMerged") == 1


def test_a_conflict_sends_the_task_back_with_the_place_named(team: Team) -> None:
    team.git.commit("Base", {"a.txt": "one\ntwo\nthree\n"})
    number = team.task("Change two", "claude-1")
    team.work("claude-1", {"a.txt": "one\nTWO of mine\nthree\n"})
    main = team.git.commit("Mine", {"a.txt": "one\nzwei\nthree\n"})
    result = land(team.repo, agent("claude-1"), task=number, branch="claude-1")
    assert isinstance(result, SentBack)
    assert result.files == ["a.txt"]
    assert result.conflicts[0]["path"] == "a.txt"
    assert "a.txt" in result.why
    assert team.main == main
    row = team.row(number)
    assert (row.state, row.agent, row.reason) == ("open", "", result.why)
    assert team.git.git("rev-parse", "claude-1")
    assert team.status() == []


def test_the_last_attempt_that_does_not_fit_fails_the_task(team: Team) -> None:
    team.git.commit("Base", {"a.txt": "one\n"})
    number = team.task("Change", "claude-1", attempts_max=1)
    team.work("claude-1", {"a.txt": "two\n"})
    team.git.commit("Mine", {"a.txt": "three\n"})
    land(team.repo, agent("claude-1"), task=number, branch="claude-1")
    assert team.state(number) == "failed"


def test_what_git_cannot_merge_the_rules_of_the_format_do(team: Team) -> None:
    base = '{\n  "name": "x",\n  "dependencies": {\n    "b": "^1.0.0"\n  }\n}\n'
    team.git.commit("Base", {"package.json": base})
    team.work("one", {"package.json": base.replace('    "b"', '    "a": "^2.0.0",\n    "b"')})
    team.work("two", {"package.json": base.replace('    "b"', '    "a-b": "^3.0.0",\n    "b"')})
    assert isinstance(land(team.repo, team.person, branch="one"), Landed)
    assert isinstance(land(team.repo, team.person, branch="two"), Landed)
    assert '"a": "^2.0.0"' in team.file("package.json")
    assert '"a-b": "^3.0.0"' in team.file("package.json")


def test_crossed_histories_have_one_base_made_of_several(team: Team) -> None:
    team.git.commit("Base", {"a": "a\n", "b": "b\n", "c": "1\n2\n3\n4\n5\n"})
    team.work("side", {"a": "side\n"})
    place = team.tree_of("side")
    team.git.commit("Main's own", {"b": "main\n"})
    first_side, first_main = team.git.git("rev-parse", "side"), team.main
    team.git.git("merge", "-q", "-m", "Cross", first_main, at=place)
    team.git.git("merge", "-q", "-m", "Cross", first_side)
    team.git.commit("Up", {"c": "up\n2\n3\n4\n5\n"})
    team.git.commit("Down", {"c": "1\n2\n3\n4\ndown\n"}, at=place)
    assert len(team.git.git("merge-base", "--all", "main", "side").split()) == 2
    assert isinstance(land(team.repo, team.person, branch="side"), Landed)
    assert team.file("c") == "up\n2\n3\n4\ndown\n"


def test_what_was_held_for_the_task_is_free_when_it_has_landed(team: Team) -> None:
    number = team.task("Guarded", "claude-1")
    team.work("claude-1", {"a": "1\n"})
    me = agent("claude-1")
    for text, task in (("a", number), ("b", 0)):
        request = Request("claude-1", "claude-1", INTENT, [parse_resource(text)], ttl_ms=60_000, task=task)
        claims.ask(team.repo.store, team.repo.liveness, me, request)
    land(team.repo, me, task=number, branch="claude-1")
    held = [c.resource for c in team.repo.store.read(lambda v: claims.holders(v, parse_resource("./")))]
    assert held == ["file:b"]


def test_a_landing_that_died_before_it_could_say_so_is_settled(
    team: Team, monkeypatch: pytest.MonkeyPatch
) -> None:
    number = team.task("Half told", "claude-1")
    team.work("claude-1", {"a": "1\n"})
    real = Runner._conclude

    def die(runner: Runner, landing: Landing, rows: Sequence[Candidate], *, is_moved: bool) -> None:
        if is_moved:
            raise KeyboardInterrupt
        real(runner, landing, rows, is_moved=is_moved)

    with monkeypatch.context() as patch:
        patch.setattr(Runner, "_conclude", die)
        with pytest.raises(KeyboardInterrupt):
            land(team.repo, agent("claude-1"), task=number, branch="claude-1")
    assert team.state(number) == "handed over"
    assert landings_of(team.repo).settle(team.person, lands=False) == ["T-1"]
    assert team.state(number) == "merged"
    assert landings_of(team.repo).settle(team.person, lands=False) == []


def test_a_task_whose_branch_a_person_merged_by_hand_is_settled(team: Team) -> None:
    number = team.task("By hand", "claude-1")
    team.work("claude-1", {"a": "1\n"})
    tasks.finish(team.repo.store, agent("claude-1"), number, branch="claude-1")
    assert landings_of(team.repo).settle(team.person, lands=False) == []
    team.git.git("merge", "-q", "--no-edit", "claude-1")
    main = team.main
    assert landings_of(team.repo).settle(team.person, lands=True) == ["T-1"]
    assert team.main == main


def test_everything_handed_over_lands_in_order(team: Team) -> None:
    for place in range(3):
        number = team.task(f"Task {place}", f"a-{place}", priority=3 - place)
        team.work(f"a-{place}", {f"f{place}": "x\n"})
        tasks.finish(team.repo.store, agent(f"a-{place}"), number, branch=f"a-{place}")
    assert landings_of(team.repo).settle(team.person, lands=True) == ["T-1", "T-2", "T-3"]
    subjects = team.git.git("log", "--first-parent", "--format=%s", "--max-count=3", "main").split("\n")
    assert subjects == ["Land T-1: Task 0", "Land T-2: Task 1", "Land T-3: Task 2"]


def test_main_that_somebody_moves_meanwhile_is_built_upon_and_never_forced(
    team: Team, monkeypatch: pytest.MonkeyPatch
) -> None:
    team.work("side", {"a": "1\n"})
    real = git_landing.LockedMain.move
    moves: list[str] = []

    def late(main: git_landing.LockedMain, old: str, new: str, why: str) -> BranchMove:
        if len(moves) < 2:
            moves.append(team.git.commit("In between", {f"between{len(moves)}": "x\n"}))
        return real(main, old, new, why)

    monkeypatch.setattr(git_landing.LockedMain, "move", late)
    assert isinstance(land(team.repo, team.person, branch="side"), Landed)
    assert len(moves) == 2
    for commit in moves:
        team.git.git("merge-base", "--is-ancestor", commit, "main")
    assert team.status() == []
    assert team.leftovers() == []


def test_a_look_before_moves_nothing(team: Team) -> None:
    number = team.task("Look first", "claude-1")
    team.work("claude-1", {"a": "1\n"})
    main = team.main
    result = landings_of(team.repo).check(team.person, task=number, branch="claude-1").result
    assert isinstance(result, Landed)
    assert result.files == ["a"]
    assert (team.main, team.state(number)) == (main, "taken")


def test_a_main_that_is_checked_out_nowhere_moves_alone(team: Team) -> None:
    team.work("side", {"a": "1\n"})
    team.git.git("switch", "-q", "-c", "elsewhere")
    assert isinstance(land(team.repo, team.person, branch="side"), Landed)
    assert team.main == team.git.git("rev-parse", "side")
    assert team.status() == []
    assert not (team.git.path / "a").exists()


def test_in_a_bare_repository_work_lands_from_a_worktree(repo: TemporaryRepo) -> None:
    bare = repo.path.parent / "bare.git"
    repo.git("clone", "-q", "--bare", str(repo.path), str(bare))
    inside = TemporaryRepo(repo.path.parent / "inside", repo.environment)
    repo.git("worktree", "add", "-q", "-b", "side", str(inside.path), at=bare)
    inside.commit("Work", {"a": "1\n"})
    with open_team(inside) as team:
        assert isinstance(land(team.repo, team.person, branch="side"), Landed)
    assert inside.git("rev-parse", "main") == inside.git("rev-parse", "side")


# -- bad input --------------------------------------------------------------------------------------


def test_a_branch_that_does_not_exist_is_refused(team: Team) -> None:
    for name in ("nowhere", "-x", "a..b", "main~1", ""):
        with refused("branch.unknown"):
            land(team.repo, team.person, branch=name)


def test_main_cannot_land_on_itself(team: Team) -> None:
    with refused("land.main"):
        land(team.repo, team.person, branch="main")


def test_unrelated_histories_are_refused(team: Team) -> None:
    team.git.git("switch", "-q", "--orphan", "stranger")
    team.git.commit("Alone", {"x": "x\n"})
    team.git.git("switch", "-q", "main")
    with refused("land.unrelated"):
        land(team.repo, team.person, branch="stranger")


def test_a_main_without_a_commit_is_refused(team: Team) -> None:
    team.git.git("branch", "-m", "main", "other")
    team.git.git("symbolic-ref", "HEAD", "refs/heads/fresh")
    with refused("land.unborn"):
        land(team.repo, team.person, branch="other")


def test_a_taken_task_without_a_commit_stays_with_its_agent(team: Team) -> None:
    number = team.task("Empty", "claude-1")
    team.git.add_worktree("claude-1")
    with refused("land.nothing"):
        land(team.repo, agent("claude-1"), task=number, branch="claude-1")
    assert team.state(number) == "taken"


def test_only_its_holder_hands_a_task_over(team: Team) -> None:
    number = team.task("Mine", "claude-1")
    team.work("claude-1", {"a": "1\n"})
    with refused("task.not_yours"):
        land(team.repo, agent("codex-1"), task=number, branch="claude-1")
    assert team.state(number) == "taken"


def test_a_task_that_was_handed_over_lands_with_its_own_branch(team: Team) -> None:
    number = team.task("Mine", "claude-1")
    team.work("claude-1", {"a": "1\n"})
    team.work("other", {"b": "1\n"})
    tasks.finish(team.repo.store, agent("claude-1"), number, branch="claude-1")
    with refused("land.other_branch"):
        land(team.repo, team.person, task=number, branch="other")
    assert isinstance(land(team.repo, team.person, task=number), Landed)


def test_a_task_that_has_ended_otherwise_does_not_land(team: Team) -> None:
    number = team.task("Gone")
    tasks.cancel(team.repo.store, team.person, number, "no longer")
    with refused("task.state"):
        land(team.repo, team.person, task=number, branch="main")


def test_a_file_on_one_side_and_a_directory_on_the_other_goes_back(team: Team) -> None:
    team.work("side", {"thing/part": "x\n"})
    main = team.git.commit("File", {"thing": "y\n"})
    result = land(team.repo, team.person, branch="side")
    assert isinstance(result, SentBack)
    assert any(file.startswith("thing") for file in result.files)
    assert team.main == main


def test_a_submodule_that_both_sides_moved_goes_back(team: Team) -> None:
    def point(commit: str, place: object = None) -> None:
        where = team.git.path if place is None else place
        team.git.git("update-index", "--add", "--cacheinfo", f"160000,{commit},sub", at=where)  # type: ignore[arg-type]
        team.git.git("commit", "-qm", "Point", at=where)  # type: ignore[arg-type]

    ids = [team.git.commit(f"C{n}", {"n": str(n)}) for n in range(3)]
    point(ids[0])
    place = team.git.add_worktree("side")
    point(ids[1], place)
    point(ids[2])
    result = land(team.repo, team.person, branch="side")
    assert isinstance(result, SentBack)
    assert result.files == ["sub"]


def test_a_submodule_that_one_side_moved_lands(team: Team) -> None:
    target = team.main
    place = team.git.add_worktree("side")
    team.git.git("update-index", "--add", "--cacheinfo", f"160000,{target},sub", at=place)
    team.git.git("commit", "-qm", "Point", at=place)
    assert isinstance(land(team.repo, team.person, branch="side"), Landed)
    assert team.git.git("rev-parse", "main:sub") == target


def test_names_that_differ_only_in_case_go_back_where_the_file_system_folds_them(team: Team) -> None:
    team.work("side", {"Readme.md": "x\n"})
    team.git.commit("Other", {"other": "y\n"})
    team.git.git("config", "core.ignorecase", "true")
    result = land(team.repo, team.person, branch="side")
    assert isinstance(result, SentBack)
    assert result.conflicts[0]["kind"] == "case"
    assert result.conflicts[0]["paths"] == ["README.md", "Readme.md"]


def test_a_rename_in_case_alone_lands(team: Team) -> None:
    place = team.git.add_worktree("side")
    team.git.git("mv", "README.md", "Readme.md", at=place)
    team.git.git("commit", "-qm", "Rename", at=place)
    team.git.commit("Other", {"other": "y\n"})
    assert isinstance(land(team.repo, team.person, branch="side"), Landed)
    assert team.file("Readme.md") == "# Sample\n"
    assert team.status() == []


# -- many -------------------------------------------------------------------------------------------


def test_twenty_branches_land_in_any_order(team: Team) -> None:
    names = [f"w-{place}" for place in range(20)]
    for place, name in enumerate(names):
        team.work(name, {f"dir{place % 4}/{name}.txt": f"{name}\n"})
    random.Random(7).shuffle(names)
    for name in names:
        assert isinstance(land(team.repo, team.person, branch=name), Landed)
    assert team.status() == []
    for name in names:
        team.git.git("merge-base", "--is-ancestor", name, "main")
    assert len(list(team.git.path.glob("dir*/*.txt"))) == 20


_LANDER = """
import os, sys
from lineclear.app.ports import Caller
from lineclear.core.queue.landing_results import Landed
from lineclear.wiring.queue import landings_of
from lineclear.wiring.repo import open_repo

repo = open_repo(os.getcwd(), os.environ)
sys.stdin.readline()
for branch in sys.argv[1:]:
    _, result = landings_of(repo).land(Caller("anna", is_person=True), branch=branch)
    assert isinstance(result, Landed), result
repo.close()
"""


def test_two_processes_that_land_at_once_lose_nothing(team: Team) -> None:
    names = [f"w-{place}" for place in range(8)]
    for name in names:
        team.work(name, {f"{name}.txt": f"{name}\n"})
    halves = [names[::2], names[1::2]]
    landers = [
        subprocess.Popen(
            [sys.executable, "-c", _LANDER, *half], cwd=team.git.path, stdin=subprocess.PIPE, text=True
        )
        for half in halves
    ]
    for lander in landers:
        assert lander.stdin is not None
        lander.stdin.write("go\n")
        lander.stdin.close()
    assert [lander.wait(60) for lander in landers] == [0, 0]
    for name in names:
        team.git.git("merge-base", "--is-ancestor", name, "main")
        assert team.file(f"{name}.txt") == f"{name}\n"
    assert team.status() == []
    assert team.leftovers() == []
