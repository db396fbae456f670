"""opencode: a plugin of ours in the project, which calls the hook; our server in the project's settings."""

from __future__ import annotations

import json
import shlex

from lineclear.clients.setup import json_hooks, servers, whole_files
from lineclear.clients.setup.templating import fill
from lineclear.clients.setup.values import Found, Plan

IN_WORKTREES = True


def files(found: Found) -> list[str]:
    return [f"{found.root}/.opencode/plugin/lineclear.js", f"{found.root}/opencode.json"]


def plan_install(found: Found) -> Plan:
    plan, (path, own) = Plan(), files(found)
    if json_hooks.is_private(found, path):
        find = shlex.join([found.stub, "opencode", "EVENT"])
    else:
        find = json_hooks.find_hook("opencode", "EVENT")
    whole_files.install(plan, found, path, fill("opencode.js", FIND=json.dumps(find)))
    said = {"type": "local", "command": servers.command(found, own), "timeout": servers.CALL_S * 1000}
    servers.install(plan, found, own, ["mcp"], said)
    return plan


def plan_remove(found: Found) -> Plan:
    plan, (path, own) = Plan(), files(found)
    whole_files.remove(plan, found, path)
    json_hooks.remove(plan, found, own)
    return plan
