"""Our MCP server in a client's settings: beside the user's own servers, under one name everywhere.

Where a file may be committed, the entry is a line of shell that finds the stub, and else whatever
`lineclear` is on the PATH. It holds no variable: some clients put their own environment into what they read.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lineclear.clients import json_settings
from lineclear.clients.templating import fill

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from lineclear.app.setup.plan import SetupFacts, SetupPlan

NAME = "lineclear"
# As most clients call the object that holds their servers.
SERVERS = "mcpServers"
# `claim`, `inbox` and `task_next` wait for ten minutes at most; no client is to give up before.
CALL_S = 630
# The server is up in a second or two; on a machine under load that may be many.
START_S = 60


def command(facts: SetupFacts, path: str) -> list[str]:
    """What the client starts. An absolute path only in a file that stays on this machine."""
    return [facts.stub, "mcp"] if json_settings.is_private(facts, path) else anywhere()


def anywhere() -> list[str]:
    """For a file that is read in more than one place."""
    return ["sh", "-c", fill("templates/find_mcp.sh").strip()]


def entry(words: Sequence[str], **more: Any) -> dict[str, Any]:
    """The server as most clients write it."""
    return {"command": words[0], "args": list(words[1:])} | more


def members(facts: SetupFacts, under: Sequence[str], said: Mapping[str, Any]) -> list[json_settings.Entry]:
    """What `json_settings.install` is to put in; nothing where no server is wanted."""
    return [((*under, NAME), dict(said))] if facts.has_server else []


def install(
    plan: SetupPlan, facts: SetupFacts, path: str, under: Sequence[str], said: Mapping[str, Any]
) -> None:
    """For a file that gets the server and nothing else from us."""
    if facts.has_server:
        json_settings.install(plan, facts, path, [], servers=members(facts, under, said))
    else:
        json_settings.remove(plan, facts, path)
