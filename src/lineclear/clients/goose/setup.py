"""goose: our own plugin in the project, with hooks and our server. Tested with 1.52.0; 1.34.0 reads only the
hooks, and ignores their answers.
"""

from __future__ import annotations

import json

from lineclear.app.setup.plan import SetupFacts, SetupPlan
from lineclear.clients import json_settings, mcp_entry, whole_files
from lineclear.clients.goose.hook import EVENTS

# goose's own setting to block an edit if the hook fails.
_FAIL_CLOSED = {"on_failure": "block"}
IN_WORKTREES = True
_MANIFEST = {
    "name": "lineclear",
    "version": "1.0.0",
    "description": "Asks .git/lineclear/hook of this clone before and after each change",
}


def files(facts: SetupFacts) -> list[str]:
    place = f"{facts.root}/.agents/plugins/lineclear"
    return [f"{place}/hooks/hooks.json", f"{place}/plugin.json", f"{place}/.mcp.json"]


def plan_install(facts: SetupFacts) -> SetupPlan:
    plan, (path, manifest, own) = SetupPlan(), files(facts)
    entries: list[json_settings.Entry] = []
    for event, matcher in EVENTS.items():
        command = json_settings.command_for(facts, path, "goose", event)
        handler = {"type": "command", "command": command, "timeout": json_settings.TIMEOUT_S}
        if facts.is_closed and event == "PreToolUse":
            handler |= _FAIL_CLOSED
        entries.append((("hooks", event), json_settings.group(matcher, handler)))
    json_settings.install(plan, facts, path, entries)
    whole_files.install(plan, facts, manifest, json.dumps(_MANIFEST, indent=2) + "\n")
    mcp_entry.install(plan, facts, own, [mcp_entry.SERVERS], mcp_entry.entry(mcp_entry.command(facts, own)))
    plan.notes.append("goose before 1.52 runs the hooks but ignores their answers; see `goose --version`")
    return plan


def plan_remove(facts: SetupFacts) -> SetupPlan:
    plan, (path, manifest, own) = SetupPlan(), files(facts)
    json_settings.remove(plan, facts, path)
    json_settings.remove(plan, facts, own)
    if manifest in facts.record.get("files", {}):
        whole_files.remove(plan, facts, manifest)
    return plan
