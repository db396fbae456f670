"""What an agent may never decide: it cannot lift the review, the gate, a strategy or a lock, nor approve its
own work, and the log has each attempt."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.e2e.boundary import write_by_hook
from tests.e2e.commandline import CommandLine
from tests.repository import TemporaryRepo, clean_environment

SETTINGS = """\
[queue]
review = "person"

[checks]
gate = "test ! -e bad.txt"

[[strategy]]
match = "value:frozen"
strategy = "read-only"

[[strategy]]
match = "schema.sql"
strategy = "single-writer"
owner = "architect"
"""
LAND = ("land", "work")
# What the agent adds to its environment, and the command that it starts: one line for each attempt.
BY_VARIABLE: list[tuple[dict[str, str], tuple[str, ...]]] = [
    ({"LINECLEAR_QUEUE_REVIEW": "none"}, LAND),
    ({"LINECLEAR_QUEUE_REVIEW": "agent"}, LAND),
    ({"LINECLEAR_QUEUE_REVIEWER": "true"}, LAND),
    ({"LINECLEAR_QUEUE_INTEGRATOR": "touch {ran}"}, LAND),
    ({"LINECLEAR_QUEUE_BRANCH": "mine"}, LAND),
    ({"LINECLEAR_QUEUE_REMOTE": "mine"}, LAND),
    ({"LINECLEAR_CHECKS_GATE": "touch {ran}"}, LAND),
    ({"LINECLEAR_CHECKS_RETRIES": "9"}, LAND),
    ({"LINECLEAR_WORKTREES_SETUP": "touch {ran}"}, LAND),
    ({"LINECLEAR_WORKTREES_DIRECTORY": "/tmp/elsewhere"}, LAND),
    ({"LINECLEAR_SNAPSHOTS_SECRETS": "true"}, LAND),
    ({"LINECLEAR_AGENTS_GRACE": "0s"}, ("claim", "locked.txt")),
    ({"LINECLEAR_MIRROR_LOCKS": "true"}, ("claim", "locked.txt")),
    ({"LINECLEAR_PATHS_FOLD_CASE": "true"}, ("claim", "locked.txt")),
]
BY_COMMAND: list[tuple[str, ...]] = [
    ("queue", "approve", "Q-1"),
    ("queue", "move", "Q-1", "--last"),
    ("queue", "pause"),
    ("queue", "resume"),
    ("queue", "drop", "Q-1"),
    ("claim", "locked.txt", "--take-over"),
    ("release", "locked.txt"),
    ("trust",),
    ("trust", "--revoke"),
    ("token", "add", "sam", "--person"),
    ("run", "--", "true"),
    ("task", "done", "T-1"),
]


class Agent:
    """An agent in a repository that reviews and checks what lands; a person holds locked.txt."""

    def __init__(self, repo: TemporaryRepo, line: CommandLine, signs: dict[str, str], ran: Path) -> None:
        self.repo, self.person, self.ran = repo, line, ran
        self.line = CommandLine(repo.path, {**line.environment, **signs})

    def attempts(self) -> list[dict[str, str]]:
        events = self.person.json("log", "--limit", "500")["events"]
        return [event["body"] for event in events if event["kind"] == "AttemptRefused"]

    def seen(self) -> tuple[object, ...]:
        """What no attempt may change."""
        queue = [(row["candidate"], row["state"]) for row in self.person.json("queue", "list")["candidates"]]
        return (
            self.repo.git("rev-parse", "main"), self.ran.exists(), self.person.holders("locked.txt"),
            self.person.json("queue", "list")["queue"], [row for row in queue if row[0] == "Q-1"],
        )  # fmt: skip


@pytest.fixture(scope="module", params=["marked", "token"])
def agent(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Agent:
    place = tmp_path_factory.mktemp("limits")
    repo = TemporaryRepo.create(place / "repo", clean_environment(place))
    line = CommandLine(repo.path, {**repo.environment, "LINECLEAR_PERSON": "sam"})
    line.ok("init")
    repo.commit("Settings", {"lineclear.toml": SETTINGS, "locked.txt": "x\n"})
    line.ok("trust")
    line.ok("claim", "locked.txt")
    for branch in ("theirs", "work"):
        repo.commit("Work", {f"{branch}.txt": "b\n"}, at=repo.add_worktree(branch, branch=branch))
    line.ok("task", "add", "Something")
    line.ok("task", "next", "--as", "ben")
    line.ok("land", "theirs", "--as", "ben")
    if request.param == "marked":
        signs = {"CLAUDECODE": "1", "CLAUDE_CODE_SESSION_ID": "s-1"}
    else:
        signs = {"LINECLEAR_TOKEN": line.json("token", "add", "ada")["secret"]}
    return Agent(repo, line, signs, place / "ran")


@pytest.mark.slow
def test_an_agent_lifts_nothing_and_each_attempt_is_logged(agent: Agent) -> None:
    before, tried = agent.seen(), []
    for variables, words in BY_VARIABLE:
        ((variable, text),) = variables.items()
        answer = agent.line.run(*words, env={variable: text.replace("{ran}", str(agent.ran))})
        assert f"{variable} does not count for an agent" in answer.err, answer
        tried.append(variable)
    for words in BY_COMMAND:
        answer = agent.line.run(*words)
        assert answer.code != 0, answer
        tried.append(" ".join(words))
    found = [attempt["what"] for attempt in agent.attempts()]
    assert len(found) == len(tried) >= 20
    for text, what in zip(tried, found, strict=True):
        assert what.endswith(text) or text.startswith(what)
    assert agent.seen() == before


@pytest.mark.parametrize("text", ["", '[queue]\nreview = "none"\n'])
def test_an_uncommitted_file_lifts_neither_review_nor_strategy(agent: Agent, text: str) -> None:
    before, file = agent.seen(), agent.repo.path / "lineclear.toml"
    committed = file.read_text()
    file.write_text(text + '[[strategy]]\nmatch = "**"\nstrategy = "isolated"\n')
    try:
        agent.line.run(*LAND)
        assert agent.seen() == before
        assert agent.line.run("set", "frozen", "1").code != 0
        assert agent.line.run("claim", "schema.sql", "--mode", "exclusive").code != 0
        answer = write_by_hook(agent.line, agent.repo.path / "schema.sql")
        assert '"deny"' in answer.out, answer
    finally:
        file.write_text(committed)
