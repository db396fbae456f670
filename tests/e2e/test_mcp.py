"""`lineclear mcp` over real pipes: every tool, refusals, waiting, and ends of every kind."""

from __future__ import annotations

import json
import signal
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client, StdioServerParameters
from mcp.shared.subscriptions import ResourceUpdated

from lineclear.mcp.catalog import TOOLS, offered
from tests.e2e.commandline import CommandLine
from tests.e2e.mcp_peer import MIDDLE, NEW, OLD, Peer
from tests.repository import TemporaryRepo
from tests.waiting import until

Start = Callable[..., Peer]
Fresh = Callable[[str], str]


@pytest.fixture
def start(line: CommandLine) -> Iterator[Start]:
    """Start a server for an agent, already greeted."""
    peers: list[Peer] = []

    def begin(agent: str = "", *words: str, version: str = OLD, name: str = "test") -> Peer:
        peers.append(Peer(line, *words, agent=agent))
        peers[-1].greet(version, name)
        return peers[-1]

    yield begin
    for peer in peers:
        peer.end()


@pytest.fixture(scope="module")
def ada(shared_line: CommandLine) -> Iterator[Peer]:
    """A server for all tests that need no new one."""
    peer = Peer(shared_line, agent="ada")
    peer.greet()
    yield peer
    peer.end()


# -- the SDK's own client: what is declared is what is answered ------------------------------------


@pytest.mark.slow
def test_every_default_tool_answers_the_sdks_own_client_as_its_schema_says(
    line: CommandLine, repo: TemporaryRepo
) -> None:
    """The client itself compares each answer with the tool's output schema."""
    repo.git("branch", "work")
    tree = repo.add_worktree("topic")
    (tree / "new.py").write_text("x = 1\n")
    repo.git("add", "new.py", at=tree)
    repo.git("commit", "-m", "New", at=tree)
    line.ok("say", "hello", "--to", "ada", "--as", "bob")
    calls: list[tuple[str, dict[str, Any]]] = [
        ("status", {}),
        ("task_add", {"title": "login", "scope": ["login.py"], "priority": 1}),
        ("task_next", {"can": ["python"]}),
        ("claim", {"resources": ["login.py", "port:8080"], "note": "login", "ttl": "10m", "task": "T-1"}),
        ("who", {"resource": "login.py"}),
        ("task_note", {"task": "T-1", "text": "begun"}),
        ("release", {"resources": ["login.py"]}),
        ("task_done", {"task": "T-1", "result": "it works"}),
        ("say", {"text": "done", "to": "bob", "urgent": True}),
        ("inbox", {}),
        ("value_put", {"name": "limits", "value": {"most": 3}, "version": 0}),
        ("value_get", {"name": "limits"}),
        ("propose", {"resource": "value:limits", "value": {"most": 4}, "note": "more"}),
        ("check", {"branch": "topic"}),
        ("land", {"branch": "topic"}),
    ]
    assert {name for name, _ in calls} == set(offered(is_all=False))
    answers = anyio.run(_call_all, line, calls)
    assert [name for name, data in answers.items() if data is None] == []
    assert answers["claim"]["claims"][0]["resource"] == "file:login.py"
    assert answers["inbox"]["messages"][0]["text"] == "hello"
    assert answers["value_get"]["value"] == {"most": 3}
    assert answers["check"]["fits"] is True
    assert answers["land"]["result"] == "landed"
    assert repo.git("show", "main:new.py") == "x = 1"
    assert line.holders("login.py") == []
    line.ok("audit")


async def _call_all(line: CommandLine, calls: list[tuple[str, dict[str, Any]]]) -> dict[str, Any]:
    answers: dict[str, Any] = {}
    async with Client(_parameters(line, "ada")) as client:
        for name, arguments in calls:
            result = await client.call_tool(name, arguments)
            assert not result.is_error, result
            answers[name] = result.structured_content["data"]
    return answers


def _parameters(line: CommandLine, agent: str) -> StdioServerParameters:
    program, *words = line.argv("mcp")
    env = line.environment | {"LINECLEAR_AGENT": agent}
    return StdioServerParameters(command=program, args=words, env=env, cwd=line.place)


