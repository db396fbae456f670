"""For clients that keep hooks in groups like Claude Code's, in one JSON file of the project."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lineclear.app.setup.plan import SetupPlan
from lineclear.clients import json_settings, mcp_entry

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from lineclear.app.setup.plan import SetupFacts


def entries(
    facts: SetupFacts, path: str, client: str, events: Mapping[str, str], timeout: int
) -> list[json_settings.Entry]:
    """One group for each event that we handle."""
    made: list[json_settings.Entry] = []
    for event, matcher in events.items():
        command = json_settings.command_for(facts, path, client, event)
        handler = {"type": "command", "command": command, "timeout": timeout}
        made.append((("hooks", event), json_settings.group(matcher, handler)))
    return made


def plan_install(
    facts: SetupFacts,
    path: str,
    client: str,
    events: Mapping[str, str],
    timeout: int = json_settings.TIMEOUT_S,
    server: Mapping[str, Any] | None = None,
) -> SetupPlan:
    """`server`: our MCP server, if the client keeps servers in the same file."""
    plan = SetupPlan()
    added = mcp_entry.members(facts, [mcp_entry.SERVERS], server) if server is not None else []
    json_settings.install(plan, facts, path, entries(facts, path, client, events, timeout), servers=added)
    return plan


def plan_remove(facts: SetupFacts, path: str) -> SetupPlan:
    plan = SetupPlan()
    json_settings.remove(plan, facts, path)
    return plan
