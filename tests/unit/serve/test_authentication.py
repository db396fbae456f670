"""Whom the door lets in stands for an environment: its own if it sends one, not that of who started us."""

from __future__ import annotations

from typing import Any

import anyio
import pytest

from lineclear.mcp.calls import REQUESTER, Requester
from lineclear.serve.authentication import Authenticator

STARTED_WITH = {
    "PATH": "/bin",
    "USER": "sam",
    "CLAUDECODE": "1",
    "LINECLEAR_AGENT": "ada",
    "LINECLEAR_CLAIMS_TTL": "5m",
    "GIT_DIR": "/elsewhere",
}


def visitor_with(*headers: tuple[bytes, bytes]) -> Requester:
    """Whom a request by the Unix socket with these headers becomes."""
    seen: list[Requester] = []

    async def app(scope: Any, _receive: Any, _send: Any) -> None:
        seen.append(scope[REQUESTER])

    async def nobody(_token: str) -> tuple[str, str, str]:
        raise AssertionError("a socket needs no token")

    async def nothing(*_: Any) -> Any:
        raise AssertionError("nothing is read, and nothing refused")

    scope = {"type": "http", "server": ("/run/sock", None), "headers": list(headers)}
    anyio.run(Authenticator(app, STARTED_WITH, key="k", admit=nobody), scope, nothing, nothing)
    return seen[0]


def test_who_started_the_server_is_not_who_calls() -> None:
    assert visitor_with().environ == {"PATH": "/bin", "USER": "sam", "LINECLEAR_CLAIMS_TTL": "5m"}


@pytest.mark.parametrize("sent", [b"LINECLEAR_AGENT=bob", b"LINECLEAR_CALL=1=2"])
def test_who_sends_variables_is_not_given_ours(sent: bytes) -> None:
    name, _, value = sent.decode().partition("=")
    assert visitor_with((b"x-lineclear-env", sent)).environ == {"PATH": "/bin", name: value}
