"""`lineclear land` as it is typed: words, JSON and exit codes."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.e2e.commandline import CommandLine
from tests.repository import TemporaryRepo


@pytest.fixture
def agent(line: CommandLine, repo: TemporaryRepo) -> CommandLine:
    """ada's own terminal, in its worktree on the branch ada, with a change committed."""
    repo.commit("Base", {"a.txt": "one\n"})
    place = repo.add_worktree("ada")
    repo.commit("Work", {"a.txt": "two\n", "b.txt": "b\n"}, at=place)
    return line.at(place)


def test_a_branch_lands_from_its_own_worktree(agent: CommandLine, repo: TemporaryRepo) -> None:
    assert (
        "ada merges cleanly into main (fast-forward, 2 files). Nothing was changed."
        in agent.ok("land", "--dry-run").out
    )
    answer = agent.ok("land")
    commit = repo.git("rev-parse", "main")
    assert answer.out == f"ada is on main as {commit[:12]} (fast-forward, 2 files).\n"
    assert agent.ok("land").out == "ada has no commits that main lacks.\n"


def test_a_landing_as_data(agent: CommandLine, repo: TemporaryRepo) -> None:
    data = agent.json("land")
    assert data == {
        "branch": "ada",
        "task": "",
        "dry_run": False,
        "candidate": "Q-1",
        "result": "landed",
        "how": "fast-forward",
        "main": "main",
        "commit": repo.git("rev-parse", "main"),
        "tree": repo.git("rev-parse", "main^{tree}"),
        "files": ["a.txt", "b.txt"],
        "notes": [],
    }


def test_an_agent_ends_its_task_by_landing(agent: CommandLine, line: CommandLine) -> None:
    line.ok("task", "add", "Two")
    agent.ok("task", "next", "--as", "ada")
    assert "; T-1 is merged." in agent.ok("land", "--task", "T-1", "--as", "ada").out
    assert line.json("task", "show", "T-1")["state"] == "merged"
    assert line.json("audit")["findings"] == []


def test_the_task_follows_from_the_worktree_made_for_it(line: CommandLine, repo: TemporaryRepo) -> None:
    line.ok("task", "add", "One")
    line.ok("task", "next", "--as", "ada")
    made = line.json("worktree", "add", "--agent", "ada", "--task", "T-1")
    repo.commit("Work", {"b.txt": "b\n"}, at=Path(made["path"]))
    ada = line.at(Path(made["path"]))
    ada.environment |= {"LINECLEAR_AGENT": "ada"}
    # A person may land the branch in between; the task stays with the agent that works on it.
    landed = line.ok("land", made["branch"])
    assert "T-1 stays with ada" in landed.err
    assert line.json("task", "show", "T-1")["state"] == "taken"
    repo.commit("More work", {"c.txt": "c\n"}, at=Path(made["path"]))
    assert "; T-1 is merged." in ada.ok("land").out
    assert line.json("task", "show", "T-1")["state"] == "merged"
    assert ada.json("land")["task"] == ""
    assert line.json("audit")["findings"] == []


def test_a_candidate_waits_for_a_persons_claim_and_says_whose_and_how_long(
    agent: CommandLine, line: CommandLine
) -> None:
    line.ok("task", "add", "Two", "--attempts", "1")
    agent.environment |= {"LINECLEAR_AGENT": "ada", "LINECLEAR_TASK": "T-1"}
    agent.ok("task", "next")
    line.ok("claim", "a.txt", "--mode", "exclusive", "--as", "pat")
    for _ in range(2):
        waits = agent.run("land")
        assert waits.code == 8
        assert re.search(r"It waits: pat holds file:a.txt until \d\d:\d\d UTC\.", waits.out)
        assert "Next: run `lineclear land ada --wait`." in waits.out
    events = [item["event"] for item in line.json("queue", "show", "Q-1")["history"]]
    assert events == ["CandidateSubmitted", "CandidateDelayed"]
    task = line.json("task", "show", "T-1")
    assert (task["state"], task["attempt"]) == ("handed over", 1)
    line.ok("release", "a.txt", "--as", "pat")
    assert "T-1 is merged" in agent.ok("land", "--wait").out
    assert line.json("audit")["findings"] == []


