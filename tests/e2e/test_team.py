"""Two machines, one PostgreSQL, one remote; the network between them and the store is slow, cut, and back.

Each machine is a clone with a line of its own to the server: real sockets, real processes, real git.
"""

from __future__ import annotations

import json
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.commandline import CommandLine
from tests.integration.postgres.slow_line import SlowLine, slow_line
from tests.repository import TemporaryRepo
from tests.waiting import until, until_there

pytestmark = pytest.mark.postgres

SETTINGS = """[repo]
id = "shop"
[queue]
remote = "origin"
[[strategy]]
match = "NOTES.md"
strategy = "single-writer"
owner = "ada"
[[strategy]]
match = "LICENSE"
strategy = "read-only"
"""
AWAY = "lineclear: the shared store is out of reach."
BACK = "lineclear: the shared store is back"
ADA = {"LINECLEAR_AGENT": "ada"}
LEAST_RTT_S = 0.1


class Machine:
    """A clone with its own line to the store, a worktree of `ada`, and the gates of git."""

    def __init__(self, clone: TemporaryRepo, line: SlowLine) -> None:
        self.clone, self.network = clone, line
        self.line = CommandLine(clone.path, {**clone.environment, "LINECLEAR_STORE_URL": line.url})

    @property
    def state(self) -> Path:
        return self.clone.path / ".git" / "lineclear"

    def hook(self, path: Path, *, session: str = "s1", event: str = "PreToolUse") -> tuple[str, str]:
        """(the reason of a denial, the context) that the model reads."""
        given = {"file_path": str(path), "old_string": "one", "new_string": "two"}
        data = {"session_id": session, "cwd": str(path.parent), "tool_name": "Edit", "tool_input": given}
        answer = self.line.run("hook", "claude", event, stdin=json.dumps(data | {"tool_use_id": "t1"}))
        assert answer.code == 0, answer
        found = json.loads(answer.out).get("hookSpecificOutput", {}) if answer.out else {}
        return str(found.get("permissionDecisionReason", "")), str(found.get("additionalContext", ""))

    def git(
        self, *words: str, at: Path, env: dict[str, str] | None = None
    ) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["git", *words], cwd=at, env={**self.line.environment, **(env or {})}, capture_output=True,
            text=True, check=False,
        )  # fmt: skip

    def out_of_reach(self, *words: str) -> dict[str, Any]:
        """What a verb is refused with while the network is cut."""
        error = self.line.refused(*words, code=1)
        assert error["code"] == "store.unreachable", error
        assert error["message"].startswith("The shared store is out of reach; nothing was changed.")
        assert error["next"].startswith("lineclear doctor")
        return error

    def back(self) -> None:
        self.network.repair()
        (self.state / "store-away").unlink(missing_ok=True)  # as if the few seconds were over


class Team:
    def __init__(self, left: Machine, right: Machine, remote: Path) -> None:
        self.left, self.right, self.remote = left, right, remote

    def main(self) -> str:
        return self.left.clone.git("ls-remote", str(self.remote), "refs/heads/main").split()[0]

    def on_main(self) -> list[str]:
        self.left.clone.git("fetch", "-q", "origin")
        return self.left.clone.git("ls-tree", "--name-only", "-r", "origin/main").split()

    def landings(self) -> list[str]:
        events = self.right.line.json("log", "--kind", "CandidateLanded", "--limit", "100")["events"]
        return [event["subject"] for event in events]

    def is_sound(self) -> None:
        assert self.right.line.json("audit")["findings"] == []


@pytest.fixture
def team(repo: TemporaryRepo, tmp_path: Path, fresh_postgres: Callable[[], str]) -> Iterator[Team]:
    yield from make_team(repo, tmp_path, fresh_postgres(), SETTINGS)


