"""Taking over an agent's work: committed when it was not, judged, and never lost."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from lineclear.app import messages, values
from lineclear.app.ports import Caller
from lineclear.app.runs.outputs import Delivered
from lineclear.core.log.tables import Task
from lineclear.wiring.repo import open_repo
from lineclear.wiring.runs import deliveries_of
from lineclear.wiring.trust import trust_of
from tests.landings import Team, land, open_team
from tests.repository import TemporaryRepo
from tests.world import refused

AGENT = "claude-1"


@pytest.fixture
def team(repo: TemporaryRepo) -> Iterator[Team]:
    repo.commit("Base", {"src/a.py": "a = 1\n", ".gitignore": "*.log\n"})
    with open_team(repo) as team:
        team.git.add_worktree(AGENT)
        yield team


@pytest.fixture
def place(team: Team) -> Path:
    return team.tree_of(AGENT)


def take_over(team: Team, number: int = 0, **more: object) -> Delivered:
    task: Task = team.row(number or team.task("Do it", AGENT))
    return deliveries_of(team.repo).deliver(
        task, agent=AGENT, path=str(team.tree_of(AGENT)), branch=AGENT, **more  # type: ignore[arg-type]
    )  # fmt: skip


def set_up(team: Team, text: str) -> None:
    """Settings that the person made in this clone, which need no trust."""
    (team.git.path / ".git/lineclear/local.toml").write_text(text)
    team.close()
    team.repo = open_repo(str(team.git.path), team.git.environment)


def shown(team: Team, name: str) -> str:
    return team.git.git("show", f"{AGENT}:{name}")


def test_what_was_left_uncommitted_is_committed(team: Team, place: Path) -> None:
    (place / "src/a.py").write_text("a = 2\n")
    (place / "src/new name.py").write_text("b = 1\n")
    (place / "noise.log").write_text("ignored\n")
    number = team.task("Change a", AGENT)
    found = take_over(team, number)
    assert (found.how, found.problems, found.branch) == ("done", [], AGENT)
    assert found.changed == ["src/a.py", "src/new name.py"]
    assert found.commit == team.git.git("rev-parse", AGENT)
    text = team.git.git("show", "-s", "--format=%B", AGENT).strip()
    assert text == f"Work on T-{number}: Change a\n\nTask: T-{number}\nAgent: {AGENT}"
    who = team.git.git("show", "-s", "--format=%an <%ae> %cn", AGENT)
    assert who == f"{AGENT} <author@example.invalid> Test Author"
    assert team.git.git("status", "--porcelain", at=place) == ""
    assert "committed the uncommitted work of claude-1" in found.notes[0]


def test_deletions_and_odd_names_are_committed(team: Team, place: Path) -> None:
    (place / "src/a.py").unlink()
    (place / "src/a.py").mkdir()
    (place / "src/a.py/inner").write_text("x\n")
    (place / "new\nline").write_text("x\n")
    (place / "[id].tsx").write_text("x\n")
    assert take_over(team).changed == ["[id].tsx", "new\nline", "src/a.py", "src/a.py/inner"]
    assert team.git.git("status", "--porcelain", at=place) == ""


def test_work_that_the_agent_committed_itself_gets_no_commit_of_ours(team: Team, place: Path) -> None:
    commit = team.git.commit("Mine", {"src/a.py": "a = 2\n"}, at=place)
    found = take_over(team)
    assert (found.how, found.commit, found.notes) == ("done", commit, [])


def test_secrets_huge_files_and_nested_repositories_stay_out_and_are_named(team: Team, place: Path) -> None:
    set_up(team, '[snapshots]\nlargest_file = "1KiB"\n')
    (place / "src/a.py").write_text("a = 2\n")
    (place / ".env").write_text("TOKEN=1\n")
    (place / "big.bin").write_bytes(b"x" * 2_000)
    team.git.git("init", "-q", str(place / "inner"))
    (place / "inner/file").write_text("x\n")
    found = take_over(team)
    assert found.changed == ["src/a.py"]
    assert (place / ".env").exists()
    told = " ".join(found.notes)
    assert ".env: secret name" in told
    assert "big.bin: too large" in told
    assert "inner/: a repository of its own" in told


def test_no_usual_place_of_a_secret_is_committed(team: Team, place: Path) -> None:
    (place / "src/a.py").write_text("a = 2\n")
    names = [
        ".git-credentials",
        ".pgpass",
        "id_ecdsa",
        ".envrc",
        "prod.env",
        "terraform.tfvars",
        "a.jks",
        "b.kdbx",
    ]
    for name in [*names, ".aws/credentials", "home/.kube/config"]:
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        (place / name).write_text("TOKEN=1\n")
    (place / "notes.txt").write_text("token ghp_" + "a1B2" * 9 + "\n")
    assert take_over(team).changed == ["src/a.py"]


def test_an_agent_that_changed_nothing_is_rejected(team: Team) -> None:
    found = take_over(team)
    assert (found.how, found.reason) == ("rejected", "its branch has no changes")


def test_changes_that_came_from_main_are_not_the_agents(team: Team, place: Path) -> None:
    team.git.commit("Main's own", {"other.py": "x\n"})
    team.git.commit("Mine", {"src/a.py": "a = 2\n"}, at=place)
    team.git.git("merge", "-q", "--no-edit", "main", at=place)
    assert take_over(team).changed == ["src/a.py"]


def test_work_that_its_agent_landed_itself_is_done(team: Team, place: Path) -> None:
    number = team.task("By itself", AGENT)
    team.git.commit("Mine", {"src/a.py": "a = 2\n"}, at=place)
    land(team.repo, Caller(AGENT, tree=AGENT), task=number, branch=AGENT)
    found = take_over(team, number)
    assert (found.how, found.branch) == ("done", AGENT)


def test_a_detached_head_that_holds_the_branch_brings_it_along(team: Team, place: Path) -> None:
    team.git.git("checkout", "-q", "--detach", at=place)
    commit = team.git.commit("Mine", {"src/a.py": "a = 2\n"}, at=place)
    (place / "late").write_text("x\n")
    found = take_over(team)
    assert found.how == "done"
    assert "switched to no branch" in found.notes[0]
    assert team.git.git("symbolic-ref", "HEAD", at=place) == f"refs/heads/{AGENT}"
    team.git.git("merge-base", "--is-ancestor", commit, AGENT)
    assert found.changed == ["late", "src/a.py"]


def test_another_branch_that_holds_its_own_brings_it_along(team: Team, place: Path) -> None:
    team.git.git("switch", "-q", "-c", "feature", at=place)
    commit = team.git.commit("Mine", {"src/a.py": "a = 2\n"}, at=place)
    found = take_over(team)
    assert (found.how, found.commit) == ("done", commit)
    assert team.git.git("rev-parse", "feature") == commit


def test_a_branch_that_the_agent_deleted_is_made_again(team: Team, place: Path) -> None:
    team.git.git("switch", "-q", "-c", "feature", at=place)
    team.git.git("branch", "-D", AGENT)
    commit = team.git.commit("Mine", {"src/a.py": "a = 2\n"}, at=place)
    assert take_over(team).commit == commit


def test_another_branch_that_does_not_hold_its_own_has_strayed(team: Team, place: Path) -> None:
    team.git.commit("Mine", {"src/a.py": "a = 2\n"}, at=place)
    team.git.git("switch", "-q", "-c", "other", "main", at=place)
    (place / "left").write_text("x\n")
    found = take_over(team)
    assert found.how == "strayed"
    assert "other" in found.reason
    assert (place / "left").exists()


def test_an_agent_on_main_itself_has_strayed(team: Team, place: Path) -> None:
    team.git.git("switch", "-q", "--ignore-other-worktrees", "main", at=place)
    assert take_over(team).how == "strayed"


def test_an_unfinished_rebase_has_strayed(team: Team, place: Path) -> None:
    team.git.commit("Mine", {"src/a.py": "a = 2\n"}, at=place)
    team.git.commit("Theirs", {"src/a.py": "a = 3\n"})
    with pytest.raises(AssertionError):
        team.git.git("rebase", "main", at=place)
    found = take_over(team)
    assert (found.how, found.reason) == ("strayed", "it left a rebase unfinished")


def test_an_unfinished_merge_with_conflicts_is_rejected(team: Team, place: Path) -> None:
    team.git.commit("Mine", {"src/a.py": "a = 2\n"}, at=place)
    team.git.commit("Theirs", {"src/a.py": "a = 3\n"})
    with pytest.raises(AssertionError):
        team.git.git("merge", "main", at=place)
    found = take_over(team)
    assert found.how == "rejected"
    assert "src/a.py" in found.reason


def hook(team: Team, text: str) -> None:
    path = team.git.path / ".git/hooks/pre-commit"
    path.parent.mkdir(exist_ok=True)
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)


def test_a_hook_that_says_no_is_heard_and_nothing_is_lost(team: Team, place: Path) -> None:
    hook(team, "echo 'no prints please'; exit 1")
    (place / "src/a.py").write_text("print(1)\n")
    found = take_over(team)
    assert found.how == "rejected"
    assert "no prints please" in found.reason
    assert (place / "src/a.py").read_text() == "print(1)\n"


def test_a_hook_that_formats_and_fails_once_is_asked_again(team: Team, place: Path) -> None:
    hook(team, "grep -q formatted src/a.py || { echo '# formatted' >> src/a.py; exit 1; }")
    (place / "src/a.py").write_text("a = 2\n")
    assert take_over(team).how == "done"
    assert shown(team, "src/a.py") == "a = 2\n# formatted"


def test_files_that_must_be_there_are_looked_for_in_the_commit(team: Team, place: Path) -> None:
    number = team.task("Write docs", AGENT, produces=["docs/a.md", "notes.log", "src"])
    (place / "src/a.py").write_text("a = 2\n")
    (place / "notes.log").write_text("ignored, so not in the commit\n")
    found = take_over(team, number)
    assert found.how == "rejected"
    assert found.reason == "it did not produce: docs/a.md, notes.log"


@pytest.mark.parametrize(("policy", "how"), [("warn", "done"), ("refuse", "rejected"), ("off", "done")])
def test_changes_outside_the_scope_follow_the_setting(team: Team, place: Path, policy: str, how: str) -> None:
    set_up(team, f'[run]\nscope = "{policy}"\n')
    number = team.task("Only docs", AGENT, scope=["docs/"])
    (place / "src/a.py").write_text("a = 2\n")
    found = take_over(team, number)
    assert found.how == how
    assert ("outside the task's scope" in " ".join([found.reason, *found.notes])) == (policy != "off")


def test_a_gate_runs_in_the_agents_worktree(team: Team, place: Path) -> None:
    set_up(team, '[checks]\ngate = "test -f made && echo $WHO > seen"\n')
    (place / "made").write_text("x\n")
    assert take_over(team, env={"WHO": AGENT}).how == "done"
    assert (place / "seen").read_text() == f"{AGENT}\n"


def test_a_red_gate_rejects_with_its_last_words(team: Team, place: Path) -> None:
    set_up(team, '[checks]\ngate = "echo 3 tests failed; exit 4"\n')
    (place / "src/a.py").write_text("a = 2\n")
    found = take_over(team)
    assert found.how == "rejected"
    assert "exit code 4" in found.reason
    assert "3 tests failed" in found.reason
    assert shown(team, "src/a.py") == "a = 2"


def test_a_gate_that_never_ends_is_stopped(team: Team, place: Path) -> None:
    set_up(team, '[checks]\ngate = "echo begun; sleep 1000"\ngate_timeout = "1s"\n')
    (place / "src/a.py").write_text("a = 2\n")
    assert "did not finish in time" in take_over(team).reason


def test_checks_for_paths_run_for_what_changed(team: Team, place: Path) -> None:
    set_up(
        team,
        '[[checks.paths]]\nmatch = "src/"\ncommand = "touch ran-src"\n'
        '[[checks.paths]]\nmatch = "docs/"\ncommand = "touch ran-docs"\n',
    )
    (place / "src/a.py").write_text("a = 2\n")
    assert take_over(team).how == "done"
    assert sorted(name for name in os.listdir(place) if name.startswith("ran")) == ["ran-src"]


def test_a_gate_of_the_committed_file_runs_only_when_it_is_trusted(team: Team, place: Path) -> None:
    team.git.commit("Settings", {"lineclear.toml": '[checks]\ngate = "true"\n'})
    set_up(team, "")
    (place / "src/a.py").write_text("a = 2\n")
    with refused("trust.missing"):
        take_over(team)
    assert team.git.git("status", "--porcelain", at=place) == " M src/a.py"
    trust_of(team.repo).record(team.person, trust_of(team.repo).judged())
    assert take_over(team).how == "done"


# -- without a worktree -----------------------------------------------------------------------------


def test_a_run_without_a_worktree_brings_what_the_task_names(team: Team) -> None:
    number = team.task("Research", AGENT, produces=["value:plan", "message", "README.md"])
    since = team.repo.store.read(lambda view: view.head)
    task: Task = team.row(number)
    found = deliveries_of(team.repo).deliver_without_tree(task, agent=AGENT, since=since)
    assert (found.how, found.reason) == (
        "rejected",
        "it did not produce: value:plan, message",
    )
    me = Caller(AGENT, tree=AGENT)
    values.put(team.repo.store, team.repo.liveness, me, [], "plan", '{"a": 1}', version=0)
    messages.say(team.repo.store, me, "done", to="anna")
    assert deliveries_of(team.repo).deliver_without_tree(task, agent=AGENT, since=since).how == "done"


def test_what_was_there_before_the_run_is_not_its_result(team: Team) -> None:
    number = team.task("Research", AGENT, produces=["value:plan"])
    values.put(team.repo.store, team.repo.liveness, team.person, [], "plan", "1", version=0)
    since = team.repo.store.read(lambda view: view.head)
    assert (
        deliveries_of(team.repo).deliver_without_tree(team.row(number), agent=AGENT, since=since).how
        == "rejected"
    )


def test_a_run_without_a_worktree_may_bring_nothing_but_its_words(team: Team) -> None:
    assert (
        deliveries_of(team.repo).deliver_without_tree(team.row(team.task("Think")), agent=AGENT, since=0).how
        == "done"
    )
