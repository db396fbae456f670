"""Clients that keep hooks in groups like Claude Code's, in one JSON file of the project."""

from __future__ import annotations

from lineclear.clients.hooking.registry import hooking
from lineclear.clients.setup import json_hooks, servers
from lineclear.clients.setup.values import Plan

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from lineclear.clients.setup.values import Found


def entries(found: Found, path: str, client: str, timeout: int) -> list[json_hooks.Entry]:
    """One group for each event that we answer."""
    made: list[json_hooks.Entry] = []
    module = hooking(client)
    for event, matcher in (module.EVENTS if module is not None else {}).items():
        command = json_hooks.command_for(found, path, client, event)
        handler = {"type": "command", "command": command, "timeout": timeout}
        made.append((("hooks", event), json_hooks.group(matcher, handler)))
    return made


def plan_install(
    found: Found,
    path: str,
    client: str,
    timeout: int = json_hooks.TIMEOUT_S,
    server: Mapping[str, Any] | None = None,
) -> Plan:
    """`server`: our MCP server, where the client keeps servers in the same file."""
    plan = Plan()
    added = servers.members(found, [servers.SERVERS], server) if server is not None else []
    json_hooks.install(plan, found, path, entries(found, path, client, timeout), servers=added)
    return plan


def plan_remove(found: Found, path: str) -> Plan:
    plan = Plan()
    json_hooks.remove(plan, found, path)
    return plan
