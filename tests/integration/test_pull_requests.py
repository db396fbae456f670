"""`land --pr` through the user's own tool: a fake one on PATH writes down what it is asked."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from lineclear.app.ports import Caller
from lineclear.app.queue.pull_requests import host_of
from lineclear.wiring.queue import pull_requests_of
from lineclear.wiring.repo import open_repo
from tests.landings import Team, open_team
from tests.repository import TemporaryRepo
from tests.world import refused

ADA = Caller("ada", tree="ada")

# Answers from `answers.json` beside it: {first two words: [exit code, stdout, stderr]}.
PROGRAM = """#!{python}
import json, os, sys
home = os.path.dirname(os.path.abspath(__file__))
with open(home + "/calls.jsonl", "a") as calls:
    calls.write(json.dumps([os.path.basename(sys.argv[0]), *sys.argv[1:]]) + "\\n")
code, out, err = json.load(open(home + "/answers.json")).get(" ".join(sys.argv[1:3]), [0, "", ""])
sys.stdout.write(out)
sys.stderr.write(err)
sys.exit(code)
"""


class Forge:
    """A remote with a tool in front of it."""

    def __init__(self, team: Team, place: Path, tool: str) -> None:
        self.team, self.place, self.tool = team, place, tool
        self.bare = place / ("gitlab.git" if tool == "glab" else "there.git")
        team.git.git("init", "--quiet", "--bare", str(self.bare))
        team.git.git("remote", "add", "origin", self._address())
        team.git.git("push", "--quiet", "origin", "main")
        (place / "bin").mkdir()
        program = place / "bin" / tool
        program.write_text(PROGRAM.replace("{python}", sys.executable))
        program.chmod(0o755)
        self.answers: dict[str, Any] = {}
        self.answer("auth status", 0)
        team.repo.close()
        path = f"{place / 'bin'}:{os.environ['PATH']}"
        team.repo = open_repo(str(team.git.path), {**team.git.environment, "PATH": path})

    def _address(self) -> str:
        """For GitLab the host's name says so; git itself is sent to the directory."""
        if self.tool != "glab":
            return str(self.bare)
        self.team.git.git("config", f"url.{self.bare}.insteadOf", "https://gitlab.example.invalid/shop.git")
        return "https://gitlab.example.invalid/shop.git"

    def answer(self, words: str, code: int, out: str = "", err: str = "") -> None:
        self.answers[words] = [code, out, err]
        (self.place / "bin" / "answers.json").write_text(json.dumps(self.answers))

    def calls(self) -> list[list[str]]:
        file = self.place / "bin" / "calls.jsonl"
        return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []

    def branch(self, name: str) -> str:
        return self.team.git.git("ls-remote", str(self.bare), f"refs/heads/{name}").partition("\t")[0]

    def open(self, branch: str = "ada", *, caller: Caller = ADA, task: int = 0) -> dict[str, Any]:
        return pull_requests_of(self.team.repo).open(caller, branch=branch, task=task)


@pytest.fixture
def team(repo: TemporaryRepo) -> Iterator[Team]:
    with open_team(repo) as team:
        yield team


@pytest.fixture
def forge(team: Team, tmp_path: Path) -> Forge:
    forge = Forge(team, tmp_path, "gh")
    forge.answer("pr list", 0, "[]")
    forge.answer("pr create", 0, "https://example.invalid/pull/7\n")
    return forge


def test_the_branch_is_pushed_and_a_request_is_opened(team: Team, forge: Forge) -> None:
    number = team.task("Say hello", "ada", body="So that people feel welcome.")
    team.work("ada", {"hello.txt": "hello\n"}, "Add a greeting")
    made = forge.open(task=number)
    assert made == {
        "url": "https://example.invalid/pull/7",
        "is_new": True,
        "remote": "origin",
        "tool": "gh",
    }
    assert forge.branch("ada") == team.git.git("rev-parse", "ada")
    body = "So that people feel welcome.\n\n- Add a greeting\n\nTask: T-1\nAgent: ada"
    assert forge.calls() == [
        ["gh", "auth", "status"],
        ["gh", "pr", "list", "--head", "ada", "--base", "main", "--state", "open", "--json", "url"],
        [
            "gh",
            "pr",
            "create",
            "--head",
            "ada",
            "--base",
            "main",
            "--title",
            "T-1: Say hello",
            "--body",
            body,
        ],
    ]
    assert team.state(number) == "handed over"
    assert team.row(number).branch == "ada"


