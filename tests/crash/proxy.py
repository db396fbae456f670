"""Between a process and its PostgreSQL: passes every message on, and at the planned one does not.

A trip is what a client sends up to and including a Sync (or a simple query, the greeting, the goodbye). The
plan: `before` (kill the client, nothing is sent), `torn` (send half of it, kill), `unanswered` (send it, let
the server answer, kill the client before it hears), `after` (kill it with the answer), `cut` (as unanswered,
but only the connection dies), `refused` (the connection dies before anything is sent).
"""

from __future__ import annotations

import os
import selectors
import signal
import socket
import struct
from mmap import mmap
from typing import NoReturn
from urllib.parse import parse_qs, quote, urlencode, urlsplit

from tests.crash.faults import AFTER, BEFORE, TORN

UNANSWERED, CUT, REFUSED = "unanswered", "cut", "refused"
_SOCKET = ".s.PGSQL.5432"
_ENDS_A_TRIP = (b"S", b"Q", b"X")
_READY = b"Z"
_GOODBYE = b"X"


class Side:
    """One direction of a connection, cut into messages."""

    def __init__(self, has_greeting: bool) -> None:
        self._data = b""
        self._has_greeting = has_greeting

    def messages(self, data: bytes) -> list[bytes]:
        """All whole messages so far; a rest is kept."""
        self._data += data
        found = []
        while (size := self._size()) and len(self._data) >= size:
            found.append(self._data[:size])
            self._data = self._data[size:]
            self._has_greeting = False
        return found

    def _size(self) -> int:
        start = 0 if self._has_greeting else 1  # the first message has no letter before its length
        if len(self._data) < start + 4:
            return 0
        length: int = struct.unpack_from("!I", self._data, start)[0]
        return start + length


class Link:
    """One connection: what the client has sent of a trip, and how many trips were made and answered."""

    def __init__(self, client: socket.socket, server: socket.socket) -> None:
        self.client, self.server = client, server
        self.sent, self.heard = Side(has_greeting=True), Side(has_greeting=False)
        self.trip = b""
        self.trips = self.answers = 0
        self.doomed = 0  # the number of the trip on this link whose answer is the planned moment

    def close(self) -> None:
        self.client.close()
        self.server.close()


class Proxy:
    """A socket of its own in front of the server's. Runs in a process beside the client's."""

    def __init__(self, directory: str, server: str, client: int, at: int, how: str, trips: mmap) -> None:
        """`client` is the process to kill; the number of trips made is kept in `trips`, which it can read."""
        self._server, self._client, self._at, self._how = server, client, at, how
        self._trips = trips
        self._selector = selectors.DefaultSelector()
        self._door = socket.socket(socket.AF_UNIX)
        self._door.bind(os.path.join(directory, _SOCKET))
        self._door.listen()
        self._selector.register(self._door, selectors.EVENT_READ, None)

    def serve(self) -> NoReturn:
        while True:
            for key, _ in self._selector.select():
                if key.data is None:
                    self._open()
                else:
                    link, is_client = key.data
                    self._pass_on(link, is_client)

    def _open(self) -> None:
        client, _ = self._door.accept()
        server = socket.socket(socket.AF_UNIX)
        server.connect(self._server)
        link = Link(client, server)
        self._selector.register(client, selectors.EVENT_READ, (link, True))
        self._selector.register(server, selectors.EVENT_READ, (link, False))

    def _close(self, link: Link) -> None:
        self._selector.unregister(link.client)
        self._selector.unregister(link.server)
        link.close()

    def _pass_on(self, link: Link, is_client: bool) -> None:
        if link.client.fileno() < 0:
            return  # closed while its other side was handled
        try:
            data = (link.client if is_client else link.server).recv(65536)
        except ConnectionError:
            data = b""
        if not data:
            self._close(link)
        elif is_client:
            self._hear_client(link, data)
        else:
            self._hear_server(link, data)

    def _hear_client(self, link: Link, data: bytes) -> None:
        for message in link.sent.messages(data):
            link.trip += message
            if link.trips == 0 or message[:1] in _ENDS_A_TRIP:
                trip, link.trip = link.trip, b""
                link.trips += 1
                if not self._make(link, trip):
                    return

    def _make(self, link: Link, trip: bytes) -> bool:
        """Send a whole trip to the server; False if the link was cut instead."""
        made = count_of(self._trips) + 1
        self._trips[:] = struct.pack("!I", made)
        if made == self._at:
            if self._how == BEFORE:
                self._kill()
            if self._how == TORN:
                link.server.sendall(trip[: len(trip) // 2])
                self._kill()
            if self._how == REFUSED:
                self._close(link)
                return False
            link.doomed = link.trips
            if trip[:1] == _GOODBYE:
                link.server.sendall(trip)
                self._kill()
        link.server.sendall(trip)
        return True

    def _hear_server(self, link: Link, data: bytes) -> None:
        for message in link.heard.messages(data):
            if message[:1] == _READY:
                link.answers += 1
                if link.doomed == link.answers and not self._answer_doomed(link, message):
                    return
            if self._is_withheld(link):
                continue
            link.client.sendall(message)

    def _is_withheld(self, link: Link) -> bool:
        """The planned answer comes after this message, and is not for the client to hear."""
        return self._how in (UNANSWERED, CUT) and link.doomed == link.answers + 1

    def _answer_doomed(self, link: Link, message: bytes) -> bool:
        if self._how == UNANSWERED:
            self._kill()
        if self._how == CUT:
            self._close(link)
            return False
        if self._how == AFTER:
            link.client.sendall(message)
            self._kill()
        return True

    def _kill(self) -> NoReturn:
        os.kill(self._client, signal.SIGKILL)
        os._exit(0)


def new_count() -> mmap:
    """A number that processes of one fork share."""
    return mmap(-1, 4)


def count_of(trips: mmap) -> int:
    count: int = struct.unpack("!I", trips[:])[0]
    return count


def socket_of(url: str) -> str:
    """The server's own socket."""
    (directory,) = parse_qs(urlsplit(url).query)["host"]
    return os.path.join(directory, _SOCKET)


def through(url: str, directory: str) -> str:
    """The URL by which the server is reached through a proxy in this directory."""
    parts = urlsplit(url)
    query = {**parse_qs(parts.query), "host": [directory]}
    return parts._replace(query=urlencode(query, doseq=True, quote_via=quote)).geturl()