@pytest.mark.slow
def test_the_other_tools_answer_too(line: CommandLine, start: Start, repo: TemporaryRepo) -> None:
    ada = start("ada", "--tools", "all")
    names = [tool["name"] for tool in ada.answer(ada.ask("tools/list"))["result"]["tools"]]
    assert names == list(TOOLS)
    ada.data("claim", resources=["a", "b"])
    assert ada.data("release_all")["released"] == ["file:a", "file:b"]
    ada.data("task_add", title="login")
    assert [task["id"] for task in ada.data("task_list")["tasks"]] == ["T-1"]
    ada.data("task_next")
    assert ada.data("task_fail", task="T-1", reason="no")["task"]["id"] == "T-1"
    assert ada.data("task_show", task=1)["notes"]
    assert ada.data("topic", topic="api")["topics"] == ["api"]
    ada.data("value_put", name="v", value=1)
    made = ada.data("propose", resource="value:v", value=2)["proposal"]
    assert ada.data("proposal_list")["proposals"][0]["id"] == made["id"]
    assert ada.refused("proposal_accept", number=made["id"])["code"]
    assert ada.refused("proposal_reject", number=99, reason="no")["code"]
    assert ada.data("value_history", name="v")["versions"][0]["version"] == 1
    assert ada.data("queue_list")["candidates"] == []
    assert ada.refused("queue_show", candidate="Q-7")["code"] == "queue.unknown"
    assert ada.refused("sync")["code"] == "sync.main"
    repo.commit("Table", {"db/migrations/0001_users.sql": "CREATE TABLE users (id INTEGER);\n"})
    reserved = ada.data("migration_next", name="add_mail")
    assert (reserved["path"], reserved["how"]) == ("db/migrations/0002_add_mail.sql", "number")
    assert ada.data("migration_next", name="add_mail")["path"] == reserved["path"]


def test_a_landing_that_is_sent_back_is_an_error_that_says_what_is_next(
    line: CommandLine, start: Start, repo: TemporaryRepo
) -> None:
    tree = repo.add_worktree("topic")
    repo.commit("Theirs", {"a.txt": "theirs\n"}, at=tree)
    repo.commit("Ours", {"a.txt": "ours\n"})
    ada = start("ada")
    landing = ada.fell_short("land", branch="topic")
    assert (landing["result"], landing["next"]) == ("sent back", "lineclear queue show Q-1")
    assert ada.data("check", branch="topic")["fits"] is False, "what a look finds is an answer"
    assert line.run("land", "topic", "--json").code == 6


def test_a_task_is_not_done_with_a_branch_that_is_not_there(
    line: CommandLine, start: Start, repo: TemporaryRepo
) -> None:
    ada = start("ada")
    ada.data("task_add", title="login")
    ada.data("task_next")
    error = ada.refused("task_done", task="T-1", branch="tpoic")
    assert (error["code"], error["next"]) == ("branch.unknown", "git branch --list")
    assert "T-1 stays with you" in error["message"]
    repo.git("branch", "topic")
    assert ada.data("task_done", task="T-1", branch="topic")["task"]["state"] == "handed over"


def test_a_check_runs_the_repositorys_commands(line: CommandLine, start: Start, repo: TemporaryRepo) -> None:
    repo.commit("Checks", {"lineclear.toml": '[checks]\ngate = "echo looking; test ! -f bad"\n'})
    line.ok("trust")
    for name, file in (("good", "good"), ("worse", "bad")):
        tree = repo.add_worktree(name)
        (tree / file).write_text("x\n")
        repo.git("add", file, at=tree)
        repo.git("commit", "-m", name, at=tree)
    ada = start("ada")
    good, bad = ada.data("check", branch="good", run=True), ada.data("check", branch="worse", run=True)
    assert (good["fits"], good["checks"][0]["result"]) == (True, "passed")
    assert (bad["fits"], bad["checks"][0]["result"]) == (False, "failed")
    assert "looking" in bad["output"]


