"""An author owns a document and a critic proposes: order kept, both killed and started again in between.

Servers, hooks, git and its gate are real processes; docs/how-to/author-and-critic.md tells the same story.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.clients_server import Step, edit, running_model, say, shell, tool
from tests.e2e.agents import Office
from tests.e2e.commandline import CommandLine
from tests.e2e.mcp_peer import Peer
from tests.repository import TemporaryRepo

pytestmark = pytest.mark.slow

TOML = '[[strategy]]\nmatch = "docs/guide.md"\nstrategy = "single-writer"\nowner = "author"\n'
GUIDE = "# Guide\n\nInstal it.\n\nThen run it.\n"
SPELT = GUIDE.replace("Instal it", "Install it")
NAMED = GUIDE.replace("Then run it", "Then run `shop serve`")
BOTH = SPELT.replace("Then run it", "Then run `shop serve`")
PAIRS = [("gemini", "codex"), ("claude", "gemini")]
NOT_OWNER = "Cannot write file:docs/guide.md: it has a single writer."
PROPOSE = "lineclear propose file:docs/guide.md --file PATH"


class Agent:
    """One agent in its worktree: a client's MCP server, its hooks, and its shell."""

    def __init__(self, name: str, line: CommandLine) -> None:
        self.name = name
        self.line = line.at(line.place.parent / f"{line.place.name}.worktrees" / name)
        self.line.environment["LINECLEAR_AGENT"] = name
        self.guide = self.line.place / "docs/guide.md"
        self.server = self._serve()

    def _serve(self) -> Peer:
        server = Peer(self.line, "--tools", "all", agent=self.name)
        server.greet()
        return server

    def restart(self) -> None:
        """As `kill -9` and a new session do it: nothing is said, nothing is put away."""
        self.server.end()
        self.server = self._serve()

    def hook(self, event: str, tool: str) -> str:
        """What the model is told of a tool that touches the guide; "" when it may."""
        given = {"file_path": str(self.guide), "old_string": "it", "new_string": "that"}
        call = {"session_id": f"{self.name}-s", "cwd": str(self.line.place), "tool_name": tool}
        done = self.line.run("hook", "claude", event, stdin=json.dumps({**call, "tool_input": given}))
        assert done.code == 0, done
        answer = json.loads(done.out).get("hookSpecificOutput", {}) if done.out else {}
        return str(answer.get("permissionDecisionReason", ""))

    def git(self, *words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["git", *words], cwd=self.line.place, env=self.line.environment, capture_output=True, text=True,
            check=False,
        )  # fmt: skip

    def commit(self, text: str, message: str, *options: str) -> subprocess.CompletedProcess[str]:
        self.guide.write_text(text)
        return self.git(*options, "commit", "--all", "--message", message)

    def proposals(self, state: str = "open") -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self.server.data(
            "proposal_list", resource="docs/guide.md", state=state
        )["proposals"]
        return found

    def heard(self) -> list[str]:
        return [message["text"] for message in self.server.data("inbox")["messages"]]


@pytest.fixture
def pair(line: CommandLine, repo: TemporaryRepo) -> Iterator[tuple[Agent, Agent]]:
    """The author and the critic, each with a worktree, in a repository with the gate."""
    repo.commit("The guide", {"lineclear.toml": TOML, "docs/guide.md": GUIDE})
    line.ok("setup", "git")
    for name in ("author", "critic"):
        line.ok("worktree", "add", name, "--agent", name)
    agents = Agent("author", line), Agent("critic", line)
    yield agents
    for agent in agents:
        agent.server.end()


def main_guide(repo: TemporaryRepo) -> str:
    return repo.git("show", "main:docs/guide.md") + "\n"


def decided(line: CommandLine) -> list[tuple[str, int]]:
    """What became of proposals and landings, in the order of the log."""
    kinds = ("ProposalMade", "ProposalDecided", "CandidateLanded")
    events = [event for event in line.json("log", "--limit", "1000")["events"] if event["kind"] in kinds]
    return [(event["kind"], event["body"].get("id", event["position"])) for event in events]


