"""A server's life: the only one of its repository, found while it is there, and nobody's need."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import stat
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import mkdtemp
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest

from lineclear.host.server_address import ServerAddress, read_address, write_address
from tests.e2e.commandline import CommandLine
from tests.e2e.serving import ServeProcess, state_of
from tests.repository import TemporaryRepo
from tests.waiting import is_alive, until

Start = Callable[..., ServeProcess]


@pytest.fixture
def start(line: CommandLine) -> Iterator[Start]:
    yield lambda *words: ServeProcess(line, *words)
    line.end_all()


def test_it_says_where_it_is_and_ends_when_it_is_told(line: CommandLine, start: Start) -> None:
    served = start()
    status = line.json("serve", "--status")
    assert (status["url"], status["pid"]) == (served.url, served.running.process.pid)
    assert status["repository"] == str(line.place)
    line.ok("serve", "--stop")
    assert served.running.wait() == 0
    assert read_address(state_of(line.place)) is None
    assert line.refused("serve", "--status", code=5)["code"] == "serve.absent"
    assert line.refused("serve", "--stop", code=5)["code"] == "serve.absent"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_it_and_nothing_is_left_behind(
    line: CommandLine, start: Start, number: signal.Signals
) -> None:
    served = start()
    served.running.process.send_signal(number)
    assert served.running.wait() == 0
    left = sorted(path.name for path in Path(state_of(line.place), "serve").iterdir())
    assert left == ["lock", "port"]


def test_a_second_one_is_refused_and_told_where_the_first_is(shared: ServeProcess) -> None:
    error = shared.line.refused("serve", code=3)
    assert (error["code"], error["url"], error["pid"]) == ("serve.running", shared.url, shared.door.pid)
    assert shared.line.refused("serve", "--detach", code=3)["code"] == "serve.running"


def test_after_a_kill_the_next_one_has_the_same_address(line: CommandLine, start: Start) -> None:
    first = start()
    first.kill()
    assert read_address(state_of(line.place)) is not None, "a killed server cannot take its door away"
    assert line.refused("serve", "--status", code=5)["code"] == "serve.absent"
    line.ok("claim", "a.py", "--as", "ada")
    second = start()
    assert second.url == first.url
    assert second.door.key != first.door.key


def test_an_address_that_somebody_else_took_is_not_insisted_on(line: CommandLine, start: Start) -> None:
    first = start()
    assert first.end() == 0
    with socket.create_server(("127.0.0.1", first.door.port)):
        assert start().door.port != first.door.port
        line.ok("serve", "--stop")
        error = line.refused("serve", "--port", str(first.door.port), code=1)
    assert error["code"] == "serve.port"


def test_only_this_user_can_reach_its_socket_and_read_its_key(shared: ServeProcess) -> None:
    directory, sock = Path(state_of(shared.line.place), "serve"), Path(shared.door.socket)
    paths = [directory, *directory.iterdir(), sock]
    modes = {path.name: stat.S_IMODE(path.lstat().st_mode) for path in paths}
    del modes[sock.name]
    assert modes == {"serve": 0o700, "door": 0o600, "lock": 0o600, "port": 0o600}
    assert stat.S_IMODE(sock.lstat().st_mode) == 0o600
    assert stat.S_IMODE(sock.parent.stat().st_mode) == 0o700


def test_a_repository_far_down_has_its_socket_elsewhere(
    tmp_path: Path, line: CommandLine, repo: TemporaryRepo
) -> None:
    """A socket's name cannot be longer than 107 bytes."""
    deep = tmp_path / ("d" * 120)
    TemporaryRepo.create(deep, repo.environment)
    runtime = Path(mkdtemp(dir="/tmp"))  # a socket's name must be short, and a test's own place is not
    there = CommandLine(deep, {**line.environment, "XDG_RUNTIME_DIR": str(runtime)})
    there.ok("init")
    try:
        served = ServeProcess(there)
        place = Path(served.door.socket)
        assert place.parent.parent == runtime
        assert stat.S_IMODE(place.parent.stat().st_mode) == 0o700
        assert there.json("serve", "--status")["pid"] == served.door.pid
        there.ok("serve", "--stop")
        assert not place.exists()
    finally:
        there.end_all()
        shutil.rmtree(runtime)


def test_a_server_goes_when_its_repository_does(line: CommandLine, start: Start) -> None:
    served = start()
    shutil.rmtree(line.place)
    assert served.running.wait() == 0


def test_uninstalling_waits_for_the_end_of_the_server(line: CommandLine, start: Start) -> None:
    served = start()
    error = line.refused("uninstall", "--yes", code=3)
    assert (error["code"], error["next"]) == ("uninstall.running", "lineclear serve --stop")
    assert Path(state_of(line.place)).exists()
    line.ok("serve", "--stop")
    assert served.running.wait() == 0
    line.ok("uninstall", "--yes")
    assert not Path(state_of(line.place)).exists()


