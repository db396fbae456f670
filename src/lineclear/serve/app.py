"""The server's routes: tools under /mcp, hooks under /hook, commands under /command.

Plain ASGI: three kinds of requests need no framework besides the SDK.
"""

from __future__ import annotations

from contextlib import AsyncExitStack, asynccontextmanager
from functools import lru_cache
from typing import TYPE_CHECKING

import anyio
import mcp_types as types
from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp.server.auth.provider import AccessToken
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

from lineclear.core.words.refusals import Refusal, refuse
from lineclear.mcp.calls import EXCHANGE, REQUESTER, Exchange
from lineclear.mcp.server import ToolService
from lineclear.serve.answering import MOST_BODY_BYTES, HooksAndCommands, answer, answer_json
from lineclear.serve.authentication import is_from_socket, one, turn_away
from lineclear.serve.sessions import IDLE_S, MOST_OF_ONE, Sessions

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable
    from typing import Any

    from anyio.abc import TaskGroup

    from lineclear.mcp.calls import Requester, VerbRunner
    from lineclear.serve.answering import AnswerHook
    from lineclear.serve.authentication import Message, Receive, Scope, Send

SESSION, REVISION, METHOD, NAME = b"mcp-session-id", b"mcp-protocol-version", b"mcp-method", b"mcp-name"
NEWEST = types.LATEST_PROTOCOL_VERSION.encode()
MOST_SESSIONS = 1_000
# With more requests than this at once, all take the same path, so that none overtakes the others.
BRIEF_AMONG = 8


