"""The door's file and lock: whole or not there, believed by nobody, held by one."""

from __future__ import annotations

import os
import threading
from pathlib import Path
from tempfile import mkdtemp

import pytest

from lineclear.host import server_address as doors
from lineclear.host.server_address import ServerAddress

HERE = ServerAddress("127.0.0.1", 4711, "secret", "/run/lineclear/sock", 42, "0.1.0")


@pytest.fixture
def state(tmp_path: Path) -> str:
    lock = doors.be_the_only_one(str(tmp_path))
    assert lock is not None
    os.close(lock)
    return str(tmp_path)


def test_what_was_written_is_read(state: str) -> None:
    doors.write_address(state, HERE)
    found = doors.read_address(state)
    assert found is not None
    assert (found.host, found.port, found.key) == ("127.0.0.1", 4711, "secret")
    assert (found.socket, found.pid, found.version) == ("/run/lineclear/sock", 42, "0.1.0")
    assert found.url == "http://127.0.0.1:4711"
    doors.remove_address(state)
    doors.remove_address(state)
    assert doors.read_address(state) is None


def test_a_socket_whose_name_is_not_text_is_found_again(state: str) -> None:
    name = os.fsdecode(b"/tmp/\xff\xfe/sock")
    doors.write_address(state, ServerAddress("::1", 1, "k", name, 1, "0"))
    found = doors.read_address(state)
    assert found is not None
    assert (found.socket, found.url) == (name, "http://[::1]:1")


@pytest.mark.parametrize(
    "text",
    [b"", b"\n" * 9, b"h\nport\nk\ns\n1\nv\n", b"h\n1\nk\ns\npid\nv\n", b"h\n1\nk\ns\n1", b"\xff" * 9000],
)
def test_what_is_no_door_is_not_believed(state: str, text: bytes) -> None:
    Path(doors.directory_of(state), doors.DOOR).write_bytes(text)
    assert doors.read_address(state) is None


def test_one_at_a_time(state: str) -> None:
    first = doors.be_the_only_one(state)
    assert first is not None
    assert doors.be_the_only_one(state) is None
    assert doors.is_held(state)
    os.close(first)
    assert not doors.is_held(state)


def test_who_asks_whether_a_server_runs_keeps_none_from_starting(state: str) -> None:
    is_over = threading.Event()

    def ask() -> None:
        while not is_over.is_set():
            doors.is_held(state)

    asking = threading.Thread(target=ask)
    asking.start()
    try:
        for _ in range(50):
            lock = doors.be_the_only_one(state)
            assert lock is not None
            os.close(lock)
    finally:
        is_over.set()
        asking.join()


def test_a_door_is_put_up_and_taken_down_while_no_server_runs(state: str) -> None:
    other = ServerAddress("127.0.0.1", 4712, "other", "/run/lineclear/run.sock", 43, "0.1.0")
    doors.write_address(state, HERE)  # of a server that was killed
    doors.withdraw(state, other)
    assert key_at(state) == "secret"
    doors.announce(state, other)
    assert key_at(state) == "other"
    doors.withdraw(state, other)
    assert key_at(state) == ""


def test_the_door_of_a_server_that_runs_is_left_alone(state: str) -> None:
    other = ServerAddress("127.0.0.1", 4712, "other", "/run/lineclear/run.sock", 43, "0.1.0")
    doors.announce(state, other)
    lock = doors.be_the_only_one(state)
    assert lock is not None
    doors.withdraw(state, other)
    assert key_at(state) == "other", "the server puts its own there in a moment"
    doors.write_address(state, HERE)
    doors.announce(state, other)
    doors.withdraw(state, other)
    assert key_at(state) == "secret"
    os.close(lock)


def key_at(state: str) -> str:
    found = doors.read_address(state)
    return "" if found is None else found.key


def test_a_port_is_remembered_and_nonsense_is_not(state: str) -> None:
    assert doors.remembered_port(state) == 0
    doors.remember_port(state, 4711)
    assert doors.remembered_port(state) == 4711
    for text in ("99999", "-1", "x", ""):
        Path(doors.directory_of(state), doors.PORT).write_text(text)
        assert doors.remembered_port(state) == 0


def test_a_runtime_directory_far_down_is_no_place_for_a_socket_either(tmp_path: Path) -> None:
    place = doors.socket_place(str(tmp_path / ("d" * 100)), str(tmp_path / ("r" * 100)))
    assert len(place.encode()) <= doors.LONGEST_SOCKET_BYTES
    assert place.startswith(f"/tmp/lineclear-{os.getuid()}/")


def test_a_directory_of_somebody_else_is_not_used_for_a_socket(tmp_path: Path) -> None:
    deep, run = tmp_path / ("d" * 100), Path(mkdtemp(dir="/tmp"))
    private = run / f"lineclear-{os.getuid()}"
    private.mkdir(parents=True)
    private.chmod(0o755)
    with pytest.raises(PermissionError):
        doors.socket_place(str(deep), str(run))
    private.chmod(0o700)
    place = doors.socket_place(str(deep), str(run))
    assert place.startswith(f"{private}/")
    assert doors.socket_place(str(deep), str(run)) == place
    private.rmdir()
    run.rmdir()
