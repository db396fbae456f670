"""The server's life: the only one of its repository, to be found while its door is there."""

from __future__ import annotations

import contextlib
import gc
import os
import resource
import secrets
import signal
import socket
import time

import anyio

from lineclear import __version__
from lineclear.core.words.refusals import refuse
from lineclear.host import server_address as doors
from lineclear.serve.app import Served
from lineclear.serve.authentication import Doorkeeper
from lineclear.serve.connections import MOST_CONNECTIONS
from lineclear.serve.listening import LOOPBACK, HttpServer, host_names, keep_log, listen_locally, listen_on

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any, Protocol

    from lineclear.host.server_address import Door
    from lineclear.mcp.calls import Desk
    from lineclear.serve.answering import AnswerHook
    from lineclear.serve.authentication import Admit

    class Work(Protocol):
        """What is done beside answering."""

        def start(self) -> None: ...
        def stop(self, within_s: float, /) -> object: ...
        def status(self) -> dict[str, Any]: ...


STOP_WITHIN_S = 10.0
LOOK_EVERY_S = 1.0


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
        raise refuse("serve.running", url=found.url if found else "", pid=found.pid if found else 0)
    keep_log(f"{doors.directory_of(plan.state_directory)}/{doors.LOG}")
    try:
        _have_room()
        socket_at = (plan.state_directory, plan.environ, doors.SOCKET)
        with _listen(plan) as listener, listen_locally(*socket_at) as local:
            life = _Life(plan, desk, work, lock, on_open)
            anyio.run(life.serve, listener, local, answer_hook, admit)
    finally:
        desk.close()
        os.close(lock)
    return 0


class _Life:
    def __init__(
        self, plan: Plan, desk: Desk, work: Work, lock: int, on_open: Callable[[Door], None]
    ) -> None:
        self._plan, self._desk, self._work, self._lock, self._on_open = plan, desk, work, lock, on_open
        self._began = time.time()
        self._door: Door | None = None
        self._server: HttpServer | None = None
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
        keeper.hosts = host_names(plan.host, port, plan.names)
        self._server = HttpServer(keeper, self._open)
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
            return listen_on(plan.host, wanted)
        except OSError as error:
            why = error.strerror or str(error)
    raise refuse("serve.port", host=plan.host, port=port, why=why)