class ServerApp:
    """The application. `on_stop` stops the server, `describe` returns its status."""

    def __init__(
        self,
        runner: VerbRunner,
        answer_hook: AnswerHook,
        *,
        is_all: bool,
        describe: Callable[[], dict[str, Any]],
        on_stop: Callable[[], None],
    ) -> None:
        self._service = ToolService(runner, is_all=is_all)
        self._others = HooksAndCommands(runner, answer_hook)
        server = self._service.server()
        self._lasting = StreamableHTTPSessionManager(
            server,
            max_request_body_size=MOST_BODY_BYTES,
            max_sessions=MOST_SESSIONS,
            session_idle_timeout=IDLE_S + 60,  # longer than ours, so that we never ask for one that is gone
        )
        # For sessions that began before this server was restarted.
        self._passing = StreamableHTTPSessionManager(
            server, stateless=True, max_request_body_size=MOST_BODY_BYTES
        )
        # For calls that are answered at once: they report no progress, so they need no stream.
        self._brief = StreamableHTTPSessionManager(
            server, stateless=True, json_response=True, max_request_body_size=MOST_BODY_BYTES
        )
        self._sessions = Sessions(self._let_go)
        self._group: TaskGroup | None = None
        self._asking = 0
        self._describe, self._on_stop = describe, on_stop

    @asynccontextmanager
    async def open(self) -> AsyncIterator[None]:
        async with AsyncExitStack() as stack:
            stack.callback(self._service.close)
            for manager in (self._lasting, self._passing, self._brief):
                await stack.enter_async_context(manager.run())
            self._group = group = await stack.enter_async_context(anyio.create_task_group())
            group.start_soon(self._service.watch)
            yield
            group.cancel_scope.cancel()

    async def stop_calls(self) -> None:
        self._others.stop_calls()
        await self._service.stop_calls()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return  # `open` starts and ends us, and we speak no websockets
        try:
            await self._serve(scope, receive, send)
        except Refusal as refusal:
            await turn_away(send, refusal)

    async def _serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        method, path = scope["method"], scope["path"]
        if path == "/mcp":
            await self._tools(scope, receive, send)
        elif method == "GET" and path == "/":
            await answer_json(send, self._describe())
        elif method == "POST" and path == "/stop" and is_from_socket(scope):
            self._on_stop()
            await answer_json(send, {"stopping": True})
        elif not await self._others.answer(scope, receive, send):
            await answer(send, 404, b"", b"text/plain")

    # -- tools -------------------------------------------------------------------------------------

    async def _tools(self, scope: Scope, receive: Receive, send: Send) -> None:
        requester: Requester = scope[REQUESTER]
        scope["user"] = _user(requester.proof)
        session = one(scope["headers"], SESSION).decode("latin-1")
        if session and not self._sessions.take(session, requester.proof):
            client = self._sessions.client_of(session, requester.proof)
            await self._answer_once(scope, receive, send, client)
            return
        exchange = scope[EXCHANGE] = Exchange(session)
        is_post = scope["method"] == "POST"
        self._asking += is_post
        try:
            if is_post and one(scope["headers"], REVISION) == NEWEST:
                await self._answer_newest(scope, receive, send)
                return
            if is_post and not session and not self._sessions.has_room(requester.proof):
                raise refuse("serve.sessions", most=MOST_OF_ONE)
            await self._lasting.handle_request(scope, receive, self._noting(scope, requester.proof, send))
        finally:
            self._asking -= is_post
            exchange.end()
            is_told = bool(session) and self._service.is_subscribed(session)
            self._sessions.put_back(session, requester.proof, client=exchange.client, is_told=is_told)

    async def _answer_newest(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a client of the newest revision, which has no sessions."""
        first = await receive()
        body, headers = first.get("body", b""), scope["headers"]
        is_whole = self._asking <= BRIEF_AMONG and not first.get("more_body")
        is_call = is_whole and one(headers, METHOD) == b"tools/call"
        is_brief = is_call and self._service.is_brief(one(headers, NAME).decode("latin-1"), body)
        manager = self._brief if is_brief else self._lasting
        await manager.handle_request(scope, _again(first, receive), send)

    def _noting(self, scope: Scope, owner: str, send: Send) -> Send:
        """Pass messages on, and record which session begins or ends."""
        asked = one(scope["headers"], SESSION)

        async def noting(message: Message) -> None:
            if message["type"] == "http.response.start" and message["status"] < 300:
                begun = one(message["headers"], SESSION)
                if begun and not asked:
                    self._sessions.begin(begun.decode("latin-1"), owner)
                elif asked and scope["method"] == "DELETE":
                    session = asked.decode("latin-1")
                    self._sessions.end(session)
                    self._service.forget(session)
            await send(message)

        return noting

    def _let_go(self, session: str, owner: str) -> None:
        """Make the SDK drop the session, as if its client had ended it."""
        self._service.forget(session)
        headers = [(SESSION, session.encode("latin-1"))]
        scope = {"type": "http", "method": "DELETE", "path": "/mcp", "headers": headers, "user": _user(owner)}
        if self._group is not None:
            self._group.start_soon(self._lasting.handle_request, scope, _nothing_more, _to_nobody)

    async def _answer_once(self, scope: Scope, receive: Receive, send: Send, client: str) -> None:
        """Answer a request of a session that we no longer keep, by itself and without news."""
        if scope["method"] == "GET":
            await answer(send, 405, b"", b"text/plain", (b"allow", b"POST"))
            return
        exchange = scope[EXCHANGE] = Exchange("", client)
        try:
            await self._passing.handle_request(scope, receive, send)
        finally:
            exchange.end()


@lru_cache(maxsize=256)
def _user(proof: str) -> AuthenticatedUser:
    """The SDK's user: only the requester that began a session may use it."""
    return AuthenticatedUser(AccessToken(token="", client_id=proof, scopes=[]))


async def _nothing_more() -> Message:
    return {"type": "http.request", "body": b"", "more_body": False}


async def _to_nobody(_message: Message) -> None:
    pass


def _again(first: Message, receive: Receive) -> Receive:
    """A `receive` that returns `first`, which was already read, once more."""
    kept = [first]

    async def again() -> Message:
        return kept.pop() if kept else await receive()

    return again
