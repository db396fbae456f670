"""Whole calls, as `serve` answers them, with a far store: round trips, counted on the line.

A verb asks who calls (one), then takes the lock and its facts, and writes (two).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from lineclear.app.log import audit
from lineclear.cli.command_runner import CommandRunner
from lineclear.core.agents import hooks
from lineclear.core.agents.hooks import HookAnswer, HookCall
from lineclear.host.store_outages import Outage
from lineclear.mcp.calls import Reply, VerbCall
from lineclear.store.postgres import wire
from lineclear.store.postgres.engine import PostgresStore
from lineclear.wiring.hooks import HookContext, layout_for, respond
from lineclear.wiring.repo import open_repo, read_settings
from lineclear.wiring.starting import init_repo
from lineclear.wiring.store_pool import StorePool
from tests.integration.postgres.desk import claim
from tests.integration.postgres.slow_line import SlowLine, slow_line
from tests.repository import TemporaryRepo
from tests.world import refused

pytestmark = pytest.mark.postgres

TEAM = '[repo]\nid = "shop"\n'


class Machine:
    """A clone, its line to the store, and what `serve` answers with there."""

    def __init__(self, repo: TemporaryRepo, line: SlowLine) -> None:
        self.line, self.tree = line, repo.add_worktree("ada")
        self.environ = dict(repo.environment)
        self.stores = StorePool()
        self.runner = CommandRunner({**self.environ, "CLAUDE_CODE_SESSION_ID": "s-1"}, cwd=str(self.tree))

    def fire(self, event: str, *, session: str = "s-1", at: Path | None = None, **fields: Any) -> HookAnswer:
        cwd = str(at or self.tree)
        call = HookCall("claude", event, session=session, cwd=cwd, can_tell=True, **fields)
        layout = layout_for(call, self.environ, cwd)
        assert layout is not None
        settings = read_settings(layout, self.environ)
        return respond(HookContext(layout, settings, call, self.environ, stores=self.stores))

    def edit(self, name: str) -> HookAnswer:
        return self.fire(hooks.BEFORE_EDIT, paths=(str(self.tree / name),), tool="Edit")

    def perform(self, verb: str, **given: Any) -> Reply:
        reply = self.runner.perform(verb, given, VerbCall())
        assert not reply.is_refused, reply.text
        return reply

    def trips(self, act: Callable[[], object]) -> int:
        before = self.line.trips
        act()
        return self.line.trips - before

    def close(self) -> None:
        self.runner.close()
        self.stores.close()


@pytest.fixture
def machine(repo: TemporaryRepo, fresh_postgres: Callable[[], str]) -> Iterator[Machine]:
    url = fresh_postgres()
    repo.commit("Team", {"lineclear.toml": TEAM, "a.py": "one\n"})
    init_repo(str(repo.path), repo.environment, url)
    with slow_line(url) as line:
        own = repo.path / ".git/lineclear/local.toml"
        own.write_text(own.read_text().replace(url, line.url))
        made = Machine(repo, line)
        made.fire(hooks.SESSION_START)
        made.perform("claim", resources=["warm.py"])
        made.edit("warm.py")
        yield made
        made.close()


def test_the_events_of_an_edit(machine: Machine) -> None:
    for name, most in (("src/a.py", 3), ("src/b.py", 3), ("src/a.py", 2)):
        assert machine.trips(lambda name=name: machine.edit(name)) <= most  # type: ignore[misc]
        paths = (str(machine.tree / name),)
        assert machine.trips(lambda paths=paths: machine.fire(hooks.AFTER_EDIT, paths=paths)) <= 2  # type: ignore[misc]
        assert machine.trips(lambda paths=paths: machine.fire(hooks.AFTER_READ, paths=paths)) <= 2  # type: ignore[misc]


@pytest.mark.parametrize("event", [hooks.PROMPT, hooks.BEFORE_SHELL, hooks.AFTER_SHELL, hooks.STOP])
def test_a_prompt_a_command_and_a_stop(machine: Machine, event: str) -> None:
    machine.fire(event, call_id="c-1", command="true")
    assert machine.trips(lambda: machine.fire(event, call_id="c-2", command="true")) <= 2


def test_in_a_shared_tree_one_edits_at_a_time_and_what_is_noted_has_the_right_name(
    machine: Machine, repo: TemporaryRepo
) -> None:
    edited: dict[str, Any] = {"at": repo.path, "paths": (str(repo.path / "a.py"),), "tool": "Edit"}
    assert not machine.fire(hooks.BEFORE_EDIT, session="s-2", **edited).is_denied
    refused = machine.fire(hooks.BEFORE_EDIT, session="s-3", **edited)
    assert refused.is_denied
    assert "claude-2 holds file:a.py (exclusive)" in refused.reason
    machine.fire(hooks.AFTER_EDIT, session="s-2", **edited)
    assert not machine.fire(hooks.BEFORE_EDIT, session="s-3", **edited).is_denied
    machine.fire(hooks.AFTER_EDIT, session="s-3", **edited)
    noted = (repo.path / ".git" / "lineclear" / "sessions" / "writes").read_text().splitlines()
    assert [line.split("\t")[1] for line in noted] == ["claude-2", "claude-3"]


def test_an_edit_is_announced_once(machine: Machine) -> None:
    machine.edit("src/a.py")
    machine.edit("src/a.py")
    shown = machine.perform("who", resource="src/a.py").content["data"]
    assert [(claim["agent"], claim["mode"]) for claim in shown["holders"]] == [("claude-1", "intent")]


@pytest.mark.parametrize(
    ("verb", "first", "second", "trips"),
    [
        ("claim", {"resources": ["x.py"]}, {"resources": ["y.py"]}, 3),
        ("claim", {"resources": ["x.py"]}, {"resources": ["x.py"]}, 3),
        ("say", {"text": "one"}, {"text": "two"}, 3),
        ("task next", {}, {}, 4),
        ("value put", {"key": "k", "json_text": "1"}, {"key": "k", "json_text": "2"}, 3),
        ("value get", {"key": "k"}, {"key": "k"}, 2),
        ("status", {}, {}, 3),
        ("who", {"resource": "x.py"}, {"resource": "y.py"}, 2),
        ("inbox", {}, {}, 3),
        ("task list", {}, {}, 2),
    ],
    ids=["claim", "renewal", "say", "task next", "put", "get", "status", "who", "inbox", "task list"],
)
def test_a_verb(
    machine: Machine, verb: str, first: dict[str, Any], second: dict[str, Any], trips: int
) -> None:
    machine.perform("value put", key="k", json_text="0")
    for title in ("One", "Two", "Three"):
        machine.perform("task add", title=title)
    machine.perform(verb, **first)
    assert machine.trips(lambda: machine.perform(verb, **second)) == trips


def test_a_release(machine: Machine) -> None:
    machine.perform("claim", resources=["x.py", "y.py"])
    assert machine.trips(lambda: machine.perform("release", resources=["y.py"])) == 3


def test_the_numbers_that_are_told_are_the_true_ones(machine: Machine, repo: TemporaryRepo) -> None:
    told = [machine.perform("claim", resources=[f"{number}.py"]) for number in range(3)]
    fences = [reply.content["data"]["claims"][0]["fence"] for reply in told]
    assert fences == list(range(fences[0], fences[0] + 3))
    assert all(f"fence {fence}." in reply.text for fence, reply in zip(fences, told, strict=True))
    opened = open_repo(str(repo.path), machine.environ)
    head = opened.store.read(lambda view: view.head)
    assert head == fences[-1]
    assert opened.presence.seen("claude-1") <= head
    assert audit(opened.store)["findings"] == []
    opened.close()


def test_a_connection_is_kept_between_calls(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lineclear.cli.command_runner.FRESH_S", 0.0)
    machine.perform("status")
    before = machine.line.connections
    assert machine.trips(lambda: machine.perform("claim", resources=["z.py"])) == 3
    assert machine.line.connections == before


def test_what_refuses_leaves_nothing_of_the_call_behind(machine: Machine, tmp_path: Path) -> None:
    store = PostgresStore(machine.line.url, "shop")
    claim(store, "taken.py", "bob")
    before = store.read(lambda view: view.head)
    reply = machine.runner.perform("claim", {"resources": ["free.py", "taken.py"]}, VerbCall())
    assert reply.is_refused
    assert reply.content["error"]["code"] == "claim.held"
    assert store.read(lambda view: view.head) == before
    store.close()


def test_a_cut_machine_waits_no_longer_through_serve_than_alone(
    machine: Machine, repo: TemporaryRepo, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`serve` has an open connection and a process alone has none: both say the same after one time limit."""
    monkeypatch.setattr(wire, "REACHED_WITHIN_S", 1)
    monkeypatch.setitem(wire.DEFAULTS, "connect_timeout", 1)
    machine.line.freeze()
    before = machine.line.connections
    served = machine.runner.perform("claim", {"resources": ["c.py"]}, VerbCall(key="k-1"))
    assert served.is_refused
    assert "no answer within 1 s" in served.text
    assert machine.line.connections == before  # tried once, on the connection it had
    with refused("store.unreachable") as alone:
        open_repo(str(repo.path), machine.environ)
    said = served.content["error"]
    for refusal in (said, alone.value.facts):
        assert refusal["path"].startswith("postgresql://")
        assert refusal["since_at"] == said["since_at"]  # one outage, whoever met it first
    assert f"has not answered since {said['since_at']}" in served.text
    machine.line.repair()
    machine.perform("claim", resources=["c.py"])
    assert not Outage(str(repo.path / ".git/lineclear")).is_fresh()  # the next outage has its own beginning