def test_who_lands_again_after_its_task_went_back_ends_it(line: CommandLine, repo: TemporaryRepo) -> None:
    line.ok("task", "add", "One")
    line.ok("task", "next", "--as", "ada")
    tree = Path(line.json("worktree", "add", "--agent", "ada", "--task", "T-1")["path"])
    ada = line.at(tree)
    ada.environment |= {"LINECLEAR_AGENT": "ada"}
    repo.commit("Half done", {"b.txt": "<<<<<<< main\nb\n"}, at=tree)
    assert "T-1 went back" in ada.run("land").out
    assert line.json("task", "show", "T-1")["state"] == "open"
    repo.commit("Done", {"b.txt": "b\n"}, at=tree)
    assert ada.json("land", "--dry-run")["task"] == ""
    assert "; T-1 is merged." in ada.ok("land", "--key", "k-1").out
    task = line.json("task", "show", "T-1")
    assert (task["state"], task["attempt"], task["agent"]) == ("merged", 2, "ada")
    assert line.json("audit")["findings"] == []


def test_who_runs_under_the_supervisor_need_not_name_its_task(agent: CommandLine, line: CommandLine) -> None:
    line.ok("task", "add", "Two")
    agent.environment |= {"LINECLEAR_AGENT": "ada", "LINECLEAR_TASK": "T-1"}
    agent.ok("task", "next")
    assert agent.json("land")["task"] == "T-1"


def test_what_does_not_fit_is_a_finding(agent: CommandLine, repo: TemporaryRepo) -> None:
    repo.commit("Mine", {"a.txt": "three\n"})
    words = agent.run("land")
    assert words.code == 6
    assert "it conflicts with the current main: a.txt" in words.out
    assert "; on main: Test Author." in words.out
    data = agent.run("land", "--json")
    assert (data.code, data.data["result"], data.data["files"]) == (6, "sent back", ["a.txt"])
    assert data.data["conflicts"][0]["sides"]["left"][0]["subject"] == "Mine"
    assert agent.run("land", "--dry-run").code == 6


def test_a_person_in_the_way_is_waited_for(agent: CommandLine, repo: TemporaryRepo) -> None:
    (repo.path / "a.txt").write_text("mine\n")
    words = agent.run("land")
    assert (words.code, words.out) == (
        8,
        f"ada waits: uncommitted changes in {repo.path} overlap.\n  a.txt\n",
    )
    assert agent.run("land", "--json").data["result"] == "needs you"


def test_what_is_not_committed_is_told(agent: CommandLine) -> None:
    (agent.place / "late.txt").write_text("x\n")
    assert "uncommitted files on ada do not land: late.txt" in agent.ok("land").err


def test_work_that_is_not_what_the_task_asks_for_stays_with_its_agent(
    agent: CommandLine, line: CommandLine
) -> None:
    line.ok("task", "add", "Docs", "--produces", "docs/a.md")
    agent.ok("task", "next", "--as", "ada")
    refusal = agent.refused("land", "--task", "T-1", "--as", "ada", code=6)
    assert refusal["code"] == "land.rejected"
    assert "docs/a.md" in refusal["reason"]
    assert line.json("task", "show", "T-1")["state"] == "taken"


def test_a_gate_has_to_be_trusted_and_green(
    agent: CommandLine, line: CommandLine, repo: TemporaryRepo
) -> None:
    repo.commit("Settings", {"lineclear.toml": '[checks]\ngate = "test -f green"\n'})
    line.ok("task", "add", "Two")
    agent.ok("task", "next", "--as", "ada")
    assert agent.refused("land", "--task", "T-1", "--as", "ada", code=4)["next"].startswith("lineclear trust")
    line.ok("trust")
    assert "exit code 1" in agent.refused("land", "--task", "T-1", "--as", "ada", code=6)["reason"]
    (agent.place / "green").touch()
    agent.ok("land", "--task", "T-1", "--as", "ada")


def test_what_cannot_land_is_refused(line: CommandLine, repo: TemporaryRepo) -> None:
    assert line.refused("land", "nowhere", code=5)["code"] == "branch.unknown"
    assert line.refused("land", code=2)["code"] == "land.main"
    assert line.refused("land", "--task", "T-9", code=5)["code"] == "task.unknown"
    repo.git("checkout", "-q", "--detach")
    assert line.refused("land", code=2)["code"] == "land.detached"