# -- protocol ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("version", [OLD, MIDDLE])
def test_an_older_revision_is_spoken_when_it_is_asked_for(line: CommandLine, version: str) -> None:
    peer = Peer(line)
    try:
        found = peer.greet(version)
        assert found["protocolVersion"] == version
        assert found["serverInfo"]["name"] == "lineclear"
        assert set(found["capabilities"]) >= {"tools", "resources", "prompts"}
        assert peer.data("status")["me"] == "agent-1"
        assert peer.hang_up() == 0
    finally:
        peer.end()


def test_the_newest_revision_is_negotiated_by_a_client_that_knows_it(line: CommandLine) -> None:
    async def look() -> str:
        async with Client(_parameters(line, "ada")) as client:
            return client.session.protocol_version or ""

    assert anyio.run(look) == NEW


def test_a_refusal_has_the_content_of_the_command_line(
    shared_line: CommandLine, ada: Peer, fresh: Fresh
) -> None:
    line, name = shared_line, fresh("v")
    line.ok("value", "put", name, "1", "--as", "bob")
    result = ada.call("value_put", name=name, value=2, version=0)
    same = line.run("value", "put", name, "2", "--version", "0", "--json", env={"LINECLEAR_AGENT": "ada"})
    assert result["isError"] is True
    assert result["structuredContent"] == same.envelope
    assert result["content"][0]["text"].startswith(same.error["message"].partition(".")[0])


BAD: list[tuple[str, dict[str, Any]]] = [
    ("claim", {}),
    ("claim", {"resources": "a"}),
    ("claim", {"resources": []}),
    ("claim", {"resources": [1]}),
    ("claim", {"resources": ["a"], "mode": "mine"}),
    ("claim", {"resources": ["a"], "ttl": "soon"}),
    ("claim", {"resources": ["a"], "wait": "2h"}),
    ("claim", {"resources": ["a"], "as": "bob"}),
    ("claim", {"resources": ["a"], "take_over": True}),
    ("claim", {"resources": ["../../etc/passwd"]}),
    ("claim", {"resources": ["a\x00b"]}),
    ("claim", {"resources": ["a"], "key": "a\nb"}),
    ("claim", {"resources": ["a"], "task": True}),
    ("task_note", {"task": "T-1", "text": "x" * 1_000_000}),
    ("task_note", {"task": "seven", "text": "x"}),
    ("say", {"text": "-"}),
    ("say", {"text": "x", "to": "bob", "topic": "api"}),
    ("value_put", {"name": "v", "value": 1, "version": "one"}),
    ("value_put", {"name": "v", "value": "x" * 2_200_000}),
    ("propose", {"resource": "a.py", "file": "-"}),
    ("check", {"branch": "--help"}),
    ("land", {"branch": {"name": "x"}}),
    ("claim", {"resources": ["a"], "note": "x" * 1_000_000}),
    ("claim", {"resources": ["/etc/passwd"]}),
    ("who", {"resource": "/etc/passwd"}),
    ("release", {"resources": []}),
    ("task_add", {"title": "x", "priority": 99}),
    ("task_next", {"task": "the first"}),
    ("propose", {"resource": "a.py"}),
    ("propose", {"resource": "a.py", "file": "/etc/passwd"}),
    ("propose", {"resource": "a.py", "text": "x", "remove": True}),
    ("propose", {"resource": "../a.py", "text": "x"}),
]


def test_bad_input_of_every_shape_is_refused_and_the_server_goes_on(ada: Peer) -> None:
    before = ada.data("status")["claims"]
    for tool, arguments in BAD:
        error = ada.refused(tool, **arguments)
        assert error["code"] != "bug", (tool, error)
        # What a model can do about it: the help of a verb names options that its tool does not have.
        assert error["next"], (tool, error)
        assert not error["next"].endswith("--help"), (tool, error)
    assert ada.answer(ada.begin("no_such_tool"))["error"]["code"] == -32602
    assert "error" in ada.answer(ada.ask("tools/call", {"name": "claim", "arguments": "a"}))
    assert "error" in ada.answer(ada.ask("tools/call", {"arguments": {}}))
    assert "error" in ada.answer(ada.ask("no/such/method"))
    assert "error" in ada.answer(ada.ask("resources/read", {"uri": "file:///etc/passwd"}))
    assert "error" in ada.answer(ada.ask("prompts/get", {"name": "nothing"}))
    ada.write("this is not JSON")
    ada.write('{"jsonrpc": "2.0", "id": 7}')
    ada.write("[" * 10_000)
    ada.begin("say", text="\ud800")  # no text at all: the SDK drops the whole line
    claims = ada.data("status")["claims"]
    assert [claim["resource"] for claim in claims] == [claim["resource"] for claim in before]


