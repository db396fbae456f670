"""Copilot CLI: a file of our own among the project's hooks, and our server in the project's `.mcp.json`;
skipped until the folder is trusted.
"""

from __future__ import annotations

from lineclear.app.setup.plan import Found, Plan
from lineclear.clients import json_settings, jsonc, mcp_entry, trusted_folders
from lineclear.clients.copilot.hook import EVENTS

IN_WORKTREES = True
_FOLDERS = "trustedFolders"
_SKELETON = '{\n  "version": 1\n}'


def files(found: Found) -> list[str]:
    return [f"{found.root}/.github/hooks/lineclear.json", f"{found.root}/.mcp.json", _config(found)]


def _config(found: Found) -> str:
    return f"{found.variables.get('COPILOT_HOME') or found.home + '/.copilot'}/config.json"


def plan_install(found: Found) -> Plan:
    plan, (path, own, _) = Plan(), files(found)
    entries: list[json_settings.Entry] = []
    for event in EVENTS:
        command = json_settings.command_for(found, path, "copilot", event)
        handler = {"type": "command", "bash": command, "timeoutSec": json_settings.TIMEOUT_S}
        entries.append((("hooks", event), handler))
    json_settings.install(plan, found, path, entries, _SKELETON)
    mcp_entry.install(plan, found, own, [mcp_entry.SERVERS], mcp_entry.entry(mcp_entry.command(found, own)))
    if found.is_main:
        _trust(plan, found)
    return plan


def _trust(plan: Plan, found: Found) -> None:
    path = _config(found)
    said = trusted_folders.parsed(found, path).get(_FOLDERS)
    if isinstance(said, list) and found.root in said:
        trusted_folders.keep(plan, found, path)
    else:
        trusted_folders.add(
            plan, found, "Copilot CLI", path, lambda text: jsonc.insert(text, [_FOLDERS], found.root)
        )


def plan_remove(found: Found) -> Plan:
    plan, (path, own, _) = Plan(), files(found)
    json_settings.remove(plan, found, path, _SKELETON)
    json_settings.remove(plan, found, own)
    if found.is_main:
        trusted_folders.remove(
            plan,
            found,
            _config(found),
            lambda text: jsonc.strip(text, [_FOLDERS], lambda item: item == found.root),
        )
    return plan
