"""Answer hooks under /hook and commands under /command.

Plain ASGI without the MCP SDK, since `lineclear run` answers these too.
"""

from __future__ import annotations

import logging
from json import dumps
from typing import TYPE_CHECKING

import anyio
from anyio import to_thread

from lineclear.core.words.refusals import refuse
from lineclear.hook.serving import Elsewhere
from lineclear.mcp.calls import REQUESTER
from lineclear.serve.authentication import one
from lineclear.serve.remote_commands import RemoteCommands

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    from lineclear.mcp.calls import Requester, VerbRunner
    from lineclear.serve.authentication import Receive, Scope, Send

    # (client, event, the client's JSON, environment, directory) -> (the answer, exit code)
    AnswerHook = Callable[[str, str, bytes, Mapping[str, str], str], tuple[bytes, int]]

MOST_BODY_BYTES, MOST_HOOK_BYTES = 4 << 20, 16 << 20
HOOKS_AT_ONCE = 8
# A stub gives up earlier and does the work itself; a client's own HTTP hook would wait for ever.
HOOK_WITHIN_S = 30.0


class HooksAndCommands:
    def __init__(self, runner: VerbRunner, answer_hook: AnswerHook) -> None:
        self._commands = RemoteCommands(runner)
        self._answer_hook, self._hooks = answer_hook, anyio.CapacityLimiter(HOOKS_AT_ONCE)

    def stop_calls(self) -> None:
        self._commands.stop()

    async def answer(self, scope: Scope, receive: Receive, send: Send) -> bool:
        """Answer a hook or a command; False, with nothing sent, for any other request."""
        path = scope["path"]
        if scope["method"] == "POST" and path.startswith("/hook/"):
            await self._hook(scope, receive, send)
        elif scope["method"] == "POST" and path == "/command":
            body = await read_body(receive, MOST_BODY_BYTES)
            await self._commands.answer(scope[REQUESTER], body, receive, send)
        else:
            return False
        return True

    async def _hook(self, scope: Scope, receive: Receive, send: Send) -> None:
        requester: Requester = scope[REQUESTER]
        client, _, event = str(scope["path"]).removeprefix("/hook/").partition("/")
        if not client or not event or "/" in event:
            raise refuse("serve.call", why="a hook is /hook/CLIENT/EVENT")
        body = await read_body(receive, MOST_HOOK_BYTES)
        cwd = one(scope["headers"], b"x-lineclear-cwd").decode("utf-8", "surrogateescape") or requester.cwd

        def work() -> tuple[bytes, int]:
            try:
                return self._answer_hook(client, event, body, requester.environ, cwd)
            except Elsewhere:
                raise refuse("serve.elsewhere", path=cwd) from None

        with anyio.move_on_after(HOOK_WITHIN_S):
            output, code = await to_thread.run_sync(work, limiter=self._hooks, abandon_on_cancel=True)
            kind = b"application/json" if output[:1] == b"{" else b"text/plain; charset=utf-8"
            await answer(send, 200, output, kind, (b"x-lineclear-exit", str(code).encode()))
            return
        logging.getLogger("lineclear").warning("hook %s %s took over %s s", client, event, HOOK_WITHIN_S)
        await answer(send, 504, b"", b"text/plain")


async def read_body(receive: Receive, limit: int) -> bytes:
    pieces, size = [], 0
    while True:
        message = await receive()
        if message["type"] != "http.request":
            raise refuse("serve.call", why="it was cut off")
        pieces.append(message.get("body", b""))
        size += len(pieces[-1])
        if size > limit:
            raise refuse("serve.body", limit=limit)
        if not message.get("more_body"):
            return b"".join(pieces)


async def answer(send: Send, status: int, body: bytes, kind: bytes, *more: tuple[bytes, bytes]) -> None:
    headers = [(b"content-type", kind), (b"content-length", str(len(body)).encode()), *more]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


async def answer_json(send: Send, data: dict[str, Any]) -> None:
    envelope = {"schema": "lineclear/1", "data": data, "warnings": []}
    await answer(send, 200, dumps(envelope).encode(), b"application/json")
