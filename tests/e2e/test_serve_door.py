"""Who comes in at the server's door, under which name and to which tree; and who cannot hold it shut."""

from __future__ import annotations

import json
import resource
import shutil
import socket
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from lineclear.serve import connections
from tests.e2e.commandline import CommandLine
from tests.e2e.mcp_peer import MIDDLE, NEW, OLD
from tests.e2e.serve_peer import SOCKET, TCP, HttpPeer, Said, token_for
from tests.e2e.serving import ServeProcess
from tests.repository import TemporaryRepo
from tests.waiting import PATIENCE_S, until

Fresh = Callable[[str], str]
VERSIONS = pytest.mark.parametrize("version", [NEW, MIDDLE, OLD])


def assert_nothing_leaks(said: Said, served: ServeProcess, *secrets: str) -> None:
    for secret in (served.door.key, str(served.line.place), "Traceback", "site-packages", *secrets):
        assert secret not in f"{said.headers} {said.text}", said


# -- proofs ---------------------------------------------------------------------------------------------


@VERSIONS
def test_only_a_good_proof_opens_the_door_to_tools(shared: ServeProcess, fresh: Fresh, version: str) -> None:
    line, ada, ben = shared.line, fresh("ada"), fresh("ben")
    good, revoked = token_for(line, ada), token_for(line, ben)
    line.ok("token", "revoke", ben)
    proofs = {
        "": "serve.proof",
        "nonsense": "token.unknown",
        "lc_0123456789_" + "A" * 43: "token.unknown",
        good[:-1] + ("A" if good[-1] != "A" else "B"): "token.unknown",
        good + "A": "token.unknown",
        good.upper(): "token.unknown",
        "x" * 5_000: "token.unknown",
        revoked: "token.revoked",
    }
    for proof, code in proofs.items():
        said = HttpPeer(shared, version, proof=proof).ask("tools/list")
        assert (said.status, said.error["code"]) == (401, code), (proof, said)
        assert said.headers["www-authenticate"].startswith("Bearer")
        assert_nothing_leaks(said, shared, good, revoked, *([proof] if proof else []))
    assert HttpPeer(shared, version, proof=good).greet().call("status").data["me"] == ada


def test_a_token_that_is_revoked_is_good_for_no_further_call_of_its_session(
    shared: ServeProcess, fresh: Fresh
) -> None:
    line, ada = shared.line, fresh("ada")
    peer = HttpPeer(shared, OLD, proof=token_for(line, ada)).greet()
    assert peer.call("claim", resources=[fresh("a")]).data["claims"]
    line.ok("token", "revoke", ada)
    said = peer.call("status")
    assert (said.status, said.error["code"]) == (401, "token.revoked")


FOREIGN = (
    ("host", "evil.example", 421),
    ("host", "127.0.0.1", 421),  # without the port: what a page under another name would send
    ("host", "evil.example:PORT", 421),
    ("origin", "http://evil.example", 403),
    ("origin", "http://127.0.0.1:PORT.evil.example", 403),
    ("origin", "https://127.0.0.1:1", 403),
    ("origin", "null", 403),
)


@VERSIONS
def test_a_page_of_another_site_does_not_come_in(shared: ServeProcess, version: str) -> None:
    for header, value, status in FOREIGN:
        peer = HttpPeer(shared, version)
        peer.headers[header] = value.replace("PORT", str(shared.door.port))
        said = peer.ask("tools/list")
        assert said.status == status, (header, value, said)
        assert_nothing_leaks(said, shared)
        assert peer.is_alive()


def test_our_own_page_and_our_own_names_come_in(shared: ServeProcess) -> None:
    for name in ("127.0.0.1", "localhost", "LOCALHOST", "[::1]"):
        place = f"{name}:{shared.door.port}"
        peer = HttpPeer(shared, NEW, agent="ada", host=place, origin=f"http://{place}")
        assert peer.call("status").data["me"] == "ada"


# -- names ----------------------------------------------------------------------------------------------


