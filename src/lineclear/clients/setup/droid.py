"""Factory droid: hooks in the project's settings, our server in its `mcp.json`. Seen with 0.225.2.

There may be a `hooks.json` as well, without a `hooks` around its events. An event that is named there counts
in there alone: so each of ours goes where the user's own of that event are.
"""

from __future__ import annotations

from lineclear.clients.setup import json_hooks, project_json, servers, trusting
from lineclear.clients.setup.values import Found, Plan

IN_WORKTREES = True


def files(found: Found) -> list[str]:
    own = f"{found.root}/.factory"
    return [f"{own}/settings.json", f"{own}/hooks.json", f"{own}/mcp.json"]


def plan_install(found: Found) -> Plan:
    plan, (path, beside, own) = Plan(), files(found)
    named = trusting.parsed(found, beside)
    settings = [entry for entry in _entries(found, path) if entry[0][-1] not in named]
    hooks = [(where[1:], group) for where, group in _entries(found, beside) if where[-1] in named]
    for file, entries in ((path, settings), (beside, hooks)):
        if entries:
            json_hooks.install(plan, found, file, entries)
        else:
            json_hooks.remove(plan, found, file)
    servers.install(plan, found, own, [servers.SERVERS], servers.entry(servers.command(found, own)))
    return plan


def _entries(found: Found, path: str) -> list[json_hooks.Entry]:
    return project_json.entries(found, path, "droid", json_hooks.TIMEOUT_S)


def plan_remove(found: Found) -> Plan:
    plan = Plan()
    for path in files(found):
        json_hooks.remove(plan, found, path)
    return plan