def make_team(repo: TemporaryRepo, tmp_path: Path, url: str, settings: str) -> Iterator[Team]:
    files = {
        "a.py": "one\n",
        "logo.png": "1",
        "NOTES.md": "one\n",
        "LICENSE": "free\n",
        ".gitignore": "*.sh\n",
    }
    repo.commit("Base", {"lineclear.toml": settings, **files})
    remote = tmp_path / "remote.git"
    repo.git("clone", "-q", "--bare", str(repo.path), str(remote))
    machines = []
    with slow_line(url) as near, slow_line(url) as far:
        for name, line in (("left", near), ("right", far)):
            repo.git("clone", "-q", str(remote), str(tmp_path / name))
            machine = Machine(TemporaryRepo(tmp_path / name, repo.environment), line)
            machine.line.ok("init", "--store", line.url)
            machine.line.ok("trust")
            machines.append(machine)
        try:
            yield Team(machines[0], machines[1], remote)
        finally:
            for machine in machines:
                machine.line.end_all()


def work(machine: Machine, branch: str, files: dict[str, str]) -> None:
    clone = machine.clone
    clone.git("switch", "-q", "-c", branch, "main")
    clone.commit(f"Work on {branch}", files)
    clone.git("switch", "-q", "main")


# -- slow -----------------------------------------------------------------------------------------


@pytest.mark.serial
def test_with_50_ms_each_way_a_hook_through_serve_waits_for_its_round_trips_and_nothing_else(
    team: Team,
) -> None:
    from lineclear.cli.server_client import ask
    from lineclear.host.server_address import read_address

    left = team.left
    tree = left.clone.add_worktree("ada")
    left.line.start("serve")
    until(lambda: read_address(str(left.state)) is not None)
    door = read_address(str(left.state))
    assert door is not None
    left.network._delay_s = LEAST_RTT_S / 2

    def fire(number: int) -> float:
        given = {"file_path": str(tree / f"{number}.py"), "old_string": "a", "new_string": "b"}
        call = {"session_id": "s1", "cwd": str(tree), "tool_name": "Edit", "tool_input": given}
        started = time.monotonic()
        ask(door, "POST", "/hook/claude/PreToolUse", json.dumps(call).encode())
        return time.monotonic() - started

    took_s = [fire(number) for number in range(12)]
    # tests/integration/postgres/test_team_trips.py counts them.
    assert 2 * LEAST_RTT_S < min(took_s) < 11 * LEAST_RTT_S, took_s
    holders = team.right.line.json("who", "3.py")["holders"]
    assert [(claim["agent"], claim["mode"]) for claim in holders] == [("claude-1", "intent")]


@pytest.mark.slow
def test_with_50_ms_each_way_waiting_and_landing_work(team: Team) -> None:
    left, right = team.left, team.right
    work(left, "feature", {"f.py": "1\n"})
    for machine in (left, right):
        machine.network._delay_s = LEAST_RTT_S / 2
    right.line.ok("claim", "a.py", "--as", "ben")
    waiting = left.line.start("claim", "a.py", "--as", "ada", "--wait", "60s", "--json")
    right.line.until_waiting("ada")
    right.line.ok("release", "a.py", "--as", "ben")
    assert json.loads(waiting.line())["data"]["claims"][0]["resource"] == "file:a.py"
    left.line.ok("land", "feature")
    assert "f.py" in team.on_main()
    assert team.landings() == ["Q-1"]
    team.is_sound()


# -- cut ------------------------------------------------------------------------------------------


def test_while_it_is_cut_own_files_go_on_and_the_agent_is_told_once(team: Team) -> None:
    left = team.left
    tree = left.clone.add_worktree("ada")
    assert left.hook(tree / "a.py") == ("", "")
    left.network.cut()
    reason, context = left.hook(tree / "a.py")
    assert reason == ""
    assert context.startswith(AWAY)
    assert left.hook(tree / "b.py") == ("", "")
    assert left.hook(tree / "b.py", event="PostToolUse") == ("", "")
    left.back()
    assert left.hook(tree / "a.py")[1].startswith(BACK)
    assert left.hook(tree / "a.py") == ("", "")
    assert left.line.json("who", "a.py")["holders"][0]["agent"] == "claude-1"


