"""A line to the test server that takes its time, and that the test may cut at any point."""

from __future__ import annotations

import queue
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import parse_qs, urlsplit

from tests.crash.proxy import Side

Pipe = queue.SimpleQueue[tuple[float, bytes]]
# Statements whose answers nobody waits for, and the flush that travels with a commit.
_NOT_AWAITED = (b"pg_notify", b"lineclear_flush", b"DISCARD PLANS", b"ROLLBACK", b"transaction_timeout")


class Trips:
    """Counts what a client asks and waits for: messages up to a Sync, unless they only ring or tidy up."""

    def __init__(self) -> None:
        self._side = Side(has_greeting=True)
        self._unawaited: set[bytes] = set()
        self._asks = False

    def count(self, data: bytes) -> int:
        found = 0
        for message in self._side.messages(data):
            kind, names = message[:1], message[5:].split(b"\0", 2)
            if kind == b"P" and any(word in names[1] for word in _NOT_AWAITED):
                self._unawaited.add(names[0])
            elif kind == b"B":
                self._asks = self._asks or names[1] not in self._unawaited
            elif kind == b"S":
                found += self._asks
                self._asks = False
        return found


class SlowLine:
    """Forwards TCP to the server's socket. Every byte arrives `delay_s` later, in order, at full rate."""

    def __init__(self, server_url: str, delay_s: float = 0.0) -> None:
        parts = urlsplit(server_url)
        self._server = f"{parse_qs(parts.query)['host'][0]}/.s.PGSQL.5432"
        self._delay_s = delay_s
        self._listening = socket.create_server(("127.0.0.1", 0))
        self._open: list[socket.socket] = []
        self._swallows_answers = self._swallows_questions = False
        self._is_cut = self._is_frozen = self._swallows_once = False
        self._lock = threading.Lock()
        # How often was asked and waited, and how many connections were made, so far.
        self.trips = self.connections = 0
        port = self._listening.getsockname()[1]
        self.url = (
            f"postgresql://{parts.username}@127.0.0.1:{port}{parts.path}?sslmode=disable&gssencmode=disable"
        )
        self._accepting = threading.Thread(target=self._accept, daemon=True)
        self._accepting.start()

    def swallow_answers(self) -> None:
        """What is sent from now on reaches the server; of its answers only the end of the line comes back."""
        self._swallows_answers = True

    def swallow_answers_once(self) -> None:
        """So it is with one connection; those that are made after it are good ones."""
        self._swallows_answers = self._swallows_once = True

    def swallow_questions(self) -> None:
        """What is sent from now on reaches nobody."""
        self._swallows_questions = True

    def cut(self) -> None:
        """Every connection ends, and new ones are refused, until it is repaired."""
        self._is_cut = True
        self._hang_up_all()

    def freeze(self) -> None:
        """Nothing gets through any more, and nobody is told so: packets are lost in both directions."""
        self._is_frozen = True

    def repair(self) -> None:
        """Connections made from now on are good ones."""
        was_frozen, self._is_frozen = self._is_frozen, False
        self._swallows_answers = self._swallows_questions = self._is_cut = False
        if was_frozen:
            self._hang_up_all()  # what was lost on them never comes again

    def _hang_up_all(self) -> None:
        with self._lock:
            ends, self._open = self._open, []
        for end in ends:
            _hang_up(end)

    def close(self) -> None:
        # First shut down: a thread that is left in `accept` would take the calls of the next line.
        self._listening.shutdown(socket.SHUT_RDWR)
        self._accepting.join()
        self._listening.close()
        self._hang_up_all()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listening.accept()
            except OSError:
                return
            if self._is_cut:
                _hang_up(client)
                continue
            client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            server = socket.socket(socket.AF_UNIX)
            try:
                server.connect(self._server)
            except OSError:  # the server is down
                server.close()
                _hang_up(client)
                continue
            with self._lock:
                self._open += [client, server]
                self.connections += 1
            for source, target, is_answer in ((client, server, False), (server, client, True)):
                pipe: Pipe = queue.SimpleQueue()
                threading.Thread(
                    target=self._read, args=(source, target, pipe, is_answer), daemon=True
                ).start()
                threading.Thread(target=self._write, args=(pipe, target), daemon=True).start()

    def _read(self, source: socket.socket, target: socket.socket, pipe: Pipe, is_answer: bool) -> None:
        trips = Trips()
        while True:
            try:
                data = source.recv(65_536)
            except OSError:
                data = b""
            if data and self._is_frozen:
                continue
            if not is_answer:
                made = trips.count(data)
                with self._lock:
                    self.trips += made
            if data and (self._swallows_answers if is_answer else self._swallows_questions):
                if self._swallows_once:
                    self._swallows_answers = self._swallows_once = False
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