@VERSIONS
def test_an_agents_token_is_good_for_its_own_name_and_its_sub_agents_only(
    shared: ServeProcess, fresh: Fresh, version: str
) -> None:
    line, ada, ben, file = shared.line, fresh("ada"), fresh("ben"), fresh("b")
    token = token_for(line, ada)
    line.ok("claim", file, "--as", ben)
    other = HttpPeer(shared, version, proof=token, agent=ben).greet()
    for tool, arguments in (
        ("release", {"resources": [file]}),
        ("status", {}),
        ("say", {"text": "I am ben"}),
    ):
        said = other.call(tool, **arguments)
        assert (said.result["isError"], said.error["code"]) == (True, "token.other"), said
        assert_nothing_leaks(said, shared, token)
    assert line.holders(file) == [ben]
    assert HttpPeer(shared, version, proof=token, agent=ada).greet().call("status").data["me"] == ada
    helper = HttpPeer(shared, version, proof=token, agent=f"{ada}/helper").greet()
    assert helper.call("status").data["me"] == f"{ada}/helper"


@VERSIONS
def test_a_persons_token_is_the_person_or_any_agent(shared: ServeProcess, fresh: Fresh, version: str) -> None:
    grace, ben = fresh("grace"), fresh("ben")
    token = token_for(shared.line, grace, "--person")
    person = HttpPeer(shared, version, proof=token).greet()
    assert person.call("status").data["me"] == grace
    assert person.call("say", text="hello").data["audience"]
    as_ben = HttpPeer(shared, version, proof=token, agent=ben).greet()
    assert as_ben.call("claim", resources=[fresh("b")]).data["claims"][0]["agent"] == ben
    kinds = {agent["name"]: agent["kind"] for agent in shared.line.json("status")["agents"]}
    assert (kinds[grace], kinds[ben]) == ("person", "agent")


def test_a_name_that_is_none_is_refused(shared: ServeProcess) -> None:
    for name in ("Ada Lovelace", "../x", "a" * 500, "\xe4"):
        said = HttpPeer(shared, NEW, agent=name).call("claim", resources=["a"])
        assert said.error["code"] != "bug", (name, said)
        assert said.result["isError"], (name, said)


@pytest.mark.parametrize("way", [TCP, SOCKET])
def test_a_process_of_this_user_without_a_name_is_an_agent_and_never_the_person(
    line: CommandLine, way: str
) -> None:
    """With a server of its own: who worked in this tree before would be taken for the caller."""
    peer = HttpPeer(ServeProcess(line), OLD, way=way).greet()
    assert peer.call("status").data["me"] == "agent-1"
    assert peer.call("say", text="hello").data["id"]
    assert [(a["name"], a["kind"]) for a in line.json("status")["agents"]] == [("agent-1", "agent")]


@VERSIONS
def test_a_session_is_of_no_use_to_another_token(shared: ServeProcess, fresh: Fresh, version: str) -> None:
    name, other = fresh("ada"), fresh("ben")
    ada = HttpPeer(shared, OLD, proof=token_for(shared.line, name)).greet()
    thief = HttpPeer(shared, OLD, proof=token_for(shared.line, other))
    thief.headers["mcp-session-id"] = ada.headers["mcp-session-id"]
    for said in (thief.call("status"), thief.send(b"", "DELETE"), thief.send(b"", "GET")):
        assert said.status == 404, said
    thief.version = thief.headers["mcp-protocol-version"] = version
    if version == NEW:  # which has no sessions: it is answered, as who it is
        assert thief.call("status").data["me"] == other
    assert ada.call("status").data["me"] == name


# -- trees ----------------------------------------------------------------------------------------------