def test_what_was_edited_while_it_was_cut_is_announced_when_it_is_back(team: Team) -> None:
    left = team.left
    tree = left.clone.add_worktree("ada")
    team.right.line.ok("claim", "b.py", "--mode", "intent", "--as", "ben")
    team.right.line.ok("claim", "held.py", "--as", "ben")
    left.hook(tree / "a.py")
    left.network.cut()
    for name in ("b.py", "c.py", "held.py"):
        assert left.hook(tree / name)[0] == ""
    left.back()
    context = left.hook(tree / "a.py", event="PostToolUse")[1]  # any event of the session, not the next edit
    held = {name: left.line.json("who", name)["holders"] for name in ("b.py", "c.py", "held.py")}
    agents = {name: [(one["agent"], one["mode"]) for one in found] for name, found in held.items()}
    assert agents == {
        "b.py": [("ben", "intent"), ("claude-1", "intent")],
        "c.py": [("claude-1", "intent")],
        "held.py": [("ben", "exclusive")],
    }
    assert "claude-1" in team.right.line.json("inbox", "--as", "ben")["messages"][0]["text"]
    # And the agent learns of both, even of the file that it cannot claim.
    assert "ben is changing file:b.py" in context
    assert "ben holds file:held.py (exclusive)" in context
    assert left.line.json("inbox", "--as", "claude-1")["messages"] == []
    assert left.hook(tree / "a.py", event="PostToolUse")[1] == ""


def test_while_it_is_cut_what_exists_once_is_not_touched(team: Team) -> None:
    left = team.left
    tree = left.clone.add_worktree("ada")
    left.network.cut()
    reason, _ = left.hook(tree / "logo.png")
    assert reason == (
        "Cannot write file:logo.png (locked): the shared store is out of reach.\n"
        "Its holder is unknown until the store is back. Continue with other files.\n"
        "Next: run `lineclear doctor`."
    )
    assert "Cannot write file:NOTES.md (single-writer)" in left.hook(tree / "NOTES.md")[0]
    assert "read-only" in left.hook(tree / "LICENSE")[0]


def test_while_it_is_cut_git_goes_on_for_copies_and_stops_for_what_exists_once(team: Team) -> None:
    left = team.left
    left.line.ok("setup", "git")
    tree = left.clone.add_worktree("ada")
    left.network.cut()
    (tree / "a.py").write_text("two\n")
    done = left.git("commit", "-qam", "mine", at=tree, env=ADA)
    assert done.returncode == 0, done.stderr
    assert "the shared store is out of reach. Git continues with your local copy." in done.stderr
    (tree / "logo.png").write_text("2")
    stopped = left.git("commit", "-qam", "logo", at=tree, env=ADA)
    assert stopped.returncode == 1
    assert "Cannot write file:logo.png (locked): the shared store is out of reach" in stopped.stderr
    person = left.git("commit", "-qam", "logo", at=tree)
    assert person.returncode == 0
    assert "You are a person, so git continues." in person.stderr
    (tree / "NOTES.md").write_text("two\n")
    assert left.git("commit", "-qam", "notes", at=tree, env=ADA).returncode == 0  # its owner, by the settings


def test_a_repository_that_asks_to_stop_stops(
    repo: TemporaryRepo, tmp_path: Path, fresh_postgres: Callable[[], str]
) -> None:
    for team in make_team(repo, tmp_path, fresh_postgres(), SETTINGS + '[hooks]\non_error = "closed"\n'):
        left = team.left
        left.line.ok("setup", "git")
        tree = left.clone.add_worktree("ada")
        left.network.cut()
        assert "lineclear could not check this edit" in left.hook(tree / "a.py")[0]
        (tree / "a.py").write_text("two\n")
        stopped = left.git("commit", "-qam", "mine", at=tree, env=ADA)
        assert stopped.returncode == 1
        assert "The shared store is out of reach" in stopped.stderr


