"""The command line's verbs, done here for a process that only asks: its words, place and environment come in,
what it is to print and its exit code go out.

Whoever asks may be gone, or give up, at any moment, and does the same itself then: nothing is begun for it.
"""

from __future__ import annotations

import io
from time import monotonic

import anyio
from anyio import to_thread

from lineclear.core import refusals_serve
from lineclear.core.identity import is_about_caller
from lineclear.mcp.desk import Call, Stopped, Visitor
from lineclear.process.frames import BEAT, BEAT_S, CODE, ERR, MARGIN_S, OUT, frame, listens_until
from lineclear.serve.doorkeeper import LOCAL, impersonal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from lineclear.mcp.desk import Desk
    from lineclear.serve.doorkeeper import Receive, Send

QUICK, WAITING = 8, 64
_FIELDS = {"words": list, "cwd": str, "environ": dict, "until": float}
_HEADERS = [(b"content-type", b"application/octet-stream")]


class Commands:
    """Does what processes of this user ask for."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self._quick, self._waiting = anyio.CapacityLimiter(QUICK), anyio.CapacityLimiter(WAITING)
        self._running: set[Call] = set()

    def stop(self) -> None:
        """Whoever waits here waits on by itself."""
        for call in self._running:
            call.stop()

    async def answer(self, visitor: Visitor, body: bytes, receive: Receive, send: Send) -> None:
        if visitor.proof != LOCAL:
            raise refusals_serve.bad_call("a token is good for tools and hooks, not for commands")
        words, call = _read(body, visitor)
        said, printed = _Said(send), _Printed()
        limiter = self._quick
        if any(word.startswith("--wait") for word in words):
            limiter = self._waiting
            if limiter.available_tokens < 1:
                # To wait here without a place in line would be unfair; by itself it has one.
                await said.say(b"", is_last=True)
                return

        def work() -> int:
            return self._desk.command(words, call, printed.stream(OUT), printed.stream(ERR, is_lines=True))

        self._running.add(call)
        try:
            async with anyio.create_task_group() as group:
                group.start_soon(_stop_when_gone, receive, call)
                group.start_soon(_show_life, said, printed, call)
                code = await _done(work, limiter)
                group.cancel_scope.cancel()
        finally:
            self._running.discard(call)
        end = b"" if code is None else printed.take() + frame(CODE, str(code).encode())
        await said.say(end, is_last=True)


async def _done(work: Any, limiter: anyio.CapacityLimiter) -> int | None:
    """The exit code; None when it was stopped, or is not ours to do."""
    try:
        code: int = await to_thread.run_sync(work, limiter=limiter)
    except Stopped:
        return None
    return code


async def _stop_when_gone(receive: Receive, call: Call) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
    call.stop()


async def _show_life(said: _Said, printed: _Printed, call: Call) -> None:
    """Whoever hears nothing for a while gives up, and so do we: only a sign that was sent in time counts."""
    while True:
        await anyio.sleep(BEAT_S)
        began, until = monotonic(), listens_until()
        if call.is_stopped():
            call.stop()
            return
        with anyio.CancelScope(shield=True):
            await said.say(printed.take() + frame(BEAT))
        if monotonic() - began < MARGIN_S:
            call.until = until


class _Said:
    """The answer, begun with its first piece."""

    __slots__ = ("_is_begun", "_send")

    def __init__(self, send: Send) -> None:
        self._send, self._is_begun = send, False

    async def say(self, data: bytes, *, is_last: bool = False) -> None:
        if not self._is_begun:
            self._is_begun = True
            await self._send({"type": "http.response.start", "status": 200, "headers": _HEADERS})
        await self._send({"type": "http.response.body", "body": data, "more_body": not is_last})


class _Printed:
    """What the command has written and nobody has taken yet. Written by one thread, taken by another."""

    __slots__ = ("_frames",)

    def __init__(self) -> None:
        self._frames: list[bytes] = []

    def stream(self, kind: bytes, *, is_lines: bool = False) -> io.TextIOWrapper:
        """Flushed when, and takes whatever, a process's own stream is and does."""
        raw = io.BufferedWriter(_Raw(kind, self._frames))
        return io.TextIOWrapper(raw, "utf-8", "backslashreplace", newline="\n", line_buffering=is_lines)

    def take(self) -> bytes:
        count = len(self._frames)
        taken = b"".join(self._frames[:count])
        del self._frames[:count]
        return taken


class _Raw(io.RawIOBase):
    def __init__(self, kind: bytes, frames: list[bytes]) -> None:
        super().__init__()
        self._kind, self._frames = kind, frames

    def writable(self) -> bool:
        return True

    def write(self, data: Any, /) -> int:
        piece = bytes(data)
        self._frames.append(frame(self._kind, piece))
        return len(piece)


def _read(body: bytes, visitor: Visitor) -> tuple[list[str], Call]:
    """What is asked: its words, and by whom, from where and until when."""
    from json import loads

    try:
        given = loads(body.decode("utf-8", "surrogateescape"))
        fields = [given[name] for name in _FIELDS]
    except (ValueError, KeyError, TypeError, RecursionError):
        raise refusals_serve.bad_call("a command is words, cwd, environ and until, as JSON") from None
    if not all(isinstance(field, kind) for field, kind in zip(fields, _FIELDS.values(), strict=True)):
        raise refusals_serve.bad_call("a field of the command is of the wrong type")
    words, cwd, told, until = fields
    if not all(isinstance(text, str) for text in (*words, *told.values())):
        raise refusals_serve.bad_call("words and variables are texts")
    environ = impersonal(visitor.environ)
    environ.update({name: value for name, value in told.items() if is_about_caller(name)})
    call = Call(visitor=Visitor(environ, cwd=cwd, is_person=False, proof=visitor.proof))
    call.until = until
    return words, call
