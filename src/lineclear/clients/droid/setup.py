"""Factory droid: hooks in the project's settings, our server in its `mcp.json`. Tested with 0.225.2.

There may also be a `hooks.json`, with the events at the top level. If it names an event, droid ignores that
event's hooks in the settings. So each of our hooks goes into the file that has the user's own for that event.
"""

from __future__ import annotations

from lineclear.app.setup.plan import SetupFacts, SetupPlan
from lineclear.clients import hook_groups, json_settings, mcp_entry, trusted_folders
from lineclear.clients.droid.hook import EVENTS

IN_WORKTREES = True


def files(facts: SetupFacts) -> list[str]:
    own = f"{facts.root}/.factory"
    return [f"{own}/settings.json", f"{own}/hooks.json", f"{own}/mcp.json"]


def plan_install(facts: SetupFacts) -> SetupPlan:
    plan, (path, beside, own) = SetupPlan(), files(facts)
    named = trusted_folders.parsed(facts, beside)
    settings = [entry for entry in _entries(facts, path) if entry[0][-1] not in named]
    hooks = [(where[1:], group) for where, group in _entries(facts, beside) if where[-1] in named]
    for file, entries in ((path, settings), (beside, hooks)):
        if entries:
            json_settings.install(plan, facts, file, entries)
        else:
            json_settings.remove(plan, facts, file)
    mcp_entry.install(plan, facts, own, [mcp_entry.SERVERS], mcp_entry.entry(mcp_entry.command(facts, own)))
    return plan


def _entries(facts: SetupFacts, path: str) -> list[json_settings.Entry]:
    return hook_groups.entries(facts, path, "droid", EVENTS, json_settings.TIMEOUT_S)


def plan_remove(facts: SetupFacts) -> SetupPlan:
    plan = SetupPlan()
    for path in files(facts):
        json_settings.remove(plan, facts, path)
    return plan
