"""Ports: free is what a server could be started on now, on any of the addresses that matter."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import closing

import pytest

from lineclear.process.ports import is_free

PLACES = [
    (socket.AF_INET, "127.0.0.1"),
    (socket.AF_INET, "0.0.0.0"),
    (socket.AF_INET6, "::1"),
    (socket.AF_INET6, "::"),
]


@pytest.fixture(params=PLACES, ids=[address for _, address in PLACES])
def server(request: pytest.FixtureRequest) -> Iterator[socket.socket]:
    family, address = request.param
    try:
        listener = socket.create_server((address, 0), family=family)
    except OSError:
        pytest.skip(f"this host has no {address}")
    with closing(listener):
        yield listener


def test_a_port_that_somebody_listens_on_is_not_free(server: socket.socket) -> None:
    assert not is_free(server.getsockname()[1])


def test_a_port_is_free_again_when_the_server_has_ended(server: socket.socket) -> None:
    port = server.getsockname()[1]
    with socket.create_connection(
        ("127.0.0.1", port) if server.family == socket.AF_INET else ("::1", port)
    ) as client:
        answer, _ = server.accept()
        answer.close()  # the server's side closes first: its end of the connection lingers in the kernel
        client.recv(1)
    server.close()
    assert is_free(port)


def test_looking_leaves_the_port_free() -> None:
    with closing(socket.create_server(("127.0.0.1", 0))) as listener:
        port = listener.getsockname()[1]
    assert is_free(port)
    assert is_free(port)
