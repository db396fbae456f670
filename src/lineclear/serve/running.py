"""Run the server from start to stop; only one server runs for each repository."""

from __future__ import annotations

import contextlib
import gc
import os
import resource
import secrets
import signal
import socket
import time
from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING

import anyio

from lineclear import __version__
from lineclear.core.words.refusals import refuse
from lineclear.host import server_address
from lineclear.serve.app import ServerApp
from lineclear.serve.authentication import Authenticator
from lineclear.serve.connections import MOST_CONNECTIONS
from lineclear.serve.listening import LOOPBACK, HttpServer, host_names, keep_log, listen_locally, listen_on

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any, Protocol

    from lineclear.host.server_address import ServerAddress
    from lineclear.mcp.calls import VerbRunner
    from lineclear.serve.answering import AnswerHook
    from lineclear.serve.authentication import Admit

    class BackgroundWork(Protocol):
        """The jobs that run besides answering."""

        def start(self) -> None: ...
        def stop(self, within_s: float, /) -> object: ...
        def status(self) -> dict[str, Any]: ...


STOP_WITHIN_S = 10.0
LOOK_EVERY_S = 1.0


@dataclass(frozen=True, slots=True)
class ServerPlan:
    """Where the server listens, and what it serves.

    `port`: -1 for the last one used, or else any; 0 for any. `names`: more host names that clients use.
    """

    state_directory: str
    repository: str
    environ: Mapping[str, str]
    _: KW_ONLY
    host: str = LOOPBACK
    port: int = -1
    names: tuple[str, ...] = ()
    is_all: bool = False


def run(
    plan: ServerPlan,
    runner: VerbRunner,
    answer_hook: AnswerHook,
    admit: Admit,
    work: BackgroundWork,
    on_open: Callable[[ServerAddress], None],
) -> int:
    """Serve until a signal, a `--stop` or the removal of the repository; return the exit code."""
    lock = server_address.be_the_only_one(plan.state_directory)
    if lock is None:
        found = server_address.read_address(plan.state_directory)
        raise refuse("serve.running", url=found.url if found else "", pid=found.pid if found else 0)
    keep_log(f"{server_address.directory_of(plan.state_directory)}/{server_address.LOG}")
    try:
        _raise_file_limit()
        socket_at = (plan.state_directory, plan.environ, server_address.SOCKET)
        with _listen(plan) as listener, listen_locally(*socket_at) as local:
            server_run = _ServerRun(plan, runner, work, lock, on_open)
            anyio.run(server_run.serve, listener, local, answer_hook, admit)
    finally:
        runner.close()
        os.close(lock)
    return 0


class _ServerRun:
    def __init__(
        self,
        plan: ServerPlan,
        runner: VerbRunner,
        work: BackgroundWork,
        lock: int,
        on_open: Callable[[ServerAddress], None],
    ) -> None:
        self._plan, self._runner, self._work, self._lock, self._on_open = plan, runner, work, lock, on_open
        self._began = time.time()
        self._address: ServerAddress | None = None
        self._server: HttpServer | None = None
        self._is_stopping = anyio.Event()

    async def serve(
        self, listener: socket.socket, local: socket.socket, answer_hook: AnswerHook, admit: Admit
    ) -> None:
        plan = self._plan
        host, port = listener.getsockname()[:2]
        place, key = os.fsdecode(local.getsockname()), secrets.token_urlsafe(32)
        self._address = server_address.ServerAddress(host, port, key, place, os.getpid(), __version__)
        app = ServerApp(
            self._runner, answer_hook, is_all=plan.is_all, describe=self._describe, on_stop=self._stop
        )
        guarded = Authenticator(app, plan.environ, key=key, admit=admit)
        guarded.hosts = host_names(plan.host, port, plan.names)
        self._server = HttpServer(guarded, self._open)
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
        """Both sockets listen: publish the address and start the background work."""
        assert self._address is not None
        server_address.remember_port(self._plan.state_directory, self._address.port)
        server_address.write_address(self._plan.state_directory, self._address)
        self._work.start()
        # Objects that exist by now stay: keep the garbage collector from scanning them again and again.
        gc.collect()
        gc.freeze()
        self._on_open(self._address)

    def _describe(self) -> dict[str, Any]:
        assert self._address is not None
        return {
            "name": "lineclear",
            "version": __version__,
            "repository": self._plan.repository,
            "url": self._address.url,
            "pid": os.getpid(),
            "up_s": int(time.time() - self._began),
            "work": self._work.status(),
        }

    # -- the end -----------------------------------------------------------------------------------

    def _stop(self) -> None:
        # First of all, so that no new caller finds us and is turned away.
        if self._is_ours():
            server_address.remove_address(self._plan.state_directory)
        if self._server is not None:
            self._server.should_exit = True
        self._is_stopping.set()

    async def _stop_on_signal(self) -> None:
        with anyio.open_signal_receiver(signal.SIGTERM, signal.SIGINT, signal.SIGHUP) as signals:
            async for _ in signals:
                self._stop()

    async def _stop_when_gone(self) -> None:
        """Stop when the repository was removed or uninstalled."""
        while True:
            await anyio.sleep(LOOK_EVERY_S)
            if not self._is_ours():
                self._stop()

    def _is_ours(self) -> bool:
        path = f"{server_address.directory_of(self._plan.state_directory)}/{server_address.LOCK}"
        try:
            return os.path.samestat(os.stat(path), os.fstat(self._lock))
        except OSError:
            return False

    async def _stop_calls_first(self, app: ServerApp) -> None:
        """Stop waiting calls, for which the server would otherwise wait."""
        await self._is_stopping.wait()
        await app.stop_calls()


def _raise_file_limit() -> None:
    """Raise the limit of open files, for connections and stores."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = 4 * MOST_CONNECTIONS
    if soft != resource.RLIM_INFINITY and soft < wanted:
        most = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
        with contextlib.suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, most), hard))


def _listen(plan: ServerPlan) -> socket.socket:
    port = server_address.remembered_port(plan.state_directory) if plan.port < 0 else plan.port
    for wanted in dict.fromkeys((port, 0) if plan.port < 0 else (port,)):
        try:
            return listen_on(plan.host, wanted)
        except OSError as error:
            why = error.strerror or str(error)
    raise refuse("serve.port", host=plan.host, port=port, why=why)
