"""Run commands for processes that cannot write to the store.

In: the command line, directory and environment. Out: what the process must print, and its exit code. If the
process has gone, its command is stopped.
"""

from __future__ import annotations

import io
from json import loads
from typing import TYPE_CHECKING

import anyio
from anyio import from_thread, to_thread

from lineclear.core.agents.identity import is_about_caller
from lineclear.core.words.refusals import refuse
from lineclear.host.command_frames import CODE, ERR, OUT, frame
from lineclear.mcp.calls import Requester, Stopped, VerbCall
from lineclear.serve.authentication import LOCAL, impersonal

if TYPE_CHECKING:
    from collections.abc import Callable

    from lineclear.mcp.calls import VerbRunner
    from lineclear.serve.authentication import Receive, Send

QUICK, WAITING = 8, 64
# We did not begin: the caller must run the command itself.
NOT_OURS = 421
_FIELDS = {"words": list, "cwd": str, "environ": dict}
_HEADERS = [(b"content-type", b"application/octet-stream")]


class RemoteCommands:
    """Answers POST /command, for processes of this user only."""

    def __init__(self, runner: VerbRunner) -> None:
        self._runner = runner
        self._quick, self._waiting = anyio.CapacityLimiter(QUICK), anyio.CapacityLimiter(WAITING)
        self._running: set[VerbCall] = set()

    def stop(self) -> None:
        """End the calls that wait."""
        for call in self._running:
            call.stop()

    async def answer(self, requester: Requester, body: bytes, receive: Receive, send: Send) -> None:
        if requester.proof != LOCAL:
            raise refuse("serve.call", why="a token is valid for tools and hooks, not for commands")
        words, call = _read(body, requester)
        answer, out = _Answer(send), io.StringIO()
        err = _Lines(lambda text: from_thread.run(answer.send, frame(ERR, _encode(text))))

        def work() -> int | None:
            """The exit code; None if the call was stopped or we must not run it."""
            try:
                return self._runner.command(words, call, out, err)
            except Stopped:
                return None

        limiter = self._waiting if any(word.startswith("--wait") for word in words) else self._quick
        self._running.add(call)
        try:
            async with anyio.create_task_group() as group:
                group.start_soon(_stop_when_gone, receive, call)
                code = await to_thread.run_sync(work, limiter=limiter)
                group.cancel_scope.cancel()
        finally:
            self._running.discard(call)
        if code is None:
            await answer.end(b"", status=NOT_OURS)
        else:
            await answer.end(frame(OUT, _encode(out.getvalue())) + frame(CODE, str(code).encode()))


async def _stop_when_gone(receive: Receive, call: VerbCall) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
    call.stop()


class _Answer:
    """Sends the response's head together with its first piece."""

    def __init__(self, send: Send) -> None:
        self._send, self._is_begun = send, False

    async def send(self, data: bytes) -> None:
        await self._begin(200)
        await self._send({"type": "http.response.body", "body": data, "more_body": True})

    async def end(self, data: bytes, *, status: int = 200) -> None:
        await self._begin(status)
        await self._send({"type": "http.response.body", "body": data, "more_body": False})

    async def _begin(self, status: int) -> None:
        if not self._is_begun:
            self._is_begun = True
            await self._send({"type": "http.response.start", "status": status, "headers": _HEADERS})


class _Lines(io.StringIO):
    """Sends at once what is written to it, so that a long call can say what it waits for."""

    def __init__(self, say: Callable[[str], None]) -> None:
        super().__init__()
        self._say = say

    def write(self, text: str, /) -> int:
        self._say(text)
        return len(text)


def _encode(text: str) -> bytes:
    return text.encode("utf-8", "backslashreplace")


def _read(body: bytes, requester: Requester) -> tuple[list[str], VerbCall]:
    """The words of the command, and the call with its requester."""
    try:
        given = loads(body.decode("utf-8", "surrogateescape"))
        fields = [given[name] for name in _FIELDS]
    except (ValueError, KeyError, TypeError, RecursionError):
        raise refuse("serve.call", why="a command is words, cwd and environ, as JSON") from None
    if not all(isinstance(field, kind) for field, kind in zip(fields, _FIELDS.values(), strict=True)):
        raise refuse("serve.call", why="a field of the command is of the wrong type")
    words, cwd, told = fields
    if not all(isinstance(text, str) for text in (*words, *told.values())):
        raise refuse("serve.call", why="words and variables are texts")
    environ = impersonal(requester.environ)
    environ.update({name: value for name, value in told.items() if is_about_caller(name)})
    return words, VerbCall(requester=Requester(environ, cwd=cwd, is_person=False, proof=requester.proof))
