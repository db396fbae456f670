"""A server that is far away: a local port whose bytes reach the server, and return, half a delay later."""

from __future__ import annotations

import multiprocessing
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from queue import SimpleQueue
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

CHUNK = 65_536


@contextmanager
def far_away(socket_path: str, delay_s: float) -> Iterator[int]:
    """Give a local TCP port; each round trip through it takes the delay longer than without.

    In a process of its own: libpq connects without letting other threads of its process run.
    """
    context = multiprocessing.get_context("spawn")
    receiver, sender = context.Pipe(duplex=False)
    proxy = context.Process(target=_listen, args=(sender, socket_path, delay_s / 2), daemon=True)
    proxy.start()
    try:
        yield receiver.recv()
    finally:
        proxy.kill()
        proxy.join()


def _listen(sender: Connection, socket_path: str, delay_s: float) -> None:
    door = socket.create_server(("127.0.0.1", 0))
    sender.send(door.getsockname()[1])
    _serve(door, socket_path, delay_s)


def _serve(door: socket.socket, socket_path: str, delay_s: float) -> None:
    while True:
        near, _ = door.accept()
        near.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        far = socket.socket(socket.AF_UNIX)
        far.connect(socket_path)
        for source, sink in ((near, far), (far, near)):
            line: SimpleQueue[tuple[float, bytes]] = SimpleQueue()
            threading.Thread(target=_read, args=(source, line, delay_s), daemon=True).start()
            threading.Thread(target=_write, args=(line, sink), daemon=True).start()


def _read(source: socket.socket, line: SimpleQueue[tuple[float, bytes]], delay_s: float) -> None:
    """Note when each piece is due; pieces that follow each other closely travel together."""
    data = b"-"
    while data:
        try:
            data = source.recv(CHUNK)
        except OSError:
            data = b""
        line.put((time.monotonic() + delay_s, data))


def _write(line: SimpleQueue[tuple[float, bytes]], sink: socket.socket) -> None:
    while True:
        due, data = line.get()
        time.sleep(max(0.0, due - time.monotonic()))
        try:
            if not data:
                sink.shutdown(socket.SHUT_WR)
                return
            sink.sendall(data)
        except OSError:
            return