def test_proposals_are_accepted_oldest_first_and_land_while_both_are_killed_in_between(
    pair: tuple[Agent, Agent], line: CommandLine, repo: TemporaryRepo
) -> None:
    author, critic = pair
    first = critic.server.data("propose", resource="docs/guide.md", text=SPELT, note="spelling", key="op-1")
    critic.restart()
    # It does not know whether the answer it never saw was a yes: it asks again.
    again = critic.server.data("propose", resource="docs/guide.md", text=SPELT, note="spelling", key="op-1")
    assert again["replayed"] is True
    second = critic.server.data("propose", resource="docs/guide.md", text=NAMED, note="say how")
    one, two = first["proposal"]["id"], second["proposal"]["id"]
    assert [proposal["id"] for proposal in author.proposals()] == [one, two]

    author.restart()
    words = [f"critic proposes a change to file:docs/guide.md: proposal {number}." for number in (one, two)]
    assert author.heard() == words
    refusal = author.server.refused("proposal_accept", number=two)
    assert refusal["code"] == "proposal.order"
    assert refusal["next"] == f"lineclear proposal show {one}"
    author.server.data("proposal_accept", number=one)

    author.restart()  # after the decision, before the change
    (promised,) = author.proposals("accepted")
    assert author.hook("PreToolUse", "Edit") == ""
    done = author.commit(promised["payload"]["text"], "Guide: spelling")
    assert done.returncode == 0, done.stderr
    assert author.server.data("land")["result"] == "landed"
    assert main_guide(repo) == SPELT

    critic.restart()
    author.restart()
    assert author.server.data("proposal_accept", number=two)["proposal"]["state"] == "accepted"
    assert author.commit(BOTH, "Guide: the command").returncode == 0
    assert author.server.data("land")["result"] == "landed"
    assert main_guide(repo) == BOTH

    assert critic.heard() == [
        f"author has accepted proposal {number} for file:docs/guide.md" for number in (one, two)
    ]
    assert decided(line) == [
        ("ProposalMade", one),
        ("ProposalMade", two),
        ("ProposalDecided", one),
        ("CandidateLanded", 1),
        ("ProposalDecided", two),
        ("CandidateLanded", 2),
    ]
    line.ok("audit")


def test_the_critic_cannot_write_the_document_by_any_way(
    pair: tuple[Agent, Agent], repo: TemporaryRepo
) -> None:
    author, critic = pair
    refusal = critic.server.refused("claim", resources=["docs/guide.md"])
    assert (refusal["code"], refusal["next"]) == ("write.not_owner", PROPOSE)
    for name in ("Edit", "Write"):
        told = critic.hook("PreToolUse", name)
        assert NOT_OWNER in told
        assert f"Next: run `{PROPOSE}`." in told
    stopped = critic.commit(SPELT, "Spelling")
    assert stopped.returncode == 1
    assert NOT_OWNER in stopped.stderr
    # A client that switches git's hooks off, as Gemini CLI does, comes no further than to the queue.
    assert critic.commit(SPELT, "Spelling", "-c", "core.hooksPath=").returncode == 0
    landing = critic.server.fell_short("land")
    assert (landing["result"], landing["files"]) == ("sent back", ["docs/guide.md"])
    assert NOT_OWNER.removesuffix(".") in landing["why"]
    assert main_guide(repo) == GUIDE
    assert author.server.data("claim", resources=["docs/guide.md"])["claims"][0]["agent"] == "author"


