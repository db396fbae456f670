"""The server's life: the only one of its repository, to be found while its door is there."""

from __future__ import annotations

import contextlib
import gc
import logging
import os
import resource
import secrets
import signal
import socket
import time
from logging.handlers import RotatingFileHandler

import anyio
import uvicorn

from lineclear import __version__
from lineclear.core import refusals_serve
from lineclear.process import door as doors
from lineclear.serve.app import Served
from lineclear.serve.doorkeeper import Doorkeeper
from lineclear.serve.lines import KEEP_ALIVE_S, MOST_CONNECTIONS, Line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from typing import Any, Protocol

    from lineclear.mcp.desk import Desk
    from lineclear.process.door import Door
    from lineclear.serve.app import AnswerHook
    from lineclear.serve.doorkeeper import Admit

    class Work(Protocol):
        """What is done beside answering."""

        def start(self) -> None: ...
        def stop(self, within_s: float, /) -> object: ...
        def status(self) -> dict[str, Any]: ...


LOOPBACK = "127.0.0.1"
STOP_WITHIN_S = 10.0
# Streams that a client keeps open for news end when we do.
STREAMS_END_WITHIN_S = 1
LOOK_EVERY_S = 1.0
MOST_LOG_BYTES = 1 << 20


class Plan:
    """Where the server is to be, and what it serves."""

    __slots__ = ("environ", "host", "is_all", "names", "port", "repository", "state_directory")

    def __init__(
        self, state_directory: str, repository: str, environ: Mapping[str, str], *,
        host: str = LOOPBACK, port: int = -1, names: tuple[str, ...] = (), is_all: bool = False,
    ) -> None:  # fmt: skip
        """`port`: -1 for the one of last time, or any; 0 for any. `names`: more names to be called by."""
        self.state_directory, self.repository, self.environ = state_directory, repository, environ
        self.host, self.port, self.names, self.is_all = host, port, names, is_all


def run(
    plan: Plan, desk: Desk, answer_hook: AnswerHook, admit: Admit, work: Work, on_open: Callable[[Door], None]
) -> int:
    """Serve until a signal, a `--stop`, or the end of the repository; the exit code."""
    lock = doors.be_the_only_one(plan.state_directory)
    if lock is None:
        found = doors.read_door(plan.state_directory)
        raise refusals_serve.already_served(found.url if found else "", found.pid if found else 0)
    _keep_log(f"{doors.directory_of(plan.state_directory)}/{doors.LOG}")
    try:
        _have_room()
        with _listen(plan) as listener, _listen_locally(plan) as local:
            life = _Life(plan, desk, work, lock, on_open)
            anyio.run(life.serve, listener, local, answer_hook, admit)
    finally:
        desk.close()
        os.close(lock)
    return 0


def _keep_log(path: str) -> None:
    """What goes wrong beside the answers, for a person to read later."""
    handler = RotatingFileHandler(path, maxBytes=MOST_LOG_BYTES, backupCount=1, delay=True, encoding="utf-8")
    handler.setFormatter(logging.Formatter("%(asctime)s %(name)s %(levelname)s %(message)s"))
    handler.setLevel(logging.WARNING)
    logging.getLogger().addHandler(handler)


