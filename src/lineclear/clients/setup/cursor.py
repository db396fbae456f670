"""Cursor: hooks and our server in the project's files. By its documentation; not run here, since it cannot be
installed.
"""

from __future__ import annotations

from lineclear.clients.hooking.cursor import EVENTS, FAIL_CLOSED
from lineclear.clients.setup import json_hooks, servers
from lineclear.clients.setup.values import Found, Plan

IN_WORKTREES = True
_SKELETON = '{\n  "version": 1\n}'


def files(found: Found) -> list[str]:
    return [f"{found.root}/.cursor/hooks.json", f"{found.root}/.cursor/mcp.json"]


def plan_install(found: Found) -> Plan:
    plan, (path, own) = Plan(), files(found)
    closed = FAIL_CLOSED if found.is_closed else {}
    entries: list[json_hooks.Entry] = []
    for event in EVENTS:
        command = json_hooks.command_for(found, path, "cursor", event)
        entries.append((("hooks", event), {"command": command, "timeout": json_hooks.TIMEOUT_S} | closed))
    json_hooks.install(plan, found, path, entries, _SKELETON)
    servers.install(plan, found, own, [servers.SERVERS], servers.entry(servers.command(found, own)))
    return plan


def plan_remove(found: Found) -> Plan:
    plan, (path, own) = Plan(), files(found)
    json_hooks.remove(plan, found, path, _SKELETON)
    json_hooks.remove(plan, found, own)
    return plan
