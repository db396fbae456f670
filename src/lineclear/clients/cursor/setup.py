"""Cursor: hooks and our server in the project's files. Written by its documentation, not tested."""

from __future__ import annotations

from lineclear.app.setup.plan import SetupFacts, SetupPlan
from lineclear.clients import json_settings, mcp_entry
from lineclear.clients.cursor.hook import EVENTS

# Cursor's own setting to block an edit if the hook fails.
_FAIL_CLOSED = {"failClosed": True}
IN_WORKTREES = True
_SKELETON = '{\n  "version": 1\n}'


def files(facts: SetupFacts) -> list[str]:
    return [f"{facts.root}/.cursor/hooks.json", f"{facts.root}/.cursor/mcp.json"]


def plan_install(facts: SetupFacts) -> SetupPlan:
    plan, (path, own) = SetupPlan(), files(facts)
    closed = _FAIL_CLOSED if facts.is_closed else {}
    entries: list[json_settings.Entry] = []
    for event in EVENTS:
        command = json_settings.command_for(facts, path, "cursor", event)
        entries.append((("hooks", event), {"command": command, "timeout": json_settings.TIMEOUT_S} | closed))
    json_settings.install(plan, facts, path, entries, _SKELETON)
    mcp_entry.install(plan, facts, own, [mcp_entry.SERVERS], mcp_entry.entry(mcp_entry.command(facts, own)))
    return plan


def plan_remove(facts: SetupFacts) -> SetupPlan:
    plan, (path, own) = SetupPlan(), files(facts)
    json_settings.remove(plan, facts, path, _SKELETON)
    json_settings.remove(plan, facts, own)
    return plan
