"""Tools over every way in and in every revision of the protocol: right and wrong questions, and ends."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import anyio
import mcp_types as types
import pytest
from mcp import Client
from mcp.shared.subscriptions import ResourceUpdated

from lineclear.mcp import prompts
from lineclear.mcp.catalog import offered
from lineclear.serve.sessions import MOST_OF_ONE
from lineclear.store.sqlite.engine import LOCK
from lineclear.store.sqlite.writer_lock import WriterLock
from tests.e2e.commandline import CommandLine
from tests.e2e.mcp_peer import MIDDLE, NEW, OLD
from tests.e2e.serve_peer import SOCKET, STDIO, TCP, HttpPeer, Said, heard, sdk_client, token_for
from tests.e2e.serving import ServeProcess, state_of
from tests.repository import TemporaryRepo
from tests.waiting import PATIENCE_S, until

Start = Callable[..., ServeProcess]
Fresh = Callable[[str], str]

# Old revisions are tested too; the SDK's client calls what only they have deprecated.
pytestmark = pytest.mark.filterwarnings("ignore::mcp.shared.exceptions.MCPDeprecationWarning")

REVISIONS = (NEW, MIDDLE, OLD)
VERSIONS = pytest.mark.parametrize("version", REVISIONS)
# The socket is another way to the same HTTP: once is enough.
PAIRS = pytest.mark.parametrize(
    ("version", "way"),
    [*((version, way) for version in REVISIONS for way in (STDIO, TCP)), (NEW, SOCKET)],
)


@pytest.fixture
def start(line: CommandLine) -> Iterator[Start]:
    yield lambda *words: ServeProcess(line, *words)
    line.end_all()


# -- the SDK's own client ------------------------------------------------------------------------------


@pytest.mark.slow
@PAIRS
def test_everything_that_is_offered_answers_the_sdks_own_client(
    shared: ServeProcess, shared_repo: TemporaryRepo, fresh: Fresh, way: str, version: str
) -> None:
    """The client itself compares each answer with the schema that it was given."""
    _assert_everything_answers(shared, shared_repo, fresh, way, version)
    shared.line.ok("audit")


def _assert_everything_answers(
    served: ServeProcess, repo: TemporaryRepo, fresh: Fresh, way: str, version: str
) -> None:
    agent, branch = fresh("ada"), fresh("topic")
    tree = repo.add_worktree(branch)
    repo.commit("New", {f"{branch}.py": "x = 1\n"}, at=tree)
    served.line.ok("say", "hello", "--to", agent, "--as", "bob")
    port = 8_000 + int(branch.removeprefix("topic-"))

    async def use() -> dict[str, Any]:
        async with sdk_client(served.line, served, way, version, agent=agent) as client:
            assert client.session.protocol_version == version
            return await _use_everything(client, fresh("login"), branch, port)

    answers = anyio.run(use)
    assert answers["status"]["me"] == agent
    assert answers["inbox"]["messages"][0]["text"] == "hello"
    assert answers["land"]["result"] == "landed"
    assert answers[f"lineclear://holders/port%3A{port}"]["holders"][0]["agent"] == agent
    assert repo.git("show", f"main:{branch}.py") == "x = 1"


def _calls(file: str, branch: str, port: int) -> Iterator[tuple[str, dict[str, Any]]]:
    """One call of each tool but the last, and but those that need the number of the task."""
    value = f"limits-of-{branch}"
    yield "claim", {"resources": [file, f"port:{port}"], "ttl": "10m"}
    yield "who", {"resource": file}
    yield "release", {"resources": [file]}
    yield "say", {"text": "done", "to": "bob", "urgent": True}
    yield "inbox", {}
    yield "value_put", {"name": value, "value": {"most": 3}, "version": 0}
    yield "value_get", {"name": value}
    yield "propose", {"resource": f"value:{value}", "value": {"most": 4}, "note": "more"}
    yield "check", {"branch": branch}
    yield "land", {"branch": branch}


async def _use_everything(client: Client, file: str, branch: str, port: int) -> dict[str, Any]:
    answers: dict[str, Any] = {}

    async def call(name: str, arguments: dict[str, Any]) -> None:
        result = await client.call_tool(name, arguments)
        assert not result.is_error, result
        answers[name] = result.structured_content["data"]

    tools = await client.list_tools()
    assert [tool.name for tool in tools.tools] == list(offered(is_all=False))
    await call("status", {})
    await call("task_add", {"title": file, "scope": [file], "priority": 1})
    await call("task_next", {"can": ["python"]})
    task = answers["task_add"]["task"]["id"]
    assert answers["task_next"]["task"]["id"] == task
    await call("task_note", {"task": task, "text": "begun"})
    for name, arguments in _calls(file, branch, port):
        await call(name, arguments)
    pages = [str(page.uri) for page in (await client.list_resources()).resources]
    assert len((await client.list_resource_templates()).resource_templates) == 2
    for address in (*pages, f"lineclear://task/{task}", f"lineclear://holders/port%3A{port}"):
        content = (await client.read_resource(address)).contents[0]
        assert isinstance(content, types.TextResourceContents)
        answers[address] = json.loads(content.text)["data"]
    names = [prompt.name for prompt in (await client.list_prompts()).prompts]
    assert names == list(prompts.PROMPTS)
    for name in names:
        words = (await client.get_prompt(name, {"task": task})).messages[0].content
        assert isinstance(words, types.TextContent)
        assert task in words.text
    await call("task_done", {"task": task, "result": "it works"})
    assert set(offered(is_all=False)) <= set(answers)
    return answers


@PAIRS
def test_a_claim_that_waits_tells_so_and_leaves_the_line_when_it_is_cancelled(
    shared: ServeProcess, fresh: Fresh, way: str, version: str
) -> None:
    line, file, other, agent = shared.line, fresh("a"), fresh("b"), fresh("ada")
    line.ok("claim", file, "--as", "holder")
    told: list[str] = []

    async def wait() -> None:
        async with (
            sdk_client(line, shared, way, version, agent=agent) as client,
            anyio.create_task_group() as group,
        ):
            is_told = anyio.Event()

            async def note(progress: float, total: float | None, message: str | None) -> None:
                told.append(message or "")
                is_told.set()

            async def claim() -> None:
                await client.call_tool("claim", {"resources": [file], "wait": "5m"}, progress_callback=note)

            group.start_soon(claim)
            with anyio.fail_after(PATIENCE_S):
                await is_told.wait()
            # Others are served meanwhile.
            assert not (await client.call_tool("claim", {"resources": [other]})).is_error
            await anyio.to_thread.run_sync(line.until_waiting, agent)
            group.cancel_scope.cancel()
        # Over stdio the end of the client is the end of its server.

    anyio.run(wait)
    assert f"holder holds file:{file}" in told[0]
    line.until_waiting()
    line.ok("release", file, "--as", "holder")
    assert line.holders(file) == []
    line.ok("audit")


@PAIRS
def test_whoever_wants_to_hear_of_a_page_is_told_when_it_changes(
    shared: ServeProcess, fresh: Fresh, way: str, version: str
) -> None:
    line, heard = shared.line, list[str]()

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
            sdk_client(line, shared, way, version, agent=fresh("ada"), message_handler=note) as client,
            anyio.create_task_group() as group,
        ):
            if version == NEW:
                group.start_soon(listen_new, client, began, is_told)
                await began.wait()
            else:
                await client.session.subscribe_resource("lineclear://tasks")
            with anyio.fail_after(PATIENCE_S):
                # A session's stream of news is opened by the client when it likes.
                while not is_told.is_set():
                    await anyio.to_thread.run_sync(line.ok, "task", "add", "one")
            group.cancel_scope.cancel()

    anyio.run(use)
    assert set(heard) == {"lineclear://tasks"}


def test_two_sessions_that_subscribe_to_one_page_are_both_told(shared: ServeProcess, fresh: Fresh) -> None:
    line, one, other = shared.line, fresh("ada"), fresh("ben")
    told: set[str] = set()

    async def use() -> None:
        def noting(name: str) -> Any:
            async def note(message: Any) -> None:
                if getattr(message, "method", "") == "notifications/resources/updated":
                    told.add(name)

            return note

        async with (
            sdk_client(line, shared, TCP, OLD, agent=one, message_handler=noting("ada")) as ada,
            sdk_client(line, shared, TCP, OLD, agent=other, message_handler=noting("ben")) as ben,
        ):
            for client in (ada, ben):
                await client.session.subscribe_resource("lineclear://tasks")
            with anyio.fail_after(PATIENCE_S):
                while told != {"ada", "ben"}:
                    await anyio.to_thread.run_sync(line.ok, "task", "add", "one")
            # What one no longer wants, the other still gets.
            await ada.session.unsubscribe_resource("lineclear://tasks")
            told.clear()
            with anyio.fail_after(PATIENCE_S):
                while not told:
                    await anyio.to_thread.run_sync(line.ok, "task", "add", "one")
        assert told == {"ben"}

    anyio.run(use)


# -- the end of a client, and of a server -------------------------------------------------------------


@pytest.mark.parametrize("way", [TCP, SOCKET])
@VERSIONS
def test_a_client_that_is_gone_stands_in_no_line(
    shared: ServeProcess, fresh: Fresh, way: str, version: str
) -> None:
    line, file, agent = shared.line, fresh("a"), fresh("ada")
    line.ok("claim", file, "--as", "holder")
    peer = HttpPeer(shared, version, way=way, agent=agent).greet()
    asked = peer.begin("claim", resources=[file], wait="5m")
    line.until_waiting(agent)
    asked.close()
    line.until_waiting()
    line.ok("release", file, "--as", "holder")
    assert peer.call("who", resource=file).data["holders"] == []


@VERSIONS
def test_a_call_that_was_held_up_until_its_client_was_gone_has_no_effect(
    shared: ServeProcess, fresh: Fresh, version: str
) -> None:
    line, file = shared.line, fresh("a")
    peer = HttpPeer(shared, version, agent=fresh("ada")).greet()

    def look() -> None:
        """The server has read whatever came before."""
        assert peer.send(b"", method="GET", path="/").status == 200

    with WriterLock(str(Path(state_of(line.place), LOCK))):
        held_up = peer.begin("claim", resources=[file])
        look()
        held_up.close()
        look()
    assert peer.call("claim", resources=[fresh("b")]).data["claims"]
    assert line.json("who", file)["holders"] == []


def test_clients_of_every_revision_go_on_when_their_server_was_started_again(
    line: CommandLine, start: Start
) -> None:
    first = start()
    peers = {
        f"ada-{version}": HttpPeer(first, version, proof=token_for(line, f"ada-{version}")).greet()
        for version in REVISIONS
    }
    for name, peer in peers.items():
        assert peer.call("claim", resources=[name]).data["claims"], name
    first.kill()
    second = start()
    assert second.url == first.url
    for name, peer in peers.items():
        peer.served = second
        assert peer.call("status").data["me"] == name
        assert peer.call("release", resources=[name]).data["released"] == [f"file:{name}"]
        assert len(peer.ask("tools/list").result["tools"]) == len(offered(is_all=False))
    assert second.end() == 0
    third = start()
    for name, peer in peers.items():
        peer.served = third
        assert peer.call("claim", resources=[f"b-{name}"]).data["claims"][0]["agent"] == name


def test_the_sdks_own_clients_go_on_when_their_server_was_started_again(
    line: CommandLine, start: Start
) -> None:
    async def use() -> dict[str, set[str]]:
        first = start()
        async with AsyncExitStack() as stack:
            clients = {
                version: await stack.enter_async_context(
                    sdk_client(line, first, TCP, version, agent=f"ada-{version}")
                )
                for version in REVISIONS
            }
            for version, client in clients.items():
                assert not (await client.call_tool("claim", {"resources": [version]})).is_error
            await anyio.to_thread.run_sync(first.kill)
            await anyio.to_thread.run_sync(start)
            after = {version: await client.call_tool("status", {}) for version, client in clients.items()}
        assert [version for version, status in after.items() if status.is_error] == []
        return {
            version: {claim["agent"] for claim in status.structured_content["data"]["claims"]}
            for version, status in after.items()
        }

    agents = {f"ada-{version}" for version in REVISIONS}
    assert anyio.run(use) == dict.fromkeys(REVISIONS, agents)


def test_a_session_of_a_former_server_has_no_news_and_is_told_so(line: CommandLine, start: Start) -> None:
    first = start()
    peer = HttpPeer(first, OLD, proof=token_for(line, "ada")).greet()
    first.kill()
    peer.served = start()
    assert peer.send(b"", "GET").status == 405
    refused = peer.ask("resources/subscribe", {"uri": "lineclear://status"}).error
    assert "start a new one" in refused["message"]
    assert peer.send(b"", "DELETE").status == 405


def test_a_session_that_its_client_ended_is_not_kept(shared: ServeProcess) -> None:
    peer = HttpPeer(shared, OLD, agent="ada").greet()
    assert peer.send(b"", "DELETE").status == 200
    assert peer.send(b"", "GET").status == 405


def test_a_session_too_many_of_one_owner_replaces_its_oldest(line: CommandLine, start: Start) -> None:
    served, proof = start(), token_for(line, "ada")
    first = HttpPeer(served, OLD, proof=proof).greet()
    other = HttpPeer(served, OLD, proof=token_for(line, "ben")).greet()
    for _ in range(MOST_OF_ONE):
        HttpPeer(served, OLD, proof=proof).greet()
    assert first.send(b"", "DELETE").status == 405
    assert first.ask("tools/list").status == 200  # answered all the same, without news
    assert other.send(b"", "DELETE").status == 200


def test_a_server_that_ends_gives_the_places_in_line_back(line: CommandLine, start: Start) -> None:
    served = start()
    line.ok("claim", "a", "--as", "holder")
    asked = [
        HttpPeer(served, version, agent=f"agent-{place}").greet().begin("claim", resources=["a"], wait="5m")
        for place, version in enumerate(REVISIONS)
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
def test_malformed_messages_are_refused_and_the_server_goes_on(shared: ServeProcess, version: str) -> None:
    peer = HttpPeer(shared, version, agent="ada").greet()
    for shape, body in MALFORMED.items():
        said = peer.send(body)
        is_error = said.status >= 400 or any("error" in message for message in said.messages)
        # In older revisions the SDK takes what has no usable id for a notification.
        is_dropped = said.status == 202 and shape.startswith(("an answer", "an id"))
        assert is_error or is_dropped, (shape, said)
        assert said.status < 500, (shape, said)
        _assert_nothing_leaks(said, shared)
    assert peer.call("status").data["me"] == "ada"
    assert peer.is_alive()


def test_wrong_verbs_places_and_kinds_of_content_are_refused(shared: ServeProcess) -> None:
    peer = HttpPeer(shared, OLD, agent="ada").greet()
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
        _assert_nothing_leaks(answer, shared)
    assert peer.is_alive()


@VERSIONS
def test_a_large_argument_is_read_and_a_larger_request_is_not(
    shared: ServeProcess, fresh: Fresh, version: str
) -> None:
    peer = HttpPeer(shared, version, agent="ada").greet()
    big, name = "x" * 1_000_000, fresh("big")
    assert peer.call("value_put", name=name, value=big).data["version"] == 1
    assert peer.call("value_get", name=name).data["value"] == big
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
def test_a_teams_store_behind_the_server_gives_the_same_answers(
    repo: TemporaryRepo, bare_line: CommandLine, fresh_postgres: Callable[[], str], fresh: Fresh
) -> None:
    line = bare_line
    line.ok("init", "--store", fresh_postgres())
    served = ServeProcess(line)
    for version in REVISIONS:
        _assert_everything_answers(served, repo, fresh, TCP, version)
        file, agent = fresh("a"), fresh("ada")
        line.ok("claim", file, "--as", "holder")
        peer = HttpPeer(served, version, agent=agent).greet()
        asked = peer.begin("claim", resources=[file], wait="5m")
        line.until_waiting(agent)
        asked.close()
        line.until_waiting()
        assert peer.call("claim", resources=[file]).error["holder"] == "holder"
    line.ok("audit")
