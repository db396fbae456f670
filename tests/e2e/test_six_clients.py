"""Six real clients, and what went wrong with them: what each did, and what its model received.

What a model received is read from the scripted server's log of requests. One run shows several things at
once: a start of a client costs seconds. Messages: test_message_delivery.py.
"""

from __future__ import annotations

import json
import re
import signal
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from lineclear.core.words.agent_rules import HOOKS_CLAIM, IN_OWN_WORKTREE, editing_rules
from tests.clients_server import Asked, Fault, delegate, edit, read, running_model, say, shell, tool, write
from tests.e2e.agents import PATIENCE_S, Studio, worker_settings
from tests.e2e.commandline import CommandLine
from tests.repository import TemporaryRepo
from tests.waiting import until

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]

CLIENTS = ["claude", "codex", "copilot", "gemini", "qwen", "opencode"]
PAIRS = [("claude", "codex"), ("copilot", "gemini"), ("qwen", "opencode")]
ABOUT_CLAIMING = r"lineclear claim|claim a file|call claim|edit freely|hooks claim|--mode "
# What is locked must be claimed by everybody, and what a tool is called is no order.
OTHER_ORDERS = (
    "Locked; before you change one of these, run `lineclear claim PATH",
    "The tools are the commands",
)
Open = Callable[..., Studio]
MARKED = "<<<<<<< main\nx = 1\n=======\nx = 2\n>>>>>>> mine\n"


@pytest.fixture
def open_studio(repo: TemporaryRepo, tmp_path: Path) -> Iterator[Open]:
    opened: list[Studio] = []

    def open_with(*clients: str) -> Studio:
        opened.append(Studio(repo, tmp_path, *clients))
        return opened[-1]

    yield open_with
    for studio in opened:
        studio.close()


@pytest.mark.parametrize("client", CLIENTS)
def test_conflict_markers_land_by_no_door_and_the_landing_ends_the_task(
    client: str, repo: TemporaryRepo, open_studio: Open
) -> None:
    """As in a second attempt, which begins with markers in its tree."""
    repo.commit("Begin", {"a.py": "x = 0\n", "b.py": "y = 0\n"})
    studio = open_studio(client)
    line, me, program = studio.line, f"{client}-1", studio.program
    line.ok("setup", "git")
    line.ok("task", "add", "Settle x")
    line.ok("task", "next", "--as", me)
    tree = Path(line.json("worktree", "add", "--agent", me, "--task", "T-1")["path"])
    (tree / "a.py").write_text(MARKED)
    commit = "git commit --quiet -am"
    steps = [
        shell(f"{program} claim a.py"),
        shell(f"sed -i s/0/1/ b.py; {commit} first; git log -1 --format=%s"),
        shell(f"{commit} second --no-verify; {program} check"),
        shell(f"{program} land"),
        shell(f"echo 'x = 2' > a.py; {commit} third"),
        shell(f"{program} land"),
        say("Done."),
    ]
    main = repo.git("rev-parse", "main")
    landed = []

    def look(asked: Asked) -> None:
        if asked.step == 4:
            landed.append(repo.git("rev-parse", "main") != main)
            assert [row["mode"] for row in line.json("who", "a.py")["holders"]] == ["intent"]

    with running_model({"ada": steps}) as model:
        model.on_asked = look
        studio.run(client, "ada", model, tree)
        claimed, first, checked, refused, _, ended = [told.text for told in model.told("ada")]
    assert "file:a.py is yours (intent)" in claimed, claimed
    # Gemini CLI switches git's hooks off.
    assert ("a.py adds a conflict marker at line 1." in first) == (client != "gemini"), first
    assert "a.py adds a conflict marker at line 1." in checked, checked
    assert "it adds conflict markers: a.py at line 1." in refused, refused
    assert not any(landed)
    assert "T-1 is merged." in ended, ended
    assert repo.git("show", "main:a.py") == "x = 2"
    assert line.json("task", "show", "T-1")["state"] == "merged"
    studio.no_errors()


