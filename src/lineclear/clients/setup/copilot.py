"""Copilot CLI: a file of our own among the project's hooks, and our server in the project's `.mcp.json`;
skipped until the folder is trusted.
"""

from __future__ import annotations

from lineclear.clients.hooking.copilot import EVENTS
from lineclear.clients.setup import json_hooks, jsonc, servers, trusting
from lineclear.clients.setup.values import Found, Plan

IN_WORKTREES = True
_FOLDERS = "trustedFolders"
_SKELETON = '{\n  "version": 1\n}'


def files(found: Found) -> list[str]:
    return [f"{found.root}/.github/hooks/lineclear.json", f"{found.root}/.mcp.json", _config(found)]


def _config(found: Found) -> str:
    return f"{found.variables.get('COPILOT_HOME') or found.home + '/.copilot'}/config.json"


def plan_install(found: Found) -> Plan:
    plan, (path, own, _) = Plan(), files(found)
    entries: list[json_hooks.Entry] = []
    for event in EVENTS:
        command = json_hooks.command_for(found, path, "copilot", event)
        handler = {"type": "command", "bash": command, "timeoutSec": json_hooks.TIMEOUT_S}
        entries.append((("hooks", event), handler))
    json_hooks.install(plan, found, path, entries, _SKELETON)
    servers.install(plan, found, own, [servers.SERVERS], servers.entry(servers.command(found, own)))
    if found.is_main:
        _trust(plan, found)
    return plan


def _trust(plan: Plan, found: Found) -> None:
    path = _config(found)
    said = trusting.parsed(found, path).get(_FOLDERS)
    if isinstance(said, list) and found.root in said:
        trusting.keep(plan, found, path)
    else:
        trusting.add(
            plan, found, "Copilot CLI", path, lambda text: jsonc.insert(text, [_FOLDERS], found.root)
        )


def plan_remove(found: Found) -> Plan:
    plan, (path, own, _) = Plan(), files(found)
    json_hooks.remove(plan, found, path, _SKELETON)
    json_hooks.remove(plan, found, own)
    if found.is_main:
        trusting.remove(
            plan,
            found,
            _config(found),
            lambda text: jsonc.strip(text, [_FOLDERS], lambda item: item == found.root),
        )
    return plan
