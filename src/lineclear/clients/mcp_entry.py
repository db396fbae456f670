"""Our MCP server in a client's settings: beside the user's own servers, under one name everywhere.

Where a file may be committed, the entry is a line of shell that finds the stub, and else whatever
`lineclear` is on the PATH. It holds no variable: some clients put their own environment into what they read.
"""

from __future__ import annotations

from lineclear.clients import json_settings
from lineclear.clients.templating import fill

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from lineclear.app.setup.plan import Found, Plan

NAME = "lineclear"
# As most clients call the object that holds their servers.
SERVERS = "mcpServers"
# `claim`, `inbox` and `task_next` wait for ten minutes at most; no client is to give up before.
CALL_S = 630
# The server is up in a second or two; on a machine under load that may be many.
START_S = 60


def command(found: Found, path: str) -> list[str]:
    """What the client starts. An absolute path only in a file that stays on this machine."""
    return [found.stub, "mcp"] if json_settings.is_private(found, path) else anywhere()


def anywhere() -> list[str]:
    """For a file that is read in more than one place."""
    return ["sh", "-c", fill("templates/find_mcp.sh").strip()]


def entry(words: Sequence[str], **more: Any) -> dict[str, Any]:
    """The server as most clients write it."""
    return {"command": words[0], "args": list(words[1:])} | more


def members(found: Found, under: Sequence[str], said: Mapping[str, Any]) -> list[json_settings.Entry]:
    """What `json_settings.install` is to put in; nothing where no server is wanted."""
    return [((*under, NAME), dict(said))] if found.has_server else []


def install(plan: Plan, found: Found, path: str, under: Sequence[str], said: Mapping[str, Any]) -> None:
    """For a file that gets the server and nothing else from us."""
    if found.has_server:
        json_settings.install(plan, found, path, [], servers=members(found, under, said))
    else:
        json_settings.remove(plan, found, path)