def test_a_tool_a_shell_and_a_hook_of_one_agent_are_one_agent(shared: ServeProcess, fresh: Fresh) -> None:
    line, ada = shared.line, fresh("ada")
    tree = Path(line.json("worktree", "add", "--agent", ada)["path"])
    peer = HttpPeer(shared, NEW, proof=token_for(line, ada))
    assert peer.call("claim", resources=["login.py"]).data["claims"][0]["agent"] == ada
    shell = line.at(tree).run("claim", "pay.py", "--json", env={"CLAUDECODE": "1"})
    assert shell.data["claims"][0]["agent"] == ada
    edit = {
        "session_id": "s1", "cwd": str(tree), "hook_event_name": "PreToolUse", "tool_name": "Write",
        "tool_input": {"file_path": str(tree / "hook.py"), "content": "x"},
    }  # fmt: skip
    hooked = line.at(tree).run("hook", "claude", "PreToolUse", stdin=json.dumps(edit))
    assert hooked.code == 0, hooked
    claims = [claim for claim in line.json("status")["claims"] if claim["tree"] == tree.name]
    held = {claim["resource"]: claim["agent"] for claim in claims}
    assert held == {"file:login.py": ada, "file:pay.py": ada, "file:hook.py": ada}
    agents = {agent["name"]: agent["tree"] for agent in line.json("agent", "list")["agents"]}
    assert agents[ada] == tree.name


def test_an_agent_works_in_the_tree_that_it_names_else_in_its_own_else_in_ours(
    shared: ServeProcess, shared_repo: TemporaryRepo, fresh: Fresh
) -> None:
    line, repo, ada = shared.line, shared_repo, fresh("ada")
    own = Path(line.json("worktree", "add", "--agent", ada)["path"])
    repo.commit("New", {"new.py": "x = 1\n"}, at=own)
    other = repo.add_worktree("topic")
    inside = other / "deep"
    inside.mkdir()
    here = HttpPeer(shared, NEW, agent=ada)
    assert here.call("check").data["branch"] == repo.git("branch", "--show-current", at=own)
    there = HttpPeer(shared, NEW, agent=ada, **{"x-lineclear-worktree": str(other)})
    assert there.call("check").data["branch"] == "topic"
    deep = HttpPeer(shared, NEW, agent=ada, **{"x-lineclear-worktree": str(inside)})
    assert deep.call("claim", resources=["x.py"]).data["claims"][0]["resource"] == "file:deep/x.py"
    stranger = HttpPeer(shared, NEW, agent="stray")
    assert stranger.call("claim", resources=["y.py"]).data["claims"]
    assert {a["name"]: a["tree"] for a in line.json("agent", "list")["agents"]}["stray"] == "main"


@pytest.mark.parametrize("way", [TCP, SOCKET])
def test_another_repository_is_not_reached_through_this_one(
    shared: ServeProcess, fresh: Fresh, tmp_path: Path, way: str
) -> None:
    line = shared.line
    elsewhere = TemporaryRepo.create(tmp_path / "elsewhere", line.environment)
    CommandLine(elsewhere.path, line.environment).ok("init")
    link = line.place / fresh("link")
    link.symlink_to(elsewhere.path)
    places = (elsewhere.path, link, tmp_path, Path("/"), Path("/etc/passwd"), Path("elsewhere"), Path("\xff"))
    for place in places:
        peer = HttpPeer(shared, NEW, way=way, agent="ada", **{"x-lineclear-worktree": str(place)})
        said = peer.call("claim", resources=["a"])
        assert (said.result["isError"], said.error["code"]) == (True, "serve.elsewhere"), (place, said)
    assert CommandLine(elsewhere.path, line.environment).holders("a") == []


def test_an_agent_whose_tree_is_gone_works_in_ours(shared: ServeProcess, fresh: Fresh) -> None:
    ada = fresh("ada")
    tree = Path(shared.line.json("worktree", "add", "--agent", ada)["path"])
    shutil.rmtree(tree)
    assert HttpPeer(shared, NEW, agent=ada).call("claim", resources=[fresh("a")]).data["claims"]


# -- those who hold the door --------------------------------------------------------------------------------