def test_a_repeated_call_with_the_same_key_is_done_once(
    shared_line: CommandLine, ada: Peer, fresh: Fresh
) -> None:
    title = fresh("login")
    first = ada.data("task_add", title=title, key="op-1")
    again = ada.data("task_add", title=title, key="op-1")
    assert again["task"]["id"] == first["task"]["id"]
    assert again["replayed"] is True
    assert [task["title"] for task in shared_line.json("task", "list")["tasks"]].count(title) == 1


# -- who calls -----------------------------------------------------------------------------------------


def test_whoever_calls_a_tool_is_an_agent_and_never_the_person(line: CommandLine, start: Start) -> None:
    peer = start(name="some-client")
    assert peer.data("status")["me"] == "agent-1"
    peer.data("say", text="hello")
    assert [(a["name"], a["kind"]) for a in line.json("status")["agents"]] == [("agent-1", "agent")]


def test_codex_is_known_by_the_thread_that_it_sends_along(line: CommandLine, start: Start) -> None:
    peer = start(name="codex-mcp-client")
    peer.call("claim", meta={"x-codex-turn-metadata": {"thread_id": "abc"}}, resources=["a"])
    answer = line.run("status", "--json", env={"CODEX_THREAD_ID": "abc"})
    assert answer.data["me"] == "codex-1"
    assert line.holders("a") == ["codex-1"]


def test_two_agents_at_once_never_hold_the_same(line: CommandLine, start: Start) -> None:
    ada, bob = start("ada"), start("bob")
    for number in range(20):
        asked = [peer.begin("claim", resources=[f"f{number}"]) for peer in (ada, bob)]
        results = [peer.answer(n)["result"] for peer, n in zip((ada, bob), asked, strict=True)]
        assert sorted(bool(result.get("isError")) for result in results) == [False, True]
    line.ok("audit")


def test_many_calls_of_one_client_at_once_are_all_answered(ada: Peer, fresh: Fresh) -> None:
    asked = [ada.begin("claim", resources=[fresh("f")]) for _ in range(60)]
    assert [bool(ada.answer(number)["result"].get("isError")) for number in asked] == [False] * 60


# -- waiting -------------------------------------------------------------------------------------------


def test_a_claim_waits_for_the_holder_and_tells_so(shared_line: CommandLine, ada: Peer, fresh: Fresh) -> None:
    line, file, name = shared_line, fresh("a"), fresh("v")
    line.ok("claim", file, "--as", "holder")
    asked = ada.begin("claim", meta={"progressToken": "p"}, resources=[file], wait="5m")
    told = ada.heard("notifications/progress")
    assert told["progressToken"] == "p"
    assert f"holder holds file:{file}" in told["message"]
    assert ada.data("value_put", name=name, value=1)["version"] == 1  # others are served meanwhile
    line.ok("release", file, "--as", "holder")
    assert ada.answer(asked)["result"]["structuredContent"]["data"]["claims"][0]["agent"] == "ada"


def test_a_message_and_a_task_are_waited_for(line: CommandLine, start: Start) -> None:
    ada = start("ada")
    message, task = ada.begin("inbox", wait="1m"), ada.begin("task_next", wait="1m")
    line.ok("say", "hello", "--to", "ada", "--as", "bob")
    line.ok("task", "add", "login", "--as", "bob")
    found = ada.answer(message)["result"]["structuredContent"]["data"]
    assert found["messages"][0]["text"] == "hello"
    assert ada.answer(task)["result"]["structuredContent"]["data"]["task"]["agent"] == "ada"