@pytest.mark.parametrize("pair", PAIRS)
def test_who_holds_a_file_is_told_what_the_command_of_another_did_to_it(
    pair: tuple[str, str], repo: TemporaryRepo, open_studio: Open
) -> None:
    """Two in one tree; each holds a file, and each takes back what the other has changed."""
    repo.commit("Begin", {f"{client}.ini": "x = 1\n" for client in pair})
    studio = open_studio(*pair)
    steps = {
        me: [
            shell(f"{studio.program} claim {me}.ini --mode exclusive --ttl 10m"),
            read(f"{repo.path}/{me}.ini"),
            edit(f"{repo.path}/{me}.ini", "x = 1", "x = 2"),
            shell(f"git checkout -- {other}.ini"),
            shell("echo on"),
            tool("lineclear", "claim", resources=[f"value:{me}"], mode="exclusive"),
            say("Done."),
        ]
        for me, other in (pair, pair[::-1])
    }
    first, second = pair
    reached = {(client, step): threading.Event() for client in pair for step in (3, 4)}
    # One command after the other: what two change at the same time is nobody's for sure.
    waits = {(first, 3): (second, 3), (second, 3): (first, 4), (first, 4): (second, 4)}

    def meet(asked: Asked) -> None:
        at = (asked.agent, asked.step)
        if at in reached:
            reached[at].set()
            assert reached[waits.get(at, at)].wait(PATIENCE_S)

    with running_model(steps) as model:
        model.on_asked = meet
        for process in [studio.start(client, client, model) for client in pair]:
            assert process.wait(PATIENCE_S) == 0, [studio.output(client) for client in pair]
        for me, other in (pair, pair[::-1]):
            assert model.heard(me, f"file:{me}.ini is yours (exclusive)"), studio.output(me)
            assert model.heard(me, "your command changed files that you may not change"), studio.output(me)
            assert model.heard(me, f"{other}-1 holds file:{other}.ini"), studio.output(me)
            told = f"A command of {other}-1 changed file:{me}.ini, which you hold exclusively"
            assert model.heard(me, told), studio.output(me)
            # A claim by tool and a claim in the shell are one agent's.
            assert studio.line.holders(f"value:{me}") == studio.line.holders(f"{me}.ini") == [f"{me}-1"]
    studio.no_errors()


# Gemini CLI says nothing in its hooks that would tell its sub-agents apart; Codex offers none by default.
@pytest.mark.parametrize("client", ["claude", "copilot", "qwen", "opencode"])
def test_a_sub_agent_does_not_overwrite_its_sibling_and_its_claim_ends_with_it(
    client: str, repo: TemporaryRepo, open_studio: Open
) -> None:
    """Most clients run one sub-agent after the other; test_hooks_landing.py has two at once."""
    repo.commit("Begin", {"shared.py": "one = 1\ntwo = 2\n", "b.py": "b = 1\n"})
    studio = open_studio(client)
    tree = Path(studio.line.json("worktree", "add", "--agent", f"{client}-1")["path"])
    # The shell of the others knows which sub-agent runs a command.
    name = " --as $(cat me)" if client in ("claude", "copilot") else ""
    steps = {
        "ada": [delegate("one"), delegate("two"), say("Done.")],
        "one": [
            read(f"{tree}/shared.py"),
            edit(f"{tree}/shared.py", "one = 1", "one = 7"),
            shell(f"{studio.program} claim b.py --mode exclusive{name}"),
            read(f"{tree}/b.py"),
            edit(f"{tree}/b.py", "b = 1", "b = 7"),
            say("One."),
        ],
        "two": [
            write(f"{tree}/shared.py", "mine\n"),
            read(f"{tree}/b.py"),
            edit(f"{tree}/b.py", "b = 7", "b = 8"),
            say("Two."),
        ],
    }
    is_done = threading.Event()
    holders = []

    def take_turns(asked: Asked) -> None:
        if asked.agent == "one" and asked.step == 2:
            told = json.dumps(asked.body).partition("claim PATH --mode exclusive --as ")[2]
            (tree / "me").write_text(told.partition("`")[0])
        if asked.agent == "one" and asked.step == 5:
            holders.extend(studio.line.holders("b.py"))
            is_done.set()
        if asked.agent == "two":
            assert is_done.wait(PATIENCE_S)

    with running_model(steps) as model:
        model.on_asked = take_turns
        studio.run(client, "ada", model, tree)
        assert model.heard("one", "file:b.py is yours (exclusive)"), studio.output("ada")
        written, _, edited = [told.text for told in model.told("two")]
    # Some clients refuse it before they ask us.
    assert "holds content that you have not read" in written or "has not been read" in written, written
    assert len(holders) == 1
    assert holders[0] != f"{client}-1"
    assert (tree / "shared.py").read_text() == "one = 7\ntwo = 2\n"
    # opencode does not tell when a sub-agent ends, so its claim lasts.
    is_told = client != "opencode"
    assert ("Cannot claim file:b.py" in edited) is not is_told, edited
    assert (tree / "b.py").read_text() == ("b = 8\n" if is_told else "b = 7\n")
    left = [one["agent"] for one in studio.line.json("who", "b.py")["holders"] if one["mode"] == "exclusive"]
    assert left == ([] if is_told else holders)
    studio.no_errors()


