"""Tools over every way in and in every revision of the protocol: right and wrong questions, and ends."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import anyio
import mcp_types as types
import pytest
from mcp import Client
from mcp.shared.subscriptions import ResourceUpdated

from lineclear.mcp import prompts
from lineclear.mcp.catalog import offered
from lineclear.store.sqlite.engine import LOCK
from lineclear.store.sqlite.gate import Gate
from tests.e2e.commandline import CommandLine, until
from tests.e2e.mcp_peer import MIDDLE, NEW, OLD
from tests.e2e.serve_peer import SOCKET, STDIO, TCP, HttpPeer, Said, heard, sdk_client, token_for
from tests.e2e.serving import ServeProcess
from tests.repository import TemporaryRepo

Start = Callable[..., ServeProcess]

# Old revisions are tested too; the SDK's client calls what only they have deprecated.
pytestmark = pytest.mark.filterwarnings("ignore::mcp.shared.exceptions.MCPDeprecationWarning")

VERSIONS = pytest.mark.parametrize("version", [NEW, MIDDLE, OLD])
# The socket is another way to the same HTTP: once is enough.
PAIRS = pytest.mark.parametrize(
    ("version", "way"),
    [*((version, way) for version in (NEW, MIDDLE, OLD) for way in (STDIO, TCP)), (NEW, SOCKET)],
)


@pytest.fixture
def start(line: CommandLine) -> Iterator[Start]:
    yield lambda *words: ServeProcess(line, *words)
    line.end_all()


@pytest.fixture
def served(start: Start) -> ServeProcess:
    return start()


# -- the SDK's own client ------------------------------------------------------------------------------


@pytest.mark.slow
@PAIRS
def test_everything_that_is_offered_answers_the_sdks_own_client(
    line: CommandLine, served: ServeProcess, repo: TemporaryRepo, way: str, version: str
) -> None:
    """The client itself compares each answer with the schema that it was given."""
    tree = repo.add_worktree("topic")
    repo.commit("New", {"new.py": "x = 1\n"}, at=tree)
    line.ok("say", "hello", "--to", "ada", "--as", "bob")

    async def use() -> dict[str, Any]:
        async with sdk_client(line, served, way, version) as client:
            assert client.session.protocol_version == version
            return await _use_everything(client)

    answers = anyio.run(use)
    assert answers["status"]["me"] == "ada"
    assert answers["inbox"]["messages"][0]["text"] == "hello"
    assert answers["land"]["result"] == "landed"
    assert answers["lineclear://holders/port%3A8080"]["holders"][0]["agent"] == "ada"
    assert repo.git("show", "main:new.py") == "x = 1"
    line.ok("audit")


CALLS: list[tuple[str, dict[str, Any]]] = [
    ("status", {}),
    ("task_add", {"title": "login", "scope": ["login.py"], "priority": 1}),
    ("task_next", {"can": ["python"]}),
    ("claim", {"resources": ["login.py", "port:8080"], "ttl": "10m"}),
    ("who", {"resource": "login.py"}),
    ("task_note", {"task": "T-1", "text": "begun"}),
    ("release", {"resources": ["login.py"]}),
    ("say", {"text": "done", "to": "bob", "urgent": True}),
    ("inbox", {}),
    ("value_put", {"name": "limits", "value": {"most": 3}, "version": 0}),
    ("value_get", {"name": "limits"}),
    ("propose", {"resource": "value:limits", "value": {"most": 4}, "note": "more"}),
    ("check", {"branch": "topic"}),
    ("land", {"branch": "topic"}),
]
LAST = ("task_done", {"task": "T-1", "result": "it works"})


async def _use_everything(client: Client) -> dict[str, Any]:
    answers: dict[str, Any] = {}
    tools = await client.list_tools()
    assert [tool.name for tool in tools.tools] == list(offered(is_all=False))
    for name, arguments in CALLS:
        result = await client.call_tool(name, arguments)
        assert not result.is_error, result
        answers[name] = result.structured_content["data"]
    pages = [str(page.uri) for page in (await client.list_resources()).resources]
    assert len((await client.list_resource_templates()).resource_templates) == 2
    for address in (*pages, "lineclear://task/T-1", "lineclear://holders/port%3A8080"):
        content = (await client.read_resource(address)).contents[0]
        assert isinstance(content, types.TextResourceContents)
        answers[address] = json.loads(content.text)["data"]
    names = [prompt.name for prompt in (await client.list_prompts()).prompts]
    assert names == list(prompts.PROMPTS)
    for name in names:
        words = (await client.get_prompt(name, {"task": "T-1"})).messages[0].content
        assert isinstance(words, types.TextContent)
        assert "T-1" in words.text
    result = await client.call_tool(*LAST)
    assert not result.is_error, result
    answers[LAST[0]] = result.structured_content["data"]
    assert set(offered(is_all=False)) <= set(answers)
    return answers


@PAIRS
def test_a_claim_that_waits_tells_so_and_leaves_the_line_when_it_is_cancelled(
    line: CommandLine, served: ServeProcess, way: str, version: str
) -> None:
    line.ok("claim", "a", "--as", "holder")
    told: list[str] = []

    async def wait() -> None:
        async with sdk_client(line, served, way, version) as client, anyio.create_task_group() as group:
            is_told = anyio.Event()

            async def note(progress: float, total: float | None, message: str | None) -> None:
                told.append(message or "")
                is_told.set()

            async def claim() -> None:
                await client.call_tool("claim", {"resources": ["a"], "wait": "5m"}, progress_callback=note)

            group.start_soon(claim)
            with anyio.fail_after(20):
                await is_told.wait()
            # Others are served meanwhile.
            assert not (await client.call_tool("claim", {"resources": ["b"]})).is_error
            await anyio.to_thread.run_sync(line.until_waiting, "ada")
            group.cancel_scope.cancel()
        # Over stdio the end of the client is the end of its server.

    anyio.run(wait)
    assert "holder holds file:a" in told[0]
    line.until_waiting()
    line.ok("release", "a", "--as", "holder")
    assert line.holders("a") == []
    line.ok("audit")


@PAIRS
def test_whoever_wants_to_hear_of_a_page_is_told_when_it_changes(
    line: CommandLine, served: ServeProcess, way: str, version: str
) -> None:
    heard: list[str] = []

    async def listen_new(client: Client, began: anyio.Event, is_told: anyio.Event) -> None:
        async with client.listen(resource_subscriptions=["lineclear://tasks"]) as events:
            began.set()
            async for event in events:
                heard.append(event.uri if isinstance(event, ResourceUpdated) else str(event))
                is_told.set()

    async def use() -> None:
        is_told, began = anyio.Event(), anyio.Event()

        async def note(message: Any) -> None:
            if getattr(message, "method", "") == "notifications/resources/updated":
                heard.append(str(message.params.uri))
                is_told.set()

        async with (
            sdk_client(line, served, way, version, message_handler=note) as client,
            anyio.create_task_group() as group,
        ):
            if version == NEW:
                group.start_soon(listen_new, client, began, is_told)
                await began.wait()
            else:
                await client.session.subscribe_resource("lineclear://tasks")
            with anyio.fail_after(20):
                # A session's stream of news is opened by the client when it likes.
                while not is_told.is_set():
                    await anyio.to_thread.run_sync(line.ok, "task", "add", "one")
            group.cancel_scope.cancel()

    anyio.run(use)
    assert set(heard) == {"lineclear://tasks"}


def test_two_sessions_that_subscribe_to_one_page_are_both_told(
    line: CommandLine, served: ServeProcess
) -> None:
    told: set[str] = set()

    async def use() -> None:
        def noting(name: str) -> Any:
            async def note(message: Any) -> None:
                if getattr(message, "method", "") == "notifications/resources/updated":
                    told.add(name)

            return note

        async with (
            sdk_client(line, served, TCP, OLD, message_handler=noting("ada")) as ada,
            sdk_client(line, served, TCP, OLD, agent="ben", message_handler=noting("ben")) as ben,
        ):
            for client in (ada, ben):
                await client.session.subscribe_resource("lineclear://tasks")
            with anyio.fail_after(20):
                while told != {"ada", "ben"}:
                    await anyio.to_thread.run_sync(line.ok, "task", "add", "one")
            # What one no longer wants, the other still gets.
            await ada.session.unsubscribe_resource("lineclear://tasks")
            told.clear()
            with anyio.fail_after(20):
                while not told:
                    await anyio.to_thread.run_sync(line.ok, "task", "add", "one")
        assert told == {"ben"}

    anyio.run(use)


# -- the end of a client, and of a server -------------------------------------------------------------


@pytest.mark.parametrize("way", [TCP, SOCKET])
@VERSIONS
def test_a_client_that_is_gone_stands_in_no_line(
    line: CommandLine, served: ServeProcess, way: str, version: str
) -> None:
    line.ok("claim", "a", "--as", "holder")
    peer = HttpPeer(served, version, way=way, agent="ada").greet()
    asked = peer.begin("claim", resources=["a"], wait="5m")
    line.until_waiting("ada")
    asked.close()
    line.until_waiting()
    line.ok("release", "a", "--as", "holder")
    assert peer.call("status").data["claims"] == []


@VERSIONS
def test_a_call_that_was_held_up_until_its_client_was_gone_has_no_effect(
    line: CommandLine, served: ServeProcess, repo: TemporaryRepo, version: str
) -> None:
    peer = HttpPeer(served, version, agent="ada").greet()

    def look() -> None:
        """The server has read whatever came before."""
        assert peer.send(b"", method="GET", path="/").status == 200

    with Gate(str(repo.path / ".git" / "lineclear" / LOCK)):
        held_up = peer.begin("claim", resources=["a"])
        look()
        held_up.close()
        look()
    assert peer.call("claim", resources=["b"]).data["claims"]
    assert line.json("who", "a")["holders"] == []


@VERSIONS
def test_a_client_goes_on_when_its_server_was_started_again(
    line: CommandLine, start: Start, version: str
) -> None:
    token = token_for(line, "ada")
    first = start()
    peer = HttpPeer(first, version, proof=token).greet()
    assert peer.call("claim", resources=["a"]).data["claims"]
    first.kill()
    peer.served = start()
    assert peer.served.url == first.url
    assert peer.call("status").data["me"] == "ada"
    assert peer.call("release", resources=["a"]).data["released"] == ["file:a"]
    assert len(peer.ask("tools/list").result["tools"]) == len(offered(is_all=False))
    assert peer.served.end() == 0
    peer.served = start()
    assert peer.call("claim", resources=["b"]).data["claims"][0]["agent"] == "ada"


@VERSIONS
def test_the_sdks_own_client_goes_on_when_its_server_was_started_again(
    line: CommandLine, start: Start, version: str
) -> None:
    async def use() -> list[str]:
        first = start()
        async with sdk_client(line, first, TCP, version) as client:
            before = await client.call_tool("claim", {"resources": ["a"]})
            await anyio.to_thread.run_sync(first.kill)
            await anyio.to_thread.run_sync(start)
            after = await client.call_tool("status", {})
        assert not before.is_error
        assert not after.is_error
        return [claim["agent"] for claim in after.structured_content["data"]["claims"]]

    assert anyio.run(use) == ["ada"]


def test_a_session_of_a_former_server_has_no_news_and_is_told_so(line: CommandLine, start: Start) -> None:
    first = start()
    peer = HttpPeer(first, OLD, proof=token_for(line, "ada")).greet()
    first.kill()
    peer.served = start()
    assert peer.send(b"", "GET").status == 405
    refused = peer.ask("resources/subscribe", {"uri": "lineclear://status"}).error
    assert "begin a new one" in refused["message"]
    assert peer.send(b"", "DELETE").status == 405


def test_a_session_that_its_client_ended_is_not_kept(served: ServeProcess) -> None:
    peer = HttpPeer(served, OLD, agent="ada").greet()
    assert peer.send(b"", "DELETE").status == 200
    assert peer.send(b"", "GET").status == 405


def test_a_server_that_ends_gives_the_places_in_line_back(line: CommandLine, served: ServeProcess) -> None:
    line.ok("claim", "a", "--as", "holder")
    asked = [
        HttpPeer(served, version, agent=f"agent-{place}").greet().begin("claim", resources=["a"], wait="5m")
        for place, version in enumerate((NEW, MIDDLE, OLD))
    ]
    until(lambda: len(line.json("status")["waits"]) == 3)
    assert served.end() == 0
    assert line.json("status")["waits"] == []
    for line_ in asked:
        line_.close()
    line.ok("audit")


# -- what is wrong ----------------------------------------------------------------------------------------


def _assert_nothing_leaks(said: Said, served: ServeProcess, *secrets: str) -> None:
    for secret in (served.door.key, str(served.line.place), "Traceback", "site-packages", *secrets):
        assert secret not in said.text, said


CALL: dict[str, Any] = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "status"}}
MALFORMED: dict[str, bytes] = {
    "nothing": b"",
    "no JSON": b"this is not JSON",
    "half": b'{"jsonrpc": "2.0", "id": 1, "met',
    "no text": b"\xff\xfe\x00\x01",
    "half a surrogate": b'{"jsonrpc": "2.0", "id": 1, "method": "\\ud800"}',
    "null": b"null",
    "a number": b"7",
    "a list": b"[]",
    "a batch": json.dumps([CALL, CALL]).encode(),
    "deep": b"[" * 100_000,
    "deep and closed": b'{"jsonrpc": "2.0", "id": 1, "method": "x", "params": '
    + b'{"a":' * 5_000 + b"1" + b"}" * 5_001,
    "another version": json.dumps(CALL | {"jsonrpc": "1.0"}).encode(),
    "no version": b'{"id": 1, "method": "tools/list"}',
    "no method": b'{"jsonrpc": "2.0", "id": 1}',
    "a method that is a list": json.dumps(CALL | {"method": ["tools/call"]}).encode(),
    "an id that is an object": json.dumps(CALL | {"id": {"a": 1}}).encode(),
    "an id that is null": json.dumps(CALL | {"id": None}).encode(),
    "params that are a text": json.dumps(CALL | {"params": "status"}).encode(),
    "arguments that are a list": json.dumps(CALL | {"params": {"name": "status", "arguments": [1]}}).encode(),
    "a name that is a number": json.dumps(CALL | {"params": {"name": 7}}).encode(),
    "meta that is a text": json.dumps(CALL | {"params": {"name": "status", "_meta": "x"}}).encode(),
    "no such method": json.dumps(CALL | {"method": "no/such"}).encode(),
    "no such tool": json.dumps(CALL | {"params": {"name": "nothing"}}).encode(),
    "an answer": b'{"jsonrpc": "2.0", "id": 1, "result": {}}',
    "an answer that is an error": b'{"jsonrpc": "2.0", "id": 9, "error": {"code": "x", "message": 1}}',
}  # fmt: skip


@VERSIONS
def test_malformed_messages_are_refused_and_the_server_goes_on(served: ServeProcess, version: str) -> None:
    peer = HttpPeer(served, version, agent="ada").greet()
    for shape, body in MALFORMED.items():
        said = peer.send(body)
        is_error = said.status >= 400 or any("error" in message for message in said.messages)
        # In older revisions the SDK takes what has no usable id for a notification.
        is_dropped = said.status == 202 and shape.startswith(("an answer", "an id"))
        assert is_error or is_dropped, (shape, said)
        assert said.status < 500, (shape, said)
        _assert_nothing_leaks(said, served)
    assert peer.call("status").data["me"] == "ada"
    assert peer.is_alive()


def test_wrong_verbs_places_and_kinds_of_content_are_refused(served: ServeProcess) -> None:
    peer = HttpPeer(served, OLD, agent="ada").greet()
    body = json.dumps(CALL).encode()
    said = {
        "put": peer.send(body, "PUT"),
        "no such place": peer.send(body, path="/mcp/../../etc/passwd"),
        "another place": peer.send(body, path="/nowhere"),
        "no JSON": peer.send(body, **{"content-type": "text/plain"}),
        "accepts nothing": peer.send(body, accept="text/html"),
        "no such revision": peer.send(body, **{"mcp-protocol-version": "1999-01-01"}),
        "a revision that is no text": peer.send(body, **{"mcp-protocol-version": "\xff"}),
    }
    statuses = {name: answer.status for name, answer in said.items()}
    assert statuses == {
        "put": 405, "no such place": 404, "another place": 404, "no JSON": 400, "accepts nothing": 406,
        "no such revision": 400, "a revision that is no text": 400,
    }  # fmt: skip
    for answer in said.values():
        _assert_nothing_leaks(answer, served)
    assert peer.is_alive()


@VERSIONS
def test_a_large_argument_is_read_and_a_larger_request_is_not(served: ServeProcess, version: str) -> None:
    peer = HttpPeer(served, version, agent="ada").greet()
    big = "x" * 1_000_000
    assert peer.call("value_put", name="big", value=big).data["version"] == 1
    assert peer.call("value_get", name="big").data["value"] == big
    assert peer.call("task_note", task="T-1", text=big).error["code"]
    too_big = peer.message("tools/call", {"name": "say", "arguments": {"text": "x" * (4 << 20)}})
    assert peer.send(too_big).status == 413
    line = heard_in_pieces(peer, [b" " * (1 << 20)] * 5)
    assert line.status == 413
    assert peer.is_alive()


def heard_in_pieces(peer: HttpPeer, pieces: list[bytes]) -> Said:
    """The answer to a body that does not say beforehand how long it is."""
    from tests.e2e.serve_peer import Line

    line = Line(peer.served, peer.way)
    try:
        line.request("POST", "/mcp", iter(pieces), peer.headers, encode_chunked=True)
        return heard(line)
    finally:
        line.close()


# -- a team's store -----------------------------------------------------------------------------------------


@pytest.mark.slow
@VERSIONS
def test_a_teams_store_behind_the_server_gives_the_same_answers(
    repo: TemporaryRepo, bare_line: CommandLine, fresh_postgres: Callable[[], str], version: str
) -> None:
    line = bare_line
    line.ok("init", "--store", fresh_postgres())
    tree = repo.add_worktree("topic")
    repo.commit("New", {"new.py": "x = 1\n"}, at=tree)
    line.ok("say", "hello", "--to", "ada", "--as", "bob")
    served = ServeProcess(line)

    async def use() -> dict[str, Any]:
        async with sdk_client(line, served, TCP, version) as client:
            return await _use_everything(client)

    assert anyio.run(use)["status"]["me"] == "ada"
    line.ok("claim", "a", "--as", "holder")
    peer = HttpPeer(served, version, agent="ada").greet()
    asked = peer.begin("claim", resources=["a"], wait="5m")
    line.until_waiting("ada")
    asked.close()
    line.until_waiting()
    assert peer.call("claim", resources=["a"]).error["holder"] == "holder"
    line.ok("audit")