def test_only_the_author_decides_and_the_critic_is_told_why_not(pair: tuple[Agent, Agent]) -> None:
    author, critic = pair
    number = critic.server.data("propose", resource="docs/guide.md", remove=True)["proposal"]["id"]
    refusal = critic.server.refused("proposal_accept", number=number)
    assert (refusal["code"], refusal["holder"]) == ("proposal.not_owner", "author")
    author.server.data("proposal_reject", number=number, reason="people read it")
    author.restart()
    critic.restart()
    assert critic.heard() == [
        f'author has rejected proposal {number} for file:docs/guide.md: "people read it"'
    ]
    assert author.proposals() == []


def test_the_author_is_told_who_keeps_it_out_and_not_that_it_is_no_writer(
    pair: tuple[Agent, Agent], line: CommandLine
) -> None:
    author, critic = pair
    critic.server.data("claim", resources=["docs/"], mode="exclusive", note="moving pages")
    told = author.hook("PreToolUse", "Edit")
    assert "critic holds file:docs/ (exclusive)" in told
    assert "moving pages" in told
    critic.server.data("release", resources=["docs/"])
    assert author.hook("PreToolUse", "Edit") == ""


# -- real clients ------------------------------------------------------------------------------


@pytest.fixture
def office(repo: TemporaryRepo, tmp_path: Path) -> Iterator[Office]:
    office = Office(repo, tmp_path)
    yield office
    office.close()
    office.no_errors()


@pytest.mark.timeout(300)  # five sessions of real clients
@pytest.mark.parametrize(("writer", "reader"), PAIRS)
def test_real_clients_play_both_parts_in_two_sessions_each(office: Office, writer: str, reader: str) -> None:
    """Their hooks and their servers know each of the two as one agent, before and after the restart."""
    author, repo = f"{writer}-1", office.repo
    repo.commit("The guide", {"lineclear.toml": TOML.replace("author", author), "docs/guide.md": GUIDE})
    trees = {client: repo.add_worktree(client) for client in (writer, reader)}
    words = {client: office.offer_tools(client, trees[client], "--tools", "all") for client in trees}
    steps: dict[str, list[Step]] = {}

    def session(client: str, name: str, *plays: Step) -> list[str]:
        """What its tools told the model, one after the other."""
        steps[name] = [*plays, say("Done.")]
        office.run(client, name, model, trees[client], words[client])
        return [told.text for told in model.told(name)]

    with running_model(steps) as model:
        wrong = "Instal it.", "Install it."
        denied, made = session(reader, "critic-1", edit("docs/guide.md", *wrong), _propose(SPELT))
        assert NOT_OWNER in denied
        assert f"{author} is its writer." in denied
        session(reader, "critic-2", _propose(NAMED))
        (one, two) = [found["id"] for found in office.line.json("proposal", "list")["proposals"]]
        assert str(one) in made
        early, *_, landed = session(writer, "author-1", _accept(two), _accept(one), *_write(*wrong))
        assert f"lineclear proposal show {one}" in early
        assert model.heard("author-1", f"proposal {one}.")
        assert "landed" in landed or "is on main" in landed
        assert main_guide(repo) == SPELT
        session(writer, "author-2", _accept(two), *_write("Then run it.", "Then run `shop serve`."))
        assert main_guide(repo) == BOTH
        session(reader, "critic-3", shell("echo on"))
        for number in (one, two):
            assert model.heard("critic-3", f"{author} has accepted proposal {number}")
    states = [(found["id"], found["state"], found["author"], found["decided_by"]) for found in _all(office)]
    assert states == [(number, "accepted", f"{reader}-1", author) for number in (one, two)]
    office.line.ok("audit")


def _propose(text: str) -> Step:
    return tool("lineclear", "propose", resource="docs/guide.md", text=text)


def _accept(number: int) -> Step:
    return tool("lineclear", "proposal_accept", number=number)


def _write(old: str, new: str) -> list[Step]:
    commit = shell(f"git commit --quiet --all --message 'Guide: {new.replace('`', '')}'")
    return [edit("docs/guide.md", old, new), commit, tool("lineclear", "land")]


def _all(office: Office) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = office.line.json("proposal", "list", "--state", "all")["proposals"]
    return found