def test_an_expired_login_costs_no_attempt_and_no_order_contradicts_another(
    repo: TemporaryRepo, open_studio: Open
) -> None:
    """Under `run`, with hooks, tools and AGENTS.md; the login has expired before the first answer."""
    repo.commit("Begin", {f"{client}.txt": "x = 1\n" for client in CLIENTS})
    studio = open_studio(*CLIENTS)
    line = studio.line
    line.ok("setup", "conventions")
    repo.git("add", "AGENTS.md", "GEMINI.md")
    repo.git("commit", "--quiet", "--message=rules")
    for client in CLIENTS:
        line.ok("task", "add", f"Do it with {client}", "--needs", client)
    steps = {
        client: [
            shell(f"git mv {client}.txt {client}.md"),
            shell("git commit --quiet -m moved"),
            say("Done."),
        ]
        for client in CLIENTS
    }
    with running_model(steps, {client: {0: Fault(401)} for client in CLIENTS}) as model:
        workers = "".join(worker_settings(studio.client(client, client, model), line) for client in CLIENTS)
        (repo.path / ".git/lineclear/local.toml").write_text(workers)
        running = line.start("run", "-n", "6", "--json")
        until(lambda: len(ends(line)) == len(CLIENTS), lambda: ends(line), PATIENCE_S)
        running.process.send_signal(signal.SIGINT)
        assert running.wait() == 130
        # Those that were tried again were interrupted with `run`.
        assert {hows[0] for hows in ends(line).values()} == {"login"}
        assert {how for hows in ends(line).values() for how in hows} <= {"login", "interrupted"}
        assert attempts(line) == {("open", 0)}
        model.faults = {}
        model.asked.clear()
        report = line.json("run", "-n", "6")
        asked = {request.agent: request.body for request in reversed(model.asked)}
    assert len(report["landed"]) == len(CLIENTS), report
    assert {hows[-1] for hows in ends(line).values()} == {"done"}
    assert attempts(line) == {("merged", 1)}
    for client in CLIENTS:
        assert not other_orders(asked[client]), client
        assert all(request_text(asked[client]).count(rule) for rule in (IN_OWN_WORKTREE, HOOKS_CLAIM)), client


def other_orders(body: dict[str, Any]) -> list[str]:
    """The sentences about claiming in a request that are none of the rules for agents."""
    sentences = re.split(r"(?<=[.!?])\s+|\n", request_text(body))
    orders = [one.lstrip("- ") for one in sentences if re.search(ABOUT_CLAIMING, one)]
    return [one for one in orders if not one.startswith((*editing_rules(), HOOKS_CLAIM, *OTHER_ORDERS))]


def request_text(body: dict[str, Any]) -> str:
    """With real ends of lines, since it is read by sentences."""
    return json.dumps(body, ensure_ascii=False).replace("\\n", "\n").replace('\\"', '"')


def attempts(line: CommandLine) -> set[tuple[str, int]]:
    tasks = [line.json("task", "show", f"T-{number + 1}") for number in range(len(CLIENTS))]
    return {(task["state"], task["attempt"]) for task in tasks}


def ends(line: CommandLine) -> dict[str, list[str]]:
    """How the runs of each task ended."""
    found: dict[str, list[str]] = {}
    for event in line.json("log", "--limit", "1000", "--kind", "RunEnded")["events"]:
        found.setdefault(event["subject"], []).append(event["body"]["how"])
    return found
