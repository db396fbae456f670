"""opencode: a plugin of ours in the project, which calls the hook."""

from __future__ import annotations

import json
import shlex

from lineclear.clients.setup import json_hooks, whole_files
from lineclear.clients.setup.templating import fill
from lineclear.clients.setup.values import Found, Plan

IN_WORKTREES = True


def files(found: Found) -> list[str]:
    return [f"{found.root}/.opencode/plugin/lineclear.js"]


def plan_install(found: Found) -> Plan:
    plan, (path,) = Plan(), files(found)
    if json_hooks.is_private(found, path):
        find = shlex.join([found.stub, "opencode", "EVENT"])
    else:
        find = fill("find_hook.sh", CLIENT="opencode", EVENT="EVENT").strip()
    whole_files.install(plan, found, path, fill("opencode.js", FIND=json.dumps(find)))
    return plan


def plan_remove(found: Found) -> Plan:
    plan, (path,) = Plan(), files(found)
    whole_files.remove(plan, found, path)
    return plan