class _Life:
    def __init__(
        self, plan: Plan, desk: Desk, work: Work, lock: int, on_open: Callable[[Door], None]
    ) -> None:
        self._plan, self._desk, self._work, self._lock, self._on_open = plan, desk, work, lock, on_open
        self._began = time.time()
        self._door: Door | None = None
        self._server: uvicorn.Server | None = None
        self._is_stopping = anyio.Event()

    async def serve(
        self, listener: socket.socket, local: socket.socket, answer_hook: AnswerHook, admit: Admit
    ) -> None:
        plan = self._plan
        host, port = listener.getsockname()[:2]
        place, key = os.fsdecode(local.getsockname()), secrets.token_urlsafe(32)
        self._door = doors.Door(host, port, key, place, os.getpid(), __version__)
        app = Served(self._desk, answer_hook, is_all=plan.is_all, describe=self._describe, on_stop=self._stop)
        keeper = Doorkeeper(app, plan.environ, key=key, admit=admit)
        keeper.hosts = _names(plan, port)
        config = uvicorn.Config(
            keeper, log_config=None, access_log=False, lifespan="off", server_header=False, date_header=False,
            timeout_graceful_shutdown=STREAMS_END_WITHIN_S, ws="none", loop="asyncio", http=Line,
            timeout_keep_alive=KEEP_ALIVE_S, proxy_headers=False,
        )  # fmt: skip
        self._server = _Server(config, self._open)
        async with app.open(), anyio.create_task_group() as group:
            group.start_soon(self._stop_on_signal)
            group.start_soon(self._stop_when_gone)
            group.start_soon(self._stop_calls_first, app)
            await self._server.serve(sockets=[listener, local])
            group.cancel_scope.cancel()
        await anyio.to_thread.run_sync(self._work.stop, STOP_WITHIN_S)
        with contextlib.suppress(FileNotFoundError):
            os.unlink(place)

    def _open(self) -> None:
        """Everything listens: from now on others may find us."""
        assert self._door is not None
        doors.remember_port(self._plan.state_directory, self._door.port)
        doors.write_door(self._plan.state_directory, self._door)
        self._work.start()
        # What is there by now stays: looking through it again and again for what could go is in vain.
        gc.collect()
        gc.freeze()
        self._on_open(self._door)

    def _describe(self) -> dict[str, Any]:
        assert self._door is not None
        return {
            "name": "lineclear",
            "version": __version__,
            "repository": self._plan.repository,
            "url": self._door.url,
            "pid": os.getpid(),
            "up_s": int(time.time() - self._began),
            "work": self._work.status(),
        }

    # -- the end -----------------------------------------------------------------------------------

    def _stop(self) -> None:
        # First: nobody new comes, and nobody is turned away.
        if self._is_ours():
            doors.remove_door(self._plan.state_directory)
        if self._server is not None:
            self._server.should_exit = True
        self._is_stopping.set()

    async def _stop_on_signal(self) -> None:
        with anyio.open_signal_receiver(signal.SIGTERM, signal.SIGINT, signal.SIGHUP) as signals:
            async for _ in signals:
                self._stop()

    async def _stop_when_gone(self) -> None:
        """A repository that was removed, or put out of coordination, takes its server with it."""
        while True:
            await anyio.sleep(LOOK_EVERY_S)
            if not self._is_ours():
                self._stop()

    def _is_ours(self) -> bool:
        path = f"{doors.directory_of(self._plan.state_directory)}/{doors.LOCK}"
        try:
            return os.path.samestat(os.stat(path), os.fstat(self._lock))
        except OSError:
            return False

    async def _stop_calls_first(self, app: Served) -> None:
        """Calls that wait would otherwise be waited for."""
        await self._is_stopping.wait()
        await app.stop_calls()


class _Server(uvicorn.Server):
    """Signals are ours, and we are told when it listens."""

    def __init__(self, config: uvicorn.Config, on_open: Callable[[], None]) -> None:
        super().__init__(config)
        self._on_open = on_open

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets=sockets)
        if self.started:
            self._on_open()


def _have_room() -> None:
    """For every connection that we let stay, beside the files of the stores."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = 4 * MOST_CONNECTIONS
    if soft != resource.RLIM_INFINITY and soft < wanted:
        most = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
        with contextlib.suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, most), hard))


def _listen(plan: Plan) -> socket.socket:
    port = doors.remembered_port(plan.state_directory) if plan.port < 0 else plan.port
    for wanted in dict.fromkeys((port, 0) if plan.port < 0 else (port,)):
        try:
            return _bound(plan.host, wanted)
        except OSError as error:
            why = error.strerror or str(error)
    raise refusals_serve.port_taken(plan.host, port, why)


def _bound(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # By its name: asyncio sets TCP_NODELAY only then, and without it each answer waits 40 ms for an ACK.
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((host, port))
        listener.listen(1024)
    except BaseException:
        listener.close()
        raise
    return listener


def _listen_locally(plan: Plan) -> socket.socket:
    """The socket, which is open to this user alone from its first moment on."""
    local = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        place = doors.socket_place(plan.state_directory, plan.environ.get("XDG_RUNTIME_DIR", ""))
        with contextlib.suppress(FileNotFoundError):
            os.unlink(place)  # left behind by one that was killed: we hold the lock
        before = os.umask(0o177)
        try:
            local.bind(place)
        finally:
            os.umask(before)
        local.listen(1024)
    except OSError as error:
        local.close()
        raise refusals_serve.no_socket(str(error)) from error
    return local


def _names(plan: Plan, port: int) -> frozenset[bytes]:
    """How a Host header may call us."""
    hosts = {"127.0.0.1", "localhost", "[::1]"} if plan.host in (LOOPBACK, "::1", "localhost") else set()
    hosts.add(f"[{plan.host}]" if ":" in plan.host else plan.host)
    return frozenset(f"{name.lower()}:{port}".encode() for name in (*hosts, *plan.names))