def _open(served: ServeProcess, text: bytes = b"") -> socket.socket:
    line = socket.create_connection((served.door.host, served.door.port))
    line.sendall(text)
    return line


def _is_ended(line: socket.socket, within_s: float) -> bool:
    line.settimeout(within_s)
    try:
        return line.recv(1) == b""
    except ConnectionResetError:
        return True
    except TimeoutError:
        return False


def test_many_who_say_nothing_do_not_keep_others_out(shared: ServeProcess) -> None:
    silent = [_open(shared, b"" if number % 2 else b"POST /mcp HTTP/1.1\r\nHos") for number in range(200)]
    try:
        for version in (NEW, OLD):
            assert HttpPeer(shared, version, agent="ada").greet().call("status").data["me"] == "ada"
    finally:
        for line in silent:
            line.close()


@pytest.fixture
def many_files() -> Iterator[None]:
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (before[1], before[1]))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, before)


@pytest.mark.usefixtures("many_files")
def test_more_than_there_is_room_for_are_hung_up_on_and_the_socket_stays_open(shared: ServeProcess) -> None:
    silent: list[socket.socket] = []
    try:
        for _ in range(connections.MOST_CONNECTIONS + 20):
            silent.append(_open(shared))
        until(lambda: _is_ended(silent[-1], 0.1))
        assert HttpPeer(shared, NEW, way=SOCKET, agent="ada").call("status").data["me"] == "ada"
    finally:
        for line in silent:
            line.close()

    def is_answered() -> bool:
        try:
            return HttpPeer(shared, NEW, agent="ada").call("status").status == 200
        except OSError:
            return False

    until(is_answered)


@pytest.mark.slow
def test_a_head_that_does_not_come_to_its_end_is_not_waited_for(shared: ServeProcess) -> None:
    half = _open(shared, b"POST /mcp HTTP/1.1\r\nHost: x\r\n")
    quiet = _open(shared)
    try:
        for line in (half, quiet):
            assert _is_ended(line, PATIENCE_S)
    finally:
        half.close()
        quiet.close()


def test_a_body_of_somebody_who_may_not_come_in_is_not_read(shared: ServeProcess) -> None:
    head = f"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:{shared.door.port}\r\nContent-Length: 1000000\r\n\r\n"
    line = _open(shared, head.encode())
    try:
        line.settimeout(PATIENCE_S)
        assert line.recv(100).startswith(b"HTTP/1.1 401")
    finally:
        line.close()


BOMBS = {
    "a long value": b"GET / HTTP/1.1\r\nX: " + b"a" * 1_000_000 + b"\r\n\r\n",
    "many headers": b"GET / HTTP/1.1\r\n" + b"X: a\r\n" * 200_000 + b"\r\n",
    "a long line": b"GET /" + b"a" * 1_000_000 + b" HTTP/1.1\r\n\r\n",
    "no HTTP": b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" * 100,
    "another HTTP": b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    "two lengths": b"POST /mcp HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab",
    "two codings": b"POST /mcp HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nTransfer-Encoding: x\r\n\r\na",
    "a zero": b"GET /\x00 HTTP/1.1\r\nHost: x\r\n\r\n",
    "an upgrade": b"GET /mcp HTTP/1.1\r\nHost: x\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n",
}


def test_a_head_that_is_none_is_refused_and_the_server_goes_on(shared: ServeProcess) -> None:
    for name, bomb in BOMBS.items():
        _throw(shared, name, bomb)


def _throw(served: ServeProcess, name: str, bomb: bytes) -> None:
    line = _open(served)
    try:
        line.settimeout(PATIENCE_S)
        try:
            line.sendall(bomb)
            answer = line.recv(1_000)
        except ConnectionError:
            answer = b""  # hung up on
        assert not answer or answer.split()[1] in (b"400", b"401", b"421", b"431", b"501"), (name, answer)
        assert str(served.line.place).encode() not in answer
    finally:
        line.close()
    assert HttpPeer(served, NEW, agent="ada").is_alive(), name