def test_a_wait_that_ends_without_success_is_a_refusal(
    shared_line: CommandLine, ada: Peer, fresh: Fresh
) -> None:
    line, file = shared_line, fresh("a")
    line.ok("claim", file, "--as", "holder")
    assert ada.refused("claim", resources=[file], wait="1s")["code"] == "claim.timeout"
    assert line.json("status")["waits"] == []


def test_a_cancelled_claim_leaves_the_line(shared_line: CommandLine, ada: Peer, fresh: Fresh) -> None:
    line, file = shared_line, fresh("a")
    line.ok("claim", file, "--as", "holder")
    asked = ada.begin("claim", resources=[file], wait="5m")
    line.until_waiting("ada")
    ada.tell("notifications/cancelled", {"requestId": asked, "reason": "no longer"})
    line.until_waiting()
    line.ok("release", file, "--as", "holder")
    assert ada.data("who", resource=file)["holders"] == []


def test_more_waiting_calls_than_the_sdk_has_threads_do_not_stop_the_others(
    line: CommandLine, start: Start
) -> None:
    ada = start("ada")
    for _ in range(45):
        ada.begin("inbox", wait="5m")
    assert ada.data("status")["me"] == "ada"
    assert ada.hang_up() == 0


# -- ends ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("way", ["hang up", "terminate"])
def test_a_server_that_ends_gives_its_place_in_line_back(line: CommandLine, start: Start, way: str) -> None:
    line.ok("claim", "a", "--as", "holder")
    ada = start("ada")
    ada.begin("claim", resources=["a"], wait="5m")
    line.until_waiting("ada")
    if way == "hang up":
        assert ada.hang_up() == 0
    else:
        ada.process.send_signal(signal.SIGTERM)
        assert ada.process.wait(60) == 0
    assert line.json("status")["waits"] == []
    assert ada.complaints() == ""
    line.ok("audit")


def test_claims_of_a_killed_server_are_free_after_the_grace(
    repo: TemporaryRepo, bare_line: CommandLine
) -> None:
    line = bare_line
    (repo.path / "lineclear.toml").write_text('[agents]\ngrace = "1s"\n')
    line.ok("init")
    peer = Peer(line, agent="ada")
    try:
        peer.greet()
        peer.data("claim", resources=["a"])
        assert line.run("claim", "a", "--as", "bob").code == 3
        peer.process.kill()
        peer.process.wait()
        assert line.run("claim", "a", "--as", "bob").code == 3  # seen dead now; the grace begins
        until(lambda: line.run("claim", "a", "--as", "bob").code == 0)
    finally:
        peer.end()
    assert line.holders("a") == ["bob"]


def test_a_server_that_comes_back_in_time_keeps_what_its_agent_holds(line: CommandLine, start: Start) -> None:
    first = start("ada")
    first.data("claim", resources=["a"])
    assert first.hang_up() == 0
    assert line.run("claim", "a", "--as", "bob").code == 3
    second = start("ada")
    second.data("claim", resources=["b"])
    assert line.holders("a") == ["ada"]
    assert line.run("claim", "a", "--as", "bob").code == 3


# -- pages and prompts -----------------------------------------------------------------------------------


def test_pages_show_what_the_verbs_show(ada: Peer, fresh: Fresh) -> None:
    title = fresh("login")
    task = ada.data("task_add", title=title)["task"]["id"]
    ada.data("claim", resources=["src/a b.py"])
    read = {}
    for address in ("status", "tasks", f"task/{task}", "holders/src/a%20b.py"):
        answer = ada.answer(ada.ask("resources/read", {"uri": f"lineclear://{address}"}))
        read[address] = json.loads(answer["result"]["contents"][0]["text"])["data"]
    assert read["status"]["me"] == "ada"
    assert title in {found["title"] for found in read["tasks"]["tasks"]}
    assert read[f"task/{task}"]["id"] == task
    assert read["holders/src/a%20b.py"]["holders"][0]["agent"] == "ada"
    listed = ada.answer(ada.ask("resources/list"))["result"]["resources"]
    assert [page["uri"] for page in listed] == ["lineclear://status", "lineclear://tasks"]
    assert "error" in ada.answer(ada.ask("resources/read", {"uri": "lineclear://task/T-99"}))