def test_while_it_is_cut_whatever_needs_agreement_is_refused_and_nothing_is_half_done(team: Team) -> None:
    left, right = team.left, team.right
    right.line.ok("task", "add", "Login form")
    right.line.ok("value", "put", "port", "1")
    work(left, "feature", {"f.py": "1\n"})
    before, head = team.main(), right.line.json("status")["head"]
    left.network.cut()
    for words in (
        ("claim", "a.py", "--as", "ada"),
        ("claim", "a.py", "--as", "ada", "--wait", "5s"),
        ("task", "next", "--as", "ada"),
        ("value", "put", "port", "2", "--as", "ada"),
        ("say", "hello", "--as", "ada"),
        ("land", "feature"),
        ("status",),
    ):
        left.out_of_reach(*words)
    assert right.line.json("status")["head"] == head
    assert team.main() == before
    left.back()
    assert left.line.json("claim", "a.py", "--as", "ada")["claims"][0]["resource"] == "file:a.py"
    team.is_sound()


@pytest.mark.slow
@pytest.mark.serial
def test_a_network_that_swallows_everything_holds_an_agent_up_once_and_briefly(team: Team) -> None:
    left = team.left
    tree = left.clone.add_worktree("ada")
    left.hook(tree / "a.py")
    left.network.freeze()
    started = time.monotonic()
    assert left.hook(tree / "a.py")[1].startswith(AWAY)
    first_s = time.monotonic() - started
    started = time.monotonic()
    assert left.hook(tree / "b.py") == ("", "")
    second_s = time.monotonic() - started
    # Two seconds of patience and the start of a process; then nobody tries for five seconds.
    assert 1.5 < first_s < 10
    assert second_s < 2
    left.back()
    assert left.hook(tree / "a.py")[1].startswith(BACK)


# -- leaving --------------------------------------------------------------------------------------


def test_uninstall_takes_one_clone_out_and_says_what_stays_in_the_shared_store(team: Team) -> None:
    left, right = team.left, team.right
    trees = {}
    for machine, name in ((left, "ada"), (right, "ben")):
        trees[name] = Path(machine.line.json("worktree", "add", name, "--agent", name)["path"])
        (trees[name] / "new.txt").write_text(name)
        machine.line.ok("claim", f"{name}.py", "--as", name)
        machine.line.ok("task", "add", f"Part of {name}")
        machine.line.ok("task", "next", "--as", name)
    here = right.clone.git("for-each-ref"), right.line.ok("worktree", "list").out.count("ben")
    stays = (
        "the team's PostgreSQL store: its tasks, messages and log belong to all clones; agents of this clone "
    )
    stays += "hold file:ada.py, T-1 until their leases end"
    assert f"would keep {stays}" in left.line.ok("uninstall").out
    assert f"kept {stays}" in left.line.ok("uninstall", "--yes").out
    assert not left.state.exists()
    assert left.clone.git("show", "kept/ada:new.txt") == "ada"
    # The other clone has all that it had, and the log says what happened.
    assert (trees["ada"].exists(), (trees["ben"] / "new.txt").read_text()) == (False, "ben")
    assert (right.clone.git("for-each-ref"), right.line.ok("worktree", "list").out.count("ben")) == here
    facts = right.line.json("status")
    assert [claim["resource"] for claim in facts["claims"]] == ["file:ada.py", "file:ben.py"]
    assert len(facts["tasks"]["taken"]) == 2
    right.line.ok("release", "ben.py", "--as", "ben")
    team.is_sound()
    # And the clone can come back.
    left.line.ok("init", "--store", left.network.url)
    assert len(left.line.json("status")["tasks"]["taken"]) == 2


# -- back -----------------------------------------------------------------------------------------


@pytest.mark.slow
def test_who_waits_for_a_claim_gets_it_after_a_cut_that_is_shorter(team: Team) -> None:
    left, right = team.left, team.right
    right.line.ok("claim", "a.py", "--as", "ben")
    waiting = left.line.start("claim", "a.py", "--as", "ada", "--wait", "60s", "--json")
    right.line.until_waiting("ada")
    left.network.cut()
    right.line.ok("release", "a.py", "--as", "ben")
    left.network.repair()
    answer = json.loads(waiting.line())
    assert answer["data"]["claims"][0]["resource"] == "file:a.py"
    assert waiting.wait() == 0
    assert right.line.holders("a.py") == ["ada"]


