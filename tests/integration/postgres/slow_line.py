"""A line to the test server that takes its time, and that the test may cut at any point."""

from __future__ import annotations

import queue
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from urllib.parse import parse_qs, urlsplit

Pipe = queue.SimpleQueue[tuple[float, bytes]]


class SlowLine:
    """Forwards TCP to the server's socket. Every byte arrives `delay_s` later, in order, at full rate."""

    def __init__(self, server_url: str, delay_s: float = 0.0) -> None:
        parts = urlsplit(server_url)
        self._server = f"{parse_qs(parts.query)['host'][0]}/.s.PGSQL.5432"
        self._delay_s = delay_s
        self._listening = socket.create_server(("127.0.0.1", 0))
        self._open: list[socket.socket] = []
        self._swallows_answers = self._swallows_questions = False
        port = self._listening.getsockname()[1]
        self.url = (
            f"postgresql://{parts.username}@127.0.0.1:{port}{parts.path}?sslmode=disable&gssencmode=disable"
        )
        _start(self._accept)

    def swallow_answers(self) -> None:
        """What is sent from now on reaches the server; of its answers only the end of the line comes back."""
        self._swallows_answers = True

    def swallow_questions(self) -> None:
        """What is sent from now on reaches nobody."""
        self._swallows_questions = True

    def repair(self) -> None:
        """Connections made from now on are good ones."""
        self._swallows_answers = self._swallows_questions = False

    def close(self) -> None:
        self._listening.close()
        for end in self._open:
            _hang_up(end)

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listening.accept()
            except OSError:
                return
            client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            server = socket.socket(socket.AF_UNIX)
            server.connect(self._server)
            self._open += [client, server]
            for source, target, is_answer in ((client, server, False), (server, client, True)):
                pipe: Pipe = queue.SimpleQueue()
                threading.Thread(
                    target=self._read, args=(source, target, pipe, is_answer), daemon=True
                ).start()
                threading.Thread(target=self._write, args=(pipe, target), daemon=True).start()

    def _read(self, source: socket.socket, target: socket.socket, pipe: Pipe, is_answer: bool) -> None:
        while True:
            try:
                data = source.recv(65_536)
            except OSError:
                data = b""
            if data and (self._swallows_answers if is_answer else self._swallows_questions):
                _hang_up(source)
                _hang_up(target)
                return
            pipe.put((time.monotonic() + self._delay_s, data))
            if not data:
                return

    def _write(self, pipe: Pipe, target: socket.socket) -> None:
        while True:
            due_at, data = pipe.get()
            time.sleep(max(0.0, due_at - time.monotonic()))
            try:
                if not data:
                    target.shutdown(socket.SHUT_WR)
                    return
                target.sendall(data)
            except OSError:
                return


def _start(run: Callable[..., None], *arguments: object) -> None:
    threading.Thread(target=run, args=arguments, daemon=True).start()


def _hang_up(end: socket.socket) -> None:
    try:
        end.shutdown(socket.SHUT_RDWR)
    except OSError:
        pass
    end.close()


@contextmanager
def slow_line(server_url: str, delay_s: float = 0.0) -> Iterator[SlowLine]:
    line = SlowLine(server_url, delay_s)
    try:
        yield line
    finally:
        line.close()