def test_a_subscriber_is_told_when_its_page_changes_and_of_no_other(line: CommandLine, start: Start) -> None:
    ada = start("ada")
    ada.answer(ada.ask("resources/subscribe", {"uri": "lineclear://tasks"}))
    # The follower begins a moment after the answer: it is there once it has heard of something.
    _until_told(ada, lambda: line.ok("task", "add", "one"))
    ada.answer(ada.ask("resources/unsubscribe", {"uri": "lineclear://tasks"}))
    ada.answer(ada.ask("resources/subscribe", {"uri": "lineclear://status"}))
    line.ok("task", "add", "two")
    while ada.heard("notifications/resources/updated")["uri"] != "lineclear://status":
        pass


def _until_told(peer: Peer, act: Callable[[], object]) -> None:
    def is_told() -> bool:
        act()
        peer.answer(peer.ask("ping"))
        return any(message["method"] == "notifications/resources/updated" for message in peer.told)

    until(is_told)


def test_a_listener_of_the_newest_revision_is_told_too(line: CommandLine) -> None:
    async def listen() -> str:
        async with (
            Client(_parameters(line, "ada"), mode=NEW) as client,
            client.listen(resource_subscriptions=["lineclear://tasks"]) as heard,
            anyio.create_task_group() as group,
        ):
            group.start_soon(_add_tasks, line)
            async for event in heard:
                group.cancel_scope.cancel()
                return event.uri if isinstance(event, ResourceUpdated) else ""
        return ""

    async def bounded() -> str:
        with anyio.fail_after(60):
            return await listen()

    assert anyio.run(bounded) == "lineclear://tasks"


async def _add_tasks(line: CommandLine) -> None:
    while True:
        await anyio.to_thread.run_sync(line.ok, "task", "add", "one")


def test_prompts_lead_to_the_tools(ada: Peer) -> None:
    names = [prompt["name"] for prompt in ada.answer(ada.ask("prompts/list"))["result"]["prompts"]]
    assert names == ["start_work", "hand_over", "resolve_conflict"]
    for name in names:
        asked = ada.ask("prompts/get", {"name": name, "arguments": {"task": "7"}})
        text = ada.answer(asked)["result"]["messages"][0]["content"]["text"]
        assert "T-7" in text
    bad = ada.ask("prompts/get", {"name": "start_work", "arguments": {"task": "rm -rf"}})
    assert "error" in ada.answer(bad)


# -- before it serves -----------------------------------------------------------------------------------


def test_without_a_store_every_tool_says_what_to_do(bare_line: CommandLine) -> None:
    peer = Peer(bare_line, agent="ada")
    try:
        peer.greet()
        assert peer.refused("status")["next"] == "lineclear init"
        assert peer.hang_up() == 0
    finally:
        peer.end()


def test_without_the_sdk_it_says_how_to_get_it(line: CommandLine, tmp_path: Path) -> None:
    hide = tmp_path / "hidden"
    hide.mkdir()
    (hide / "sitecustomize.py").write_text(
        "import sys\n"
        "class Hidden:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name == 'mcp':\n"
        "            raise ModuleNotFoundError(name)\n"
        "sys.meta_path.insert(0, Hidden())\n"
    )
    path = f"{hide}:{line.environment['PYTHONPATH']}"
    answer = line.run("mcp", "--json", env={"PYTHONPATH": path})
    assert (answer.code, answer.error["code"]) == (1, "setup.mcp"), answer
    assert answer.error["next"] == "pip install 'mcp>=2.3,<3'"


def test_the_command_line_does_not_load_the_sdk(line: CommandLine) -> None:
    program = "import sys; from lineclear.__main__ import main; main(); print('mcp' in sys.modules)"
    import subprocess

    done = subprocess.run(
        [sys.executable, "-c", program, "status"], cwd=line.place, env=line.environment,
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert done.stdout.endswith("False\n")
