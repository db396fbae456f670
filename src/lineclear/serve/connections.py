"""Close connections that stay silent, so that nobody can use them all up.

The HTTP server has no such limits. A running request and a stream of news may take for ever.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from uvicorn.protocols.http.h11_impl import H11Protocol

from lineclear.mcp.calls import EXCHANGE

if TYPE_CHECKING:
    import asyncio
    from typing import Any

LOOK_EVERY_S = 5.0
# How long we wait for a request's head, and for its body.
HEAD_WITHIN_S, BODY_WITHIN_S = 15.0, 60.0
# Longer than most clients keep a connection: they should close it, not we just when they ask again.
KEEP_ALIVE_S = 120
# Over TCP, which everybody on this machine can reach; our Unix socket has no such limit.
MOST_CONNECTIONS = 1_000
HEAD, BODY, NEXT = "head", "body", "next"


class LimitedConnection(H11Protocol):
    _phase: tuple[str, int] | None = None
    _since = 0.0
    _timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn has it
        super().connection_made(transport)
        is_tcp = self.server is None or self.server[1] is not None
        if is_tcp and len(self.connections) > MOST_CONNECTIONS:
            transport.abort()
            return
        self._since = self.loop.time()
        self._look()

    def connection_lost(self, exc: Exception | None) -> None:
        if self._timer is not None:
            self._timer.cancel()
        cycle: Any = self.cycle
        if cycle is not None and EXCHANGE in cycle.scope:
            # The requester is gone: do not begin what it asked for.
            cycle.scope[EXCHANGE].end()
        super().connection_lost(exc)

    def _look(self) -> None:
        now, phase = self.loop.time(), self._awaited()
        if phase != self._phase:
            self._phase, self._since = phase, now
        elif phase is not None and now - self._since > _PATIENCE_S[phase[0]]:
            self.transport.abort()
            return
        self._timer = self.loop.call_later(LOOK_EVERY_S, self._look)

    def _awaited(self) -> tuple[str, int] | None:
        """What we wait for from the client, and for which request; None while it is our turn."""
        cycle: Any = self.cycle
        if cycle is None:
            return HEAD, 0
        if cycle.response_complete:
            return NEXT, id(cycle)
        return (BODY, id(cycle)) if cycle.more_body else None


_PATIENCE_S = {HEAD: HEAD_WITHIN_S, BODY: BODY_WITHIN_S, NEXT: KEEP_ALIVE_S + HEAD_WITHIN_S}
