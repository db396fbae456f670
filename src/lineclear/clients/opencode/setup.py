"""opencode: a plugin of ours in the project, which calls the hook; our server in the project's settings."""

from __future__ import annotations

import json
import shlex

from lineclear.app.setup.plan import Found, Plan
from lineclear.clients import json_settings, mcp_entry, whole_files
from lineclear.clients.templating import fill

IN_WORKTREES = True


def files(found: Found) -> list[str]:
    return [f"{found.root}/.opencode/plugin/lineclear.js", f"{found.root}/opencode.json"]


def plan_install(found: Found) -> Plan:
    plan, (path, own) = Plan(), files(found)
    if json_settings.is_private(found, path):
        find = shlex.join([found.stub, "opencode", "EVENT"])
    else:
        find = json_settings.find_hook("opencode", "EVENT")
    whole_files.install(plan, found, path, fill("opencode/plugin.js", FIND=json.dumps(find)))
    said = {"type": "local", "command": mcp_entry.command(found, own), "timeout": mcp_entry.CALL_S * 1000}
    mcp_entry.install(plan, found, own, ["mcp"], said)
    return plan


def plan_remove(found: Found) -> Plan:
    plan, (path, own) = Plan(), files(found)
    whole_files.remove(plan, found, path)
    json_settings.remove(plan, found, own)
    return plan
