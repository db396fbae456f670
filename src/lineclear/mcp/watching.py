"""Who wants to hear that a page has changed, and the one thread that follows the log for them."""

from __future__ import annotations

import anyio
import mcp_types as types
from anyio import from_thread, to_thread
from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler, ResourceUpdated
from mcp.shared.exceptions import MCPError

from lineclear.mcp import pages
from lineclear.mcp.desk import Call

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from mcp.server.context import ServerRequestContext
    from mcp.server.session import ServerSession

    from lineclear.mcp.desk import Desk

MOST_TEXT = 200


class Watch:
    """Clients of 2026-07-28 listen on a stream, older ones subscribe; both are told of the same changes."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self._bus = InMemorySubscriptionBus()
        self._streams = ListenHandler(self._bus)
        self._subscribed: dict[str, ServerSession] = {}
        self._listened: list[str] = []
        self._is_wanted = anyio.Event()

    async def subscribe(
        self, asked: ServerRequestContext[Any, Any], params: types.SubscribeRequestParams
    ) -> types.EmptyResult:
        address = str(params.uri)
        if pages.verb_of(address) is None:
            raise unknown_page(address)
        self._subscribed[address] = asked.session
        self._is_wanted.set()
        return types.EmptyResult()

    async def unsubscribe(
        self, _asked: ServerRequestContext[Any, Any], params: types.UnsubscribeRequestParams
    ) -> types.EmptyResult:
        self._subscribed.pop(str(params.uri), None)
        return types.EmptyResult()

    async def listen(
        self, asked: ServerRequestContext[Any, Any], params: types.SubscriptionsListenRequestParams
    ) -> types.SubscriptionsListenResult:
        wanted = list(params.notifications.resource_subscriptions or ())
        self._listened += wanted
        if wanted:
            self._is_wanted.set()
        try:
            return await self._streams(asked, params)
        finally:
            for address in wanted:
                self._listened.remove(address)

    async def run(self) -> None:
        """Follows the log from the moment that somebody first wants to hear of it."""
        await self._is_wanted.wait()
        call = Call()
        async with anyio.create_task_group() as group:
            group.start_soon(stop_when_cancelled, call)
            await to_thread.run_sync(self._follow, call, limiter=anyio.CapacityLimiter(1))
            group.cancel_scope.cancel()

    def _follow(self, call: Call) -> None:
        for events in self._desk.follow(call):
            from_thread.run(self._tell, events)

    async def _tell(self, events: list[dict[str, Any]]) -> None:
        for address, session in list(self._subscribed.items()):
            if _is_touched(address, events):
                await session.send_resource_updated(address)
        for address in dict.fromkeys(self._listened):
            if _is_touched(address, events):
                await self._bus.publish(ResourceUpdated(uri=address))


def unknown_page(address: str) -> MCPError:
    return MCPError(types.INVALID_PARAMS, f"There is no resource {address[:MOST_TEXT]}")


def _is_touched(address: str, events: list[dict[str, Any]]) -> bool:
    return any(pages.is_touched(address, event) for event in events)


async def stop_when_cancelled(call: Call) -> None:
    """The thread is not interrupted: it is told, and comes to its end by itself."""
    try:
        await anyio.sleep_forever()
    finally:
        call.stop()
