"""Answer hooks and commands from a thread of `lineclear run`.

While `lineclear serve` runs, the published address is its own, and nobody asks us. If anything fails here,
hooks do their work alone.
"""

from __future__ import annotations

import os
import secrets
import threading
from contextlib import ExitStack, suppress
from typing import TYPE_CHECKING

import anyio

from lineclear import __version__
from lineclear.core.words.refusals import Refusal
from lineclear.host import server_address
from lineclear.host.interrupt_shield import shield_thread
from lineclear.serve.answering import HooksAndCommands, answer
from lineclear.serve.authentication import Authenticator, turn_away
from lineclear.serve.listening import LOOPBACK, HttpServer, host_names, keep_log, listen_locally, listen_on

if TYPE_CHECKING:
    import socket
    from collections.abc import Mapping
    from typing import Self

    from lineclear.mcp.calls import VerbRunner
    from lineclear.serve.answering import AnswerHook
    from lineclear.serve.authentication import Admit, Receive, Scope, Send

SOCKET = "run.sock"
ANNOUNCE_EVERY_S = 1.0
END_WITHIN_S = 5.0


class HookServer:
    """A context manager that answers while it is open."""

    def __init__(
        self,
        state_directory: str,
        environ: Mapping[str, str],
        runner: VerbRunner,
        answer_hook: AnswerHook,
        admit: Admit,
    ) -> None:
        self._directory, self._environ = state_directory, environ
        self._runner, self._answer_hook, self._admit = runner, answer_hook, admit
        self._answers: HooksAndCommands | None = None
        self._ending = ExitStack()

    def __enter__(self) -> Self:
        try:
            self._start()
        except (OSError, Refusal):
            self._ending.close()
        return self

    def __exit__(self, *exc: object) -> None:
        self._ending.close()

    def _start(self) -> None:
        directory = server_address.directory_of(self._directory)
        os.makedirs(directory, mode=0o700, exist_ok=True)
        # Not in the thread: binding the socket changes the umask for a moment, which all threads share.
        local = self._ending.enter_context(listen_locally(self._directory, self._environ, SOCKET))
        place = os.fsdecode(local.getsockname())
        self._ending.callback(_remove, place)
        listener = self._ending.enter_context(listen_on(LOOPBACK, 0))
        host, port = listener.getsockname()[:2]
        address = server_address.ServerAddress(
            host, port, secrets.token_urlsafe(32), place, os.getpid(), __version__
        )
        keep_log(f"{directory}/{server_address.LOG}")
        guarded = Authenticator(self._answer, self._environ, key=address.key, admit=self._admit)
        guarded.hosts = host_names(host, port)
        server = HttpServer(guarded)
        thread = threading.Thread(
            target=self._run, args=(server, [listener, local], address), name="hook-server", daemon=True
        )
        self._ending.callback(self._stop, server, thread, address)
        thread.start()

    def _run(
        self, server: HttpServer, sockets: list[socket.socket], address: server_address.ServerAddress
    ) -> None:
        shield_thread()

        async def serve() -> None:
            self._answers = HooksAndCommands(self._runner, self._answer_hook)
            async with anyio.create_task_group() as group:
                group.start_soon(self._announce, address)
                await server.serve(sockets=sockets)
                group.cancel_scope.cancel()

        anyio.run(serve)

    async def _announce(self, address: server_address.ServerAddress) -> None:
        """Publish our address repeatedly, since a `serve` may start and end meanwhile."""
        while True:
            with suppress(OSError):
                server_address.announce(self._directory, address)
            await anyio.sleep(ANNOUNCE_EVERY_S)

    def _stop(
        self, server: HttpServer, thread: threading.Thread, address: server_address.ServerAddress
    ) -> None:
        with suppress(OSError):
            server_address.withdraw(self._directory, address)
        if self._answers is not None:
            self._answers.stop_calls()
        server.should_exit = True
        thread.join(END_WITHIN_S)
        # The thread may have announced the address once more before it ended.
        with suppress(OSError):
            server_address.withdraw(self._directory, address)

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        try:
            if self._answers is None or not await self._answers.answer(scope, receive, send):
                await answer(send, 404, b"", b"text/plain")
        except Refusal as refusal:
            await turn_away(send, refusal)


def _remove(path: str) -> None:
    with suppress(OSError):
        os.unlink(path)
