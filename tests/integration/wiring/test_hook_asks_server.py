"""What the stub does when a server is there: it asks that first, and lineclear itself whatever goes wrong."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from lineclear.host.server_address import ServerAddress, directory_of, write_address
from tests.hooked_repo import ASKED, HookedRepo
from tests.repository import TemporaryRepo

KEY = "the-key-of-this-door"
DENIED = b'{"hookSpecificOutput":{"permissionDecision":"deny","reason":"zw\xc3\xb6lf\\n \\\\ %s"}}\n'


def answer(body: bytes, *, code: int = 0, status: bytes = b"200 OK", length: int = -1) -> bytes:
    head = [
        b"HTTP/1.1 " + status, b"content-type: application/json",
        b"content-length: %d" % (len(body) if length < 0 else length), b"x-lineclear-exit: %d" % code,
    ]  # fmt: skip
    return b"\r\n".join([*head, b"", body])


class Pretended:
    """A server that says one thing to everybody, then hangs up; `heard` are the requests."""

    def __init__(self, says: bytes, *, waits: bool = False) -> None:
        self.heard: list[tuple[list[str], bytes]] = []
        self._says, self._waits = says, waits
        self._is_over = threading.Event()
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.port = self._socket.getsockname()[1]
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def _serve(self) -> None:
        while True:
            try:
                line, _ = self._socket.accept()
            except OSError:
                return
            with line:
                self._hear(line)
                line.sendall(self._says)
                if self._waits:
                    self._is_over.wait(30)

    def _hear(self, line: socket.socket) -> None:
        with line.makefile("rb") as words:
            head = []
            while (row := words.readline().decode("utf-8").rstrip("\r\n")) != "":
                head.append(row)
            length = next(int(row[15:]) for row in head if row.startswith("Content-Length:"))
            self.heard.append((head, words.read(length)))

    def close(self) -> None:
        self._is_over.set()
        self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()
        self._thread.join()


@pytest.fixture
def ways(repo: TemporaryRepo) -> HookedRepo:
    return HookedRepo(repo)


@contextmanager
def serving(ways: HookedRepo, says: bytes, *, waits: bool = False, pid: int = 0) -> Iterator[Pretended]:
    server = Pretended(says, waits=waits)
    os.makedirs(directory_of(str(ways.state)), exist_ok=True)
    write_address(
        str(ways.state), ServerAddress("127.0.0.1", server.port, KEY, "/no/socket", pid or os.getpid(), "0")
    )
    try:
        yield server
    finally:
        server.close()


def call(ways: HookedRepo, said: str, event: str = "PreToolUse", **env: str) -> bytes:
    done = subprocess.run(
        [ways.stub, "claude", event], input=said.encode(), cwd=ways.tree, env=ways.environ | env,
        capture_output=True, check=False, timeout=60,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, b"")
    return done.stdout


def words(ways: HookedRepo, event: str = "PreToolUse", **more: Any) -> str:
    return json.dumps(ways.said(event, ways.tree / "src/b.py", **more), ensure_ascii=False)


@pytest.mark.parametrize("said", [DENIED, b"", b"x" * 9_000])
@pytest.mark.parametrize("event", ["PreToolUse", "SessionStart", "Stop"])
def test_what_the_server_answers_is_the_answer(ways: HookedRepo, said: bytes, event: str) -> None:
    with serving(ways, answer(said)) as server:
        assert call(ways, words(ways, event), event) == said
    assert len(server.heard) == 1


def test_the_server_is_told_the_call_and_who_makes_it_and_where(ways: HookedRepo) -> None:
    told = {
        "LINECLEAR_AGENT": "ada",
        "CLAUDE_PROJECT_DIR": "/zw\u00f6lf",
        "LINECLEAR_PROMPT": "long",
        "OTHER": "1",
    }
    said = words(ways, given={"new_string": "zw\u00f6lf \u4e09"})
    with serving(ways, answer(b"")) as server:
        call(ways, said, **told, USER="eva")
    head, body = server.heard[0]
    assert body == said.encode()
    assert head[0] == "POST /hook/claude/PreToolUse HTTP/1.0"
    assert f"Host: 127.0.0.1:{server.port}" in head
    assert f"Authorization: Bearer {KEY}" in head
    assert f"X-Lineclear-Cwd: {ways.tree}" in head
    sent = dict(row.removeprefix("X-Lineclear-Env: ").split("=", 1) for row in head if "-Env: " in row)
    assert sent.pop("LINECLEAR_CALL")
    assert sent == {
        "LINECLEAR_AGENT": "ada", "CLAUDE_PROJECT_DIR": "/zw\u00f6lf", "USER": "eva", "CLAUDECODE": "1",
    }  # fmt: skip


def test_every_call_has_an_id_of_its_own(ways: HookedRepo) -> None:
    with serving(ways, answer(b"")) as server:
        for _ in range(3):
            call(ways, words(ways))
    ids = [row for head, _ in server.heard for row in head if "LINECLEAR_CALL" in row]
    assert len(set(ids)) == 3


WRONG: dict[str, Callable[[], bytes]] = {
    "nothing": lambda: b"",
    "half a status": lambda: b"HTTP/1.1 200",
    "half a head": lambda: answer(b"")[:60],
    "a head without its end": lambda: answer(b"")[:-2],
    "a head and no body": lambda: answer(b"", length=len(DENIED)),
    "half a body": lambda: answer(DENIED[:40], length=len(DENIED)),
    "no length": lambda: b"HTTP/1.1 200 OK\r\n\r\n" + DENIED,
    "an odd length": lambda: b"HTTP/1.1 200 OK\r\ncontent-length: 1x\r\n\r\n" + DENIED,
    "not allowed": lambda: answer(b'{"error":1}', status=b"401 Unauthorized"),
    "elsewhere": lambda: answer(b"", status=b"409 Conflict"),
    "its own failure": lambda: answer(b"", status=b"500 Internal Server Error"),
    "another exit code": lambda: answer(DENIED, code=2),
    "another protocol": lambda: b"SSH-2.0-OpenSSH_9.6\r\n",
}


@pytest.mark.parametrize("name", WRONG)
def test_an_answer_that_is_not_whole_is_no_answer(ways: HookedRepo, name: str) -> None:
    said = words(ways)
    with serving(ways, WRONG[name]()) as server:
        assert call(ways, said) == ASKED.encode()
    assert server.heard
    assert (ways.state / "given").read_bytes() == said.encode()


def test_a_call_that_is_asked_again_keeps_its_id(ways: HookedRepo) -> None:
    with serving(ways, b"") as server:
        call(ways, words(ways))
    sent = next(row for row in server.heard[0][0] if "LINECLEAR_CALL" in row)
    assert sent.endswith("=" + (ways.state / "given-call").read_text())


@pytest.mark.parametrize("says", [b"", answer(b"")[:30], answer(b"", length=5)])
def test_a_server_that_does_not_go_on_is_not_waited_for(ways: HookedRepo, says: bytes) -> None:
    with serving(ways, says, waits=True):
        assert call(ways, words(ways)) == ASKED.encode()


def test_a_door_without_a_server_is_passed_by(ways: HookedRepo) -> None:
    with serving(ways, answer(b"")):
        pass
    assert call(ways, words(ways)) == ASKED.encode()
    assert call(ways, words(ways, "SessionStart"), "SessionStart") == ASKED.encode()


def test_whoever_has_the_port_of_a_dead_server_hears_nothing(ways: HookedRepo) -> None:
    gone = subprocess.Popen(["true"])
    gone.wait()
    with serving(ways, answer(DENIED), pid=gone.pid) as server:
        assert call(ways, words(ways)) == ASKED.encode()
    assert server.heard == []


@pytest.mark.parametrize(
    "text", ["", "127.0.0.1\n", "127.0.0.1\n1\nkey\nsock\n", "\n\n\n\n\n\n", "x\ny\nz\n0\n1\n2\n"]
)
def test_a_door_that_is_none_is_passed_by(ways: HookedRepo, text: str) -> None:
    os.makedirs(directory_of(str(ways.state)), exist_ok=True)
    (ways.state / "serve/door").write_text(text)
    assert call(ways, words(ways)) == ASKED.encode()


def test_what_cannot_be_sent_plainly_is_asked(ways: HookedRepo) -> None:
    with serving(ways, answer(b"")) as server:
        assert call(ways, words(ways), LINECLEAR_AGENT="a\r\nX-Evil: 1") == ASKED.encode()
        assert call(ways, words(ways), LINECLEAR_PERSON="x" * 20_000) == ASKED.encode()
        assert call(ways, words(ways, given={"content": "x" * 40_000})) == ASKED.encode()
        assert call(ways, words(ways, "WorktreeCreate"), "WorktreeCreate") == ASKED.encode()
    assert server.heard == []


def test_a_directory_with_a_line_end_in_its_name_is_asked(ways: HookedRepo) -> None:
    odd = ways.tree / "a\nb"
    odd.mkdir()
    with serving(ways, answer(b"")) as server:
        done = subprocess.run(
            [ways.stub, "claude", "PreToolUse"], input=words(ways).encode(), cwd=odd, env=ways.environ,
            capture_output=True, check=True,
        )  # fmt: skip
    assert done.stdout == ASKED.encode()
    assert server.heard == []


def test_a_note_of_bash_itself_is_not_read(ways: HookedRepo) -> None:
    """Who has set BASH_ENV wants it for its own scripts."""
    trap = ways.state / "trap.sh"
    trap.write_text("echo trapped\n")
    with serving(ways, answer(DENIED)):
        assert call(ways, words(ways), BASH_ENV=str(trap)) == DENIED


def test_a_bash_that_cannot_read_the_program_is_no_refusal(ways: HookedRepo) -> None:
    text = ways.stub.read_text()
    ways.stub.write_text(text.replace("ask_server() {", "ask_server() { )"))
    assert ways.stub.read_text() != text
    with serving(ways, answer(DENIED)) as server:
        done = subprocess.run(
            [ways.stub, "claude", "PreToolUse"], input=words(ways).encode(), cwd=ways.tree,
            env=ways.environ, capture_output=True, check=False,
        )  # fmt: skip
    assert (done.returncode, done.stdout) == (0, b"")
    assert server.heard == []
