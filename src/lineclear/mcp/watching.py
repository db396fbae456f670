"""Notify clients when a page changes; one thread follows the log for all of them."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import anyio
import mcp_types as types
from anyio import from_thread, to_thread
from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler, ResourceUpdated
from mcp.shared.exceptions import MCPError

from lineclear.mcp import pages
from lineclear.mcp.calls import EXCHANGE, VerbCall

if TYPE_CHECKING:
    from typing import Any

    from mcp.server.context import ServerRequestContext
    from mcp.server.session import ServerSession

    from lineclear.mcp.calls import VerbRunner

MOST_TEXT = 200
# Subscriptions of one session.
MOST_PAGES = 100
# A client that does not read its notifications must not delay the others.
TELL_WITHIN_S = 1.0
BEGIN_WITHIN_S, AGAIN_S = 5.0, 1.0


class Watch:
    """Notifies clients of protocol 2026-07-28 on a stream, and older ones by subscription."""

    def __init__(self, runner: VerbRunner) -> None:
        self._runner = runner
        self._bus = InMemorySubscriptionBus()
        self._streams = ListenHandler(self._bus)
        # session ("" over stdin and stdout) -> address -> the session to notify
        self._subscribed: dict[str, dict[str, ServerSession]] = {}
        self._listened: Counter[str] = Counter()
        self._is_wanted, self._is_following = anyio.Event(), anyio.Event()

    async def subscribe(
        self, asked: ServerRequestContext[Any, Any], params: types.SubscribeRequestParams
    ) -> types.EmptyResult:
        address = str(params.uri)
        if pages.verb_of(address) is None:
            raise unknown_page(address)
        session = _session_of(asked)
        if session is None:
            words = "This session is no longer kept: start a new one to receive changes"
            raise MCPError(types.INVALID_REQUEST, words)
        wanted = self._subscribed.setdefault(session, {})
        if address not in wanted and len(wanted) >= MOST_PAGES:
            raise _too_many()
        wanted[address] = asked.session
        await self._start_following()
        return types.EmptyResult()

    async def unsubscribe(
        self, asked: ServerRequestContext[Any, Any], params: types.UnsubscribeRequestParams
    ) -> types.EmptyResult:
        self._subscribed.get(_session_of(asked) or "", {}).pop(str(params.uri), None)
        return types.EmptyResult()

    def is_subscribed(self, session: str) -> bool:
        return bool(self._subscribed.get(session))

    def forget(self, session: str) -> None:
        self._subscribed.pop(session, None)

    async def listen(
        self, asked: ServerRequestContext[Any, Any], params: types.SubscriptionsListenRequestParams
    ) -> types.SubscriptionsListenResult:
        wanted = set(params.notifications.resource_subscriptions or ())
        if len(wanted) > MOST_PAGES:
            raise _too_many()
        self._listened.update(wanted)
        try:
            if wanted:
                await self._start_following()
            return await self._streams(asked, params)
        finally:
            self._listened.subtract(wanted)
            self._listened += Counter()  # forgets what nobody listens to

    async def _start_following(self) -> None:
        """Wait until we follow the log, so that a new subscriber misses nothing."""
        self._is_wanted.set()
        with anyio.move_on_after(BEGIN_WITHIN_S):
            await self._is_following.wait()

    async def run(self) -> None:
        """Follow the log from the first subscription on."""
        await self._is_wanted.wait()
        call = VerbCall()
        async with anyio.create_task_group() as group:
            group.start_soon(stop_when_cancelled, call)
            while True:
                await to_thread.run_sync(self._follow, call, limiter=anyio.CapacityLimiter(1))
                # The store was out of reach, so every page may have changed.
                await anyio.sleep(AGAIN_S)
                await self._tell(None)

    def _follow(self, call: VerbCall) -> None:
        for events in self._runner.follow(call):
            from_thread.run(self._tell, events)

    async def _tell(self, events: list[dict[str, Any]] | None) -> None:
        """Notify the clients of the pages that the events touch; None means all pages."""
        self._is_following.set()
        for session, wanted in list(self._subscribed.items()):
            with anyio.move_on_after(TELL_WITHIN_S) as patience:
                for address, way in list(wanted.items()):
                    if _is_touched(address, events):
                        await way.send_resource_updated(address)
            if patience.cancelled_caught:
                self.forget(session)
        for address in list(self._listened):
            if _is_touched(address, events):
                await self._bus.publish(ResourceUpdated(uri=address))


def unknown_page(address: str) -> MCPError:
    return MCPError(types.INVALID_PARAMS, f"There is no resource {address[:MOST_TEXT]}")


def _too_many() -> MCPError:
    return MCPError(types.INVALID_REQUEST, f"At most {MOST_PAGES} resources can be watched")


def _session_of(asked: ServerRequestContext[Any, Any]) -> str | None:
    """ "" over stdin and stdout; None if we keep no session to notify."""
    if asked.request is None:
        return ""
    exchange = asked.request.scope.get(EXCHANGE)
    return exchange.session or None if exchange is not None else None


def _is_touched(address: str, events: list[dict[str, Any]] | None) -> bool:
    return events is None or any(pages.is_touched(address, event) for event in events)


async def stop_when_cancelled(call: VerbCall) -> None:
    """On cancellation, ask the call's thread to stop; it cannot be interrupted."""
    try:
        await anyio.sleep_forever()
    finally:
        call.stop()