@pytest.mark.slow
def test_who_waits_for_a_task_or_a_message_goes_on_after_a_cut(team: Team) -> None:
    left, right = team.left, team.right
    left.line.ok("say", "hello", "--as", "ada")  # ada is known, and not waiting for its first words
    before = left.network.connections
    waiting = [
        left.line.start("task", "next", "--as", "ada", "--wait", "60s", "--json"),
        left.line.start("inbox", "--as", "bea", "--wait", "60s", "--json"),
    ]
    # Each has its connection and its ear, and has looked at least once.
    until(lambda: left.network.connections >= before + 4)
    asked = left.network.trips
    until(lambda: left.network.trips > asked + 12)
    left.network.cut()
    right.line.ok("task", "add", "Login form")
    right.line.ok("say", "go", "--to", "bea", "--as", "ben")
    left.network.repair()
    task, message = (json.loads(one.line())["data"] for one in waiting)
    assert task["task"]["id"] == "T-1"
    assert message["messages"][0]["text"] == "go"


@pytest.mark.slow
def test_serve_goes_on_by_itself_when_the_network_is_back(team: Team) -> None:
    left, right = team.left, team.right
    left.line.start("serve")
    until_there(left.state / "serve" / "door")
    assert left.line.json("claim", "a.py", "--as", "ada")["claims"]
    left.network.cut()
    # The first one loses the connection that was open, and may have been heard; the next finds none.
    assert left.line.refused("claim", "b.py", "--as", "ada", code=1)["code"].startswith("store.")
    left.out_of_reach("claim", "b.py", "--as", "ada")
    left.network.repair()
    assert left.line.json("claim", "b.py", "--as", "ada")["claims"]
    # What happens in the background goes on, too: a lease that ends is told.
    left.line.ok("claim", "c.py", "--as", "ada", "--ttl", "1s")
    ended = right.line.start("log", "--follow", "--kind", "ClaimExpired", "--json")
    assert json.loads(ended.line())["data"]["subject"] == "file:c.py"


@pytest.mark.slow
def test_an_agent_that_a_supervisor_started_works_on_and_its_work_lands(team: Team, tmp_path: Path) -> None:
    left = team.left
    left.line.ok("task", "add", "Write it")
    working = f"{pausing('agent', tmp_path)}; echo 1 > new.txt; git add new.txt; git commit -qm New"
    running = left.line.start("run", "-n", "1", "--", "sh", "-c", working)
    until_there(tmp_path / "agent")
    until(lambda: bool(left.line.json("status")["runs"]))
    left.network.cut()
    left.out_of_reach("status")
    left.network.repair()
    let_go("agent", tmp_path)
    assert running.wait() == 0
    assert "new.txt" in team.on_main()
    team.is_sound()


# -- leases ---------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_claim_of_a_machine_that_is_cut_off_ends_and_work_under_it_does_not_land(team: Team) -> None:
    left, right = team.left, team.right
    left.line.ok("worktree", "add", "ada")
    tree = Path(left.line.json("worktree", "list")["worktrees"][-1]["path"])
    left.line.ok("claim", "logo.png", "--as", "ada", "--ttl", "2s")
    left.network.cut()
    # By the server's clock the lease ends; the other machine is granted it.
    granted = right.line.json("claim", "logo.png", "--as", "ben", "--wait", "50s")
    assert granted["claims"][0]["resource"] == "file:logo.png"
    # The one that is cut off cannot know, so its own gate is closed; somebody goes round it.
    assert "Cannot write file:logo.png (locked): the shared store" in left.hook(tree / "logo.png")[0]
    (tree / "logo.png").write_text("ada's")
    assert left.git("commit", "-qam", "logo", "--no-verify", at=tree, env=ADA).returncode == 0
    before = team.main()
    left.back()
    landed = left.line.at(tree).run("land", "--as", "ada", "--json")
    assert landed.code != 0, landed
    assert "Cannot write file:logo.png: another agent holds it" in landed.data["why"]
    assert team.main() == before
    ended = right.line.json("log", "--kind", "ClaimExpired", "--limit", "10")["events"]
    assert [event["subject"] for event in ended] == ["file:logo.png"]
    team.is_sound()


