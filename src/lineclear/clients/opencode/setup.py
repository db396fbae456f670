"""opencode: our plugin in the project, which calls the hook, and our server in the project's settings."""

from __future__ import annotations

import json
import shlex

from lineclear.app.setup.plan import SetupFacts, SetupPlan
from lineclear.clients import json_settings, mcp_entry, whole_files
from lineclear.clients.templating import fill

IN_WORKTREES = True


def files(facts: SetupFacts) -> list[str]:
    return [f"{facts.root}/.opencode/plugin/lineclear.js", f"{facts.root}/opencode.json"]


def plan_install(facts: SetupFacts) -> SetupPlan:
    plan, (path, own) = SetupPlan(), files(facts)
    if json_settings.is_private(facts, path):
        find = shlex.join([facts.stub, "opencode", "EVENT"])
    else:
        find = json_settings.find_hook("opencode", "EVENT")
    whole_files.install(plan, facts, path, fill("opencode/plugin.js", FIND=json.dumps(find)))
    said = {"type": "local", "command": mcp_entry.command(facts, own), "timeout": mcp_entry.CALL_S * 1000}
    mcp_entry.install(plan, facts, own, ["mcp"], said)
    return plan


def plan_remove(facts: SetupFacts) -> SetupPlan:
    plan, (path, own) = SetupPlan(), files(facts)
    whole_files.remove(plan, facts, path)
    json_settings.remove(plan, facts, own)
    return plan
