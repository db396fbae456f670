"""Ports: free is what a server could be started on now, on any of the addresses that matter."""

from __future__ import annotations

import socket
from collections.abc import Callable
from contextlib import closing

import pytest

from lineclear.host.ports import is_free

PLACES = [
    (socket.AF_INET, "127.0.0.1"),
    (socket.AF_INET, "0.0.0.0"),
    (socket.AF_INET6, "::1"),
    (socket.AF_INET6, "::"),
]


def listening(family: socket.AddressFamily, address: str) -> closing[socket.socket]:
    try:
        return closing(socket.create_server((address, 0), family=family))
    except OSError:
        pytest.skip(f"this host has no {address}")


@pytest.mark.parametrize(("family", "address"), PLACES, ids=[address for _, address in PLACES])
def test_a_port_that_somebody_listens_on_is_not_free(family: socket.AddressFamily, address: str) -> None:
    with listening(family, address) as server:
        assert not is_free(server.getsockname()[1])


def is_left_free(use: Callable[[], int]) -> bool:
    """Is a port free after this use, however often one looks? Somebody else on this machine may have taken it
    by then, but hardly five times in a row."""
    return any(is_free(port) and is_free(port) for port in (use() for _ in range(5)))


@pytest.mark.parametrize(("family", "address"), PLACES, ids=[address for _, address in PLACES])
def test_a_port_is_free_again_when_the_server_has_ended(family: socket.AddressFamily, address: str) -> None:
    def serve() -> int:
        with listening(family, address) as server:
            port: int = server.getsockname()[1]
            home = "127.0.0.1" if family == socket.AF_INET else "::1"
            with socket.create_connection((home, port)) as client:
                answer, _ = server.accept()
                answer.close()  # the server's side closes first: its end of the connection lingers
                client.recv(1)
        return port

    assert is_left_free(serve)


def test_looking_leaves_the_port_free() -> None:
    def begin() -> int:
        with listening(socket.AF_INET, "127.0.0.1") as server:
            port: int = server.getsockname()[1]
        return port

    assert is_left_free(begin)