def test_a_process_of_another_clone_on_the_same_host_is_not_taken_for_dead(
    team: Team, tmp_path: Path
) -> None:
    left, right = team.left, team.right
    holding = left.line.start("with", "logo.png", "--as", "ada", "--", "sh", "-c", pausing("held", tmp_path))
    until_there(tmp_path / "held")
    assert right.line.refused("claim", "logo.png", "--as", "ben", code=3)["holder"] == "ada"
    let_go("held", tmp_path)
    assert holding.wait() == 0
    assert right.line.json("claim", "logo.png", "--as", "ben")["claims"]


# -- landing --------------------------------------------------------------------------------------


def pausing(name: str, at: Path) -> str:
    """A shell command that says that it is there, and goes on when it is told to."""
    return f"echo here > {at}/{name}; while [ ! -e {at}/{name}.go ]; do sleep 0.05; done"


def let_go(name: str, at: Path) -> None:
    (at / f"{name}.go").write_text("go\n")


@pytest.mark.slow
def test_a_landing_that_is_cut_off_between_the_checks_and_the_push_lands_once_when_it_is_back(
    repo: TemporaryRepo, tmp_path: Path, fresh_postgres: Callable[[], str]
) -> None:
    settings = f'{SETTINGS}[checks]\ngate = "{pausing("check", tmp_path)}"\n'
    for team in make_team(repo, tmp_path, fresh_postgres(), settings):
        left = team.left
        work(left, "feature", {"f.py": "1\n"})
        before = team.main()
        landing = left.line.start("land", "feature", "--wait", "50s", "--json")
        until_there(tmp_path / "check")
        left.network.cut()
        let_go("check", tmp_path)
        assert landing.wait() != 0
        assert team.main() == before
        left.back()
        assert left.line.run("queue", "run", "--once").code == 0
        assert "f.py" in team.on_main()
        assert team.landings() == ["Q-1"]
        team.is_sound()


@pytest.mark.slow
def test_a_landing_that_is_cut_off_between_the_push_and_the_record_is_put_right(
    repo: TemporaryRepo, tmp_path: Path, fresh_postgres: Callable[[], str]
) -> None:
    settings = f'{SETTINGS}[checks]\ngate = "true"\n'
    for team in make_team(repo, tmp_path, fresh_postgres(), settings):
        left, right = team.left, team.right
        hook = team.remote / "hooks" / "post-receive"
        if_main = f'[ "$ref" != refs/heads/main ] || {{ {pausing("push", tmp_path)}; }}'
        hook.write_text(f"#!/bin/sh\nwhile read old new ref; do {if_main}; done\n")
        hook.chmod(0o755)
        work(left, "feature", {"f.py": "1\n"})
        landing = left.line.start("land", "feature", "--wait", "50s", "--json")
        until_there(tmp_path / "push")
        left.network.cut()
        let_go("push", tmp_path)
        assert landing.wait() != 0
        assert "f.py" in team.on_main()
        assert team.landings() == []  # on main, and nobody has written it down
        pushed = team.main()
        left.back()
        assert left.line.run("queue", "run", "--once").code == 0
        assert team.landings() == ["Q-1"]
        assert team.main() == pushed
        # The other machine builds on it.
        work(right, "other", {"o.py": "1\n"})
        assert right.line.run("land", "other", "--wait", "50s").code == 0
        left.clone.git("fetch", "-q", "origin")
        left.clone.git("merge-base", "--is-ancestor", pushed, "origin/main")
        assert set(team.on_main()) >= {"f.py", "o.py"}
        team.is_sound()
