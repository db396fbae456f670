"""Copilot CLI: our own file among the project's hooks, and our server in the project's `.mcp.json`. Copilot
skips both until the folder is trusted.
"""

from __future__ import annotations

from lineclear.app.setup.plan import SetupFacts, SetupPlan
from lineclear.clients import json_settings, jsonc, mcp_entry, trusted_folders
from lineclear.clients.copilot.hook import EVENTS

IN_WORKTREES = True
_FOLDERS = "trustedFolders"
_SKELETON = '{\n  "version": 1\n}'


def files(facts: SetupFacts) -> list[str]:
    return [f"{facts.root}/.github/hooks/lineclear.json", f"{facts.root}/.mcp.json", _config(facts)]


def _config(facts: SetupFacts) -> str:
    return f"{facts.variables.get('COPILOT_HOME') or facts.home + '/.copilot'}/config.json"


def plan_install(facts: SetupFacts) -> SetupPlan:
    plan, (path, own, _) = SetupPlan(), files(facts)
    entries: list[json_settings.Entry] = []
    for event in EVENTS:
        command = json_settings.command_for(facts, path, "copilot", event)
        handler = {"type": "command", "bash": command, "timeoutSec": json_settings.TIMEOUT_S}
        entries.append((("hooks", event), handler))
    json_settings.install(plan, facts, path, entries, _SKELETON)
    mcp_entry.install(plan, facts, own, [mcp_entry.SERVERS], mcp_entry.entry(mcp_entry.command(facts, own)))
    if facts.is_main:
        _trust(plan, facts)
    return plan


def _trust(plan: SetupPlan, facts: SetupFacts) -> None:
    path = _config(facts)
    said = trusted_folders.parsed(facts, path).get(_FOLDERS)
    if isinstance(said, list) and facts.root in said:
        trusted_folders.keep(plan, facts, path)
    else:
        trusted_folders.add(
            plan, facts, "Copilot CLI", path, lambda text: jsonc.insert(text, [_FOLDERS], facts.root)
        )


def plan_remove(facts: SetupFacts) -> SetupPlan:
    plan, (path, own, _) = SetupPlan(), files(facts)
    json_settings.remove(plan, facts, path, _SKELETON)
    json_settings.remove(plan, facts, own)
    if facts.is_main:
        trusted_folders.remove(
            plan,
            facts,
            _config(facts),
            lambda text: jsonc.strip(text, [_FOLDERS], lambda item: item == facts.root),
        )
    return plan
