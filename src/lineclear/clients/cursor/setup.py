"""Cursor: hooks and our server in the project's files. By its documentation; not run here, since it cannot be
installed.
"""

from __future__ import annotations

from lineclear.app.setup.plan import Found, Plan
from lineclear.clients import json_settings, mcp_entry
from lineclear.clients.cursor.hook import EVENTS

# Its own switch: an edit is blocked where the hook fails.
_FAIL_CLOSED = {"failClosed": True}
IN_WORKTREES = True
_SKELETON = '{\n  "version": 1\n}'


def files(found: Found) -> list[str]:
    return [f"{found.root}/.cursor/hooks.json", f"{found.root}/.cursor/mcp.json"]


def plan_install(found: Found) -> Plan:
    plan, (path, own) = Plan(), files(found)
    closed = _FAIL_CLOSED if found.is_closed else {}
    entries: list[json_settings.Entry] = []
    for event in EVENTS:
        command = json_settings.command_for(found, path, "cursor", event)
        entries.append((("hooks", event), {"command": command, "timeout": json_settings.TIMEOUT_S} | closed))
    json_settings.install(plan, found, path, entries, _SKELETON)
    mcp_entry.install(plan, found, own, [mcp_entry.SERVERS], mcp_entry.entry(mcp_entry.command(found, own)))
    return plan


def plan_remove(found: Found) -> Plan:
    plan, (path, own) = Plan(), files(found)
    json_settings.remove(plan, found, path, _SKELETON)
    json_settings.remove(plan, found, own)
    return plan