def test_a_branch_of_no_task_is_called_by_its_only_commit(team: Team, forge: Forge) -> None:
    team.work("ada", {"hello.txt": "hello\n"}, "Add a greeting")
    forge.open(caller=team.person)
    assert forge.calls()[-1][-4:] == ["--title", "Add a greeting", "--body", "- Add a greeting"]


def test_one_that_is_open_already_is_found_and_gets_the_new_commits(team: Team, forge: Forge) -> None:
    team.work("ada", {"hello.txt": "hello\n"})
    forge.open()
    forge.answer("pr list", 0, '[{"url": "https://example.invalid/pull/7"}]')
    team.work("ada", {"hello.txt": "hello again\n"})
    made = forge.open()
    assert (made["url"], made["is_new"]) == ("https://example.invalid/pull/7", False)
    assert forge.branch("ada") == team.git.git("rev-parse", "ada")
    assert [call[2] for call in forge.calls()].count("create") == 1


def test_gitlab_has_a_tool_of_its_own(team: Team, tmp_path: Path) -> None:
    forge = Forge(team, tmp_path, "glab")
    forge.answer("mr list", 0, "[]")
    forge.answer(
        "mr create", 0, "Creating merge request\nhttps://gitlab.example.invalid/shop/-/merge_requests/3\n"
    )
    team.work("ada", {"hello.txt": "hello\n"}, "Add a greeting")
    made = forge.open(caller=team.person)
    assert (made["tool"], made["url"]) == ("glab", "https://gitlab.example.invalid/shop/-/merge_requests/3")
    assert forge.calls()[1:] == [
        ["glab", "mr", "list", "--source-branch", "ada", "--target-branch", "main", "--output", "json"],
        ["glab", "mr", "create", "--source-branch", "ada", "--target-branch", "main", "--title",
         "Add a greeting", "--description", "- Add a greeting", "--yes"],
    ]  # fmt: skip


def test_who_is_not_logged_in_is_told_before_anything_is_pushed(team: Team, forge: Forge) -> None:
    forge.answer("auth status", 1, "", "You are not logged into any hosts.\n")
    number = team.task("Say hello", "ada")
    team.work("ada", {"hello.txt": "hello\n"})
    with refused("pr.login") as caught:
        forge.open(task=number)
    assert caught.value.next == "gh auth login"
    assert "not logged into any hosts" in caught.value.what
    assert forge.branch("ada") == ""
    assert team.state(number) == "taken"


def test_a_tool_that_is_missing_is_named(team: Team, forge: Forge) -> None:
    (forge.place / "bin" / "gh").unlink()
    team.repo.close()
    os.symlink("/usr/bin/git", forge.place / "bin" / "git")
    team.repo = open_repo(str(team.git.path), {**team.git.environment, "PATH": str(forge.place / "bin")})
    team.work("ada", {"hello.txt": "hello\n"})
    with refused("pr.tool"):
        forge.open()
    assert forge.branch("ada") == ""


def test_what_the_tool_says_is_passed_on_and_the_task_stays(team: Team, forge: Forge) -> None:
    forge.answer("pr create", 1, "", "GraphQL: No commits between main and ada\n")
    number = team.task("Say hello", "ada")
    team.work("ada", {"hello.txt": "hello\n"})
    with refused("pr.failed") as caught:
        forge.open(task=number)
    assert "No commits between" in caught.value.what
    assert team.state(number) == "taken"


def test_nothing_is_forced_over_what_is_there(team: Team, forge: Forge) -> None:
    team.work("ada", {"hello.txt": "hello\n"})
    forge.open()
    there = forge.branch("ada")
    team.git.git("commit", "--amend", "--quiet", "--message=Other", at=team.tree_of("ada"))
    with refused("pr.push") as caught:
        forge.open()
    assert "rejected" in caught.value.what
    assert forge.branch("ada") == there


def test_without_a_remote_there_is_nothing_to_open_it_on(team: Team) -> None:
    team.work("ada", {"hello.txt": "hello\n"})
    with refused("pr.remote"):
        pull_requests_of(team.repo).open(team.person, branch="ada")


def test_hosts_in_all_of_gits_spellings() -> None:
    assert [
        host_of(url)
        for url in (
            "https://gitlab.com/a/b.git", "git@gitlab.example.org:a/b.git", "ssh://git@github.com:22/a/b",
            "/srv/gitlab/b.git", "../b.git", "github.com:a/b",
        )
    ] == ["gitlab.com", "gitlab.example.org", "github.com", "", "", "github.com"]  # fmt: skip
