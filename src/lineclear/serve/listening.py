"""Where a server listens: a TCP port for callers with a key or token, and a Unix socket for this user."""

from __future__ import annotations

import contextlib
import logging
import os
import socket
from logging.handlers import RotatingFileHandler
from typing import TYPE_CHECKING

import uvicorn

from lineclear.core.words.refusals import refuse
from lineclear.host import server_address
from lineclear.serve.connections import KEEP_ALIVE_S, LimitedConnection

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from lineclear.serve.authentication import App

LOOPBACK = "127.0.0.1"
# How long open streams of news may delay our end.
STREAMS_END_WITHIN_S = 1
MOST_LOG_BYTES = 1 << 20


def keep_log(path: str) -> None:
    """Write warnings and errors to a log file for a person to read later."""
    handler = RotatingFileHandler(path, maxBytes=MOST_LOG_BYTES, backupCount=1, delay=True, encoding="utf-8")
    handler.setFormatter(logging.Formatter("%(asctime)s %(name)s %(levelname)s %(message)s"))
    handler.setLevel(logging.WARNING)
    logging.getLogger().addHandler(handler)


class HttpServer(uvicorn.Server):
    """uvicorn without its signal handlers; calls `on_open` when it listens."""

    def __init__(self, app: App, on_open: Callable[[], None] = lambda: None) -> None:
        config = uvicorn.Config(
            app, log_config=None, access_log=False, lifespan="off", server_header=False, date_header=False,
            timeout_graceful_shutdown=STREAMS_END_WITHIN_S, ws="none", loop="asyncio", http=LimitedConnection,
            timeout_keep_alive=KEEP_ALIVE_S, proxy_headers=False,
        )  # fmt: skip
        super().__init__(config)
        self._on_open = on_open

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets=sockets)
        if self.started:
            self._on_open()


def listen_on(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # Name the protocol: only then asyncio sets TCP_NODELAY, without which each answer waits 40 ms for an ACK.
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((host, port))
        listener.listen(1024)
    except BaseException:
        listener.close()
        raise
    return listener


def listen_locally(state_directory: str, environ: Mapping[str, str], name: str) -> socket.socket:
    """A Unix socket that only this user can open, from the moment it exists."""
    local = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        place = server_address.socket_place(state_directory, environ.get("XDG_RUNTIME_DIR", ""), name)
        with contextlib.suppress(FileNotFoundError):
            os.unlink(place)  # left behind by a server that was killed: we hold the lock
        before = os.umask(0o177)
        try:
            local.bind(place)
        finally:
            os.umask(before)
        local.listen(1024)
    except OSError as error:
        local.close()
        raise refuse("serve.socket", why=str(error)) from error
    return local


def host_names(host: str, port: int, more: Iterable[str] = ()) -> frozenset[bytes]:
    """The Host headers that we accept."""
    hosts = {"127.0.0.1", "localhost", "[::1]"} if host in (LOOPBACK, "::1", "localhost") else set()
    hosts.add(f"[{host}]" if ":" in host else host)
    return frozenset(f"{name.lower()}:{port}".encode() for name in (*hosts, *more))
