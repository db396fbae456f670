"""Adds our MCP server to a client's settings, beside the user's own servers and always under one name.

In a file that may be committed, the entry is a line of shell that finds the stub or, failing that, the
`lineclear` on the PATH. It contains no variable: some clients expand variables in their settings.
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
# Most clients' name for the object with their servers.
SERVERS = "mcpServers"
# `claim`, `inbox` and `task_next` wait for up to ten minutes; no client may give up before.
CALL_S = 630
# The server starts in a second or two, but much later on a busy machine.
START_S = 60


def command(facts: SetupFacts, path: str) -> list[str]:
    """The command that the client starts. Has an absolute path only in a file that stays on this machine."""
    return [facts.stub, "mcp"] if json_settings.is_private(facts, path) else anywhere()


def anywhere() -> list[str]:
    """The command for a file that is read in more than one clone."""
    return ["sh", "-c", fill("templates/find_mcp.sh").strip()]


def entry(words: Sequence[str], **more: Any) -> dict[str, Any]:
    """The server's entry in the form that most clients use."""
    return {"command": words[0], "args": list(words[1:])} | more


def members(facts: SetupFacts, under: Sequence[str], said: Mapping[str, Any]) -> list[json_settings.Entry]:
    """The entry for `json_settings.install`; none if no server is wanted."""
    return [((*under, NAME), dict(said))] if facts.has_server else []


def install(
    plan: SetupPlan, facts: SetupFacts, path: str, under: Sequence[str], said: Mapping[str, Any]
) -> None:
    """For a file in which we add only the server; removes it if no server is wanted."""
    if facts.has_server:
        json_settings.install(plan, facts, path, [], servers=members(facts, under, said))
    else:
        json_settings.remove(plan, facts, path)