def test_detached_it_stays_until_it_is_stopped(line: CommandLine) -> None:
    door = line.json("serve", "--detach")
    try:
        assert is_alive(door["pid"])
        assert line.json("serve", "--status")["pid"] == door["pid"]
        line.ok("serve", "--stop")
        until(lambda: not is_alive(door["pid"]))
    finally:
        if is_alive(door["pid"]):
            os.kill(door["pid"], signal.SIGKILL)


def test_the_doctor_knows_of_it(line: CommandLine, start: Start) -> None:
    assert "serve" not in {finding["what"] for finding in line.json("doctor")["checks"]}
    served = start()
    assert f"served at {served.url}" in line.ok("doctor").out
    write_address(state_of(line.place), ServerAddress("127.0.0.1", 1, "key", served.door.socket, 1, "0.0.1"))
    assert "the server is version 0.0.1" in line.ok("doctor").out
    served.kill()
    assert "the last server was killed" in line.ok("doctor").out


def test_a_door_with_nobody_behind_it_harms_nobody(line: CommandLine) -> None:
    os.makedirs(Path(state_of(line.place), "serve"), mode=0o700, exist_ok=True)
    write_address(state_of(line.place), ServerAddress("127.0.0.1", 1, "key", "/nowhere/sock", 1, "0.1.0"))
    line.ok("claim", "a.py", "--as", "ada")
    assert line.holders("a.py") == ["ada"]
    Path(state_of(line.place), "serve", "door").write_bytes(b"\xff\x00 nonsense\n" * 3)
    line.ok("release", "a.py", "--as", "ada")


def test_who_started_it_says_nothing_of_who_calls(line: CommandLine) -> None:
    """An agent that starts the server does not make everybody an agent, or itself everybody."""
    marked = CommandLine(line.place, {**line.environment, "CLAUDECODE": "1", "LINECLEAR_AGENT": "ada"})
    try:
        served = ServeProcess(marked)
        answer = _ask(served, "/", authorization=f"Bearer {served.door.key}")
        assert answer[0] == 200
        assert line.ok("value", "put", "limit", "3").code == 0
        assert "ada" not in {agent["name"] for agent in line.json("agent", "list")["agents"]}
    finally:
        marked.end_all()


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 401),
        ({"authorization": "Basic YTpi"}, 401),
        ({"authorization": "Bearer "}, 401),
        ({"authorization": "Bearer nonsense"}, 401),
        ({"authorization": "KEY", "host": "evil.example"}, 421),
        ({"authorization": "KEY", "host": ""}, 421),
        ({"authorization": "KEY", "origin": "http://evil.example"}, 403),
        ({"authorization": "KEY", "origin": "null"}, 403),
        ({"authorization": "KEY"}, 200),
    ],
)
def test_the_door_is_open_to_who_may_come_in(
    shared: ServeProcess, headers: dict[str, str], status: int
) -> None:
    told = {name: value.replace("KEY", f"Bearer {shared.door.key}") for name, value in headers.items()}
    got, text = _ask(shared, "/", **told)
    assert got == status, text
    if status != 200:
        assert shared.door.key not in text
        assert str(shared.line.place) not in text


def _ask(served: ServeProcess, path: str, **headers: str) -> tuple[int, str]:
    try:
        with urlopen(Request(served.url + path, headers=headers)) as reply:
            return reply.status, reply.read().decode()
    except HTTPError as error:
        return error.code, error.read().decode()


# -- as a service ----------------------------------------------------------------------------------


def test_a_service_is_written_shown_and_taken_away(line: CommandLine, tmp_path: Path) -> None:
    """A manager that notes what it is told stands in: installing must not start anything on this machine."""
    told = tmp_path / "told"
    manager = tmp_path / "bin" / "systemctl"
    manager.parent.mkdir()
    manager.write_text(f'#!/bin/sh\necho "$@" >>{told}\n')
    manager.chmod(0o755)
    config = tmp_path / "config"
    path = f"{manager.parent}:{line.environment['PATH']}"
    there = CommandLine(line.place, {**line.environment, "PATH": path, "XDG_CONFIG_HOME": str(config)})
    shown = there.ok("serve", "--install").out
    (unit,) = (config / "systemd" / "user").iterdir()
    assert unit.read_text() in shown
    assert str(line.place) in unit.read_text()
    assert f"enable {unit.name}" in told.read_text().replace("--now ", "")
    assert "is up to date" in there.ok("serve", "--install").out
    assert there.refused("serve", "--install", "--as", "ada", code=4)["code"]
    assert "is removed" in there.ok("serve", "--uninstall").out
    assert not unit.exists()
    there.ok("serve", "--install")
    there.ok("uninstall", "--yes")
    assert not unit.exists()
