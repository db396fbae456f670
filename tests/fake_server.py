"""A server that answers commands as a test wants it, behind a door like any other."""

from __future__ import annotations

import os
import shutil
import socket
import tempfile
import threading
from collections.abc import Callable
from typing import Self

from lineclear import __version__
from lineclear.host.server_address import ServerAddress, directory_of, read_address, write_address


class FakeServer:
    """A context. `answer` gets a question's body and gives the bytes that are sent before the line is cut.
    The door of a server that runs is put back at the end."""

    def __init__(self, state_directory: str, answer: Callable[[bytes], bytes]) -> None:
        self._state, self._answer = state_directory, answer
        self._before = read_address(state_directory)
        self.asked: list[bytes] = []
        os.makedirs(directory_of(state_directory), exist_ok=True)
        # A short name: a test's own directory may be too long for a socket.
        self._place = tempfile.mkdtemp(prefix="lc-")
        self._path = f"{self._place}/fake"
        self._listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._thread = threading.Thread(target=self._serve, daemon=True)

    def __enter__(self) -> Self:
        self._listener.bind(self._path)
        self._listener.listen(8)
        write_address(self._state, ServerAddress("127.0.0.1", 1, "", self._path, os.getpid(), __version__))
        self._thread.start()
        return self

    def __exit__(self, *exc: object) -> None:
        # Not close alone: that wakes nobody who waits in accept.
        self._listener.shutdown(socket.SHUT_RDWR)
        self._thread.join()
        self._listener.close()
        shutil.rmtree(self._place)
        if self._before is not None:
            write_address(self._state, self._before)

    def _serve(self) -> None:
        while True:
            try:
                line, _ = self._listener.accept()
            except OSError:
                return
            with line:
                self.asked.append(_body(line))
                line.sendall(self._answer(self.asked[-1]))


def _body(line: socket.socket) -> bytes:
    given = b""
    while b"\r\n\r\n" not in given:
        given += line.recv(65_536)
    head, _, body = given.partition(b"\r\n\r\n")
    length = int(head.lower().split(b"content-length: ")[1].split(b"\r\n")[0])
    while len(body) < length:
        body += line.recv(65_536)
    return body
