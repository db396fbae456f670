"""Factory droid: hooks in the project's settings, our server in its `mcp.json`. Seen with 0.225.2.

There may be a `hooks.json` as well, without a `hooks` around its events. An event that is named there counts
in there alone: so each of ours goes where the user's own of that event are.
"""

from __future__ import annotations

from lineclear.app.setup.plan import Found, Plan
from lineclear.clients import hook_groups, json_settings, mcp_entry, trusted_folders
from lineclear.clients.droid.hook import EVENTS

IN_WORKTREES = True


def files(found: Found) -> list[str]:
    own = f"{found.root}/.factory"
    return [f"{own}/settings.json", f"{own}/hooks.json", f"{own}/mcp.json"]


def plan_install(found: Found) -> Plan:
    plan, (path, beside, own) = Plan(), files(found)
    named = trusted_folders.parsed(found, beside)
    settings = [entry for entry in _entries(found, path) if entry[0][-1] not in named]
    hooks = [(where[1:], group) for where, group in _entries(found, beside) if where[-1] in named]
    for file, entries in ((path, settings), (beside, hooks)):
        if entries:
            json_settings.install(plan, found, file, entries)
        else:
            json_settings.remove(plan, found, file)
    mcp_entry.install(plan, found, own, [mcp_entry.SERVERS], mcp_entry.entry(mcp_entry.command(found, own)))
    return plan


def _entries(found: Found, path: str) -> list[json_settings.Entry]:
    return hook_groups.entries(found, path, "droid", EVENTS, json_settings.TIMEOUT_S)


def plan_remove(found: Found) -> Plan:
    plan = Plan()
    for path in files(found):
        json_settings.remove(plan, found, path)
    return plan
