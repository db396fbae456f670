"""Claude Code: hooks in the project's local settings, which also apply in linked worktrees (2.1.325).

Our server goes where `claude mcp add --scope local` puts one: into the user's own file, under the main
worktree's path, which also applies in linked worktrees. Not into `.mcp.json`: that file is meant to be
committed, and Claude Code asks before it starts servers from it. The entry is identical to the one in our
plugin: of two servers with the same command, Claude Code starts only one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lineclear.app.setup.plan import SetupFacts, SetupPlan
from lineclear.clients import json_settings, mcp_entry
from lineclear.clients.claude.hook import EVENTS

if TYPE_CHECKING:
    from typing import Any

# Claude Code's own setting to block an edit if the hook fails.
_FAIL_CLOSED = {"onFailure": "block"}
IN_WORKTREES = False
# Making a worktree may include the project's own set-up commands.
WORKTREE_TIMEOUT_S = 600


def files(facts: SetupFacts) -> list[str]:
    home = facts.variables.get("CLAUDE_CONFIG_DIR") or facts.home
    return [f"{facts.root}/.claude/settings.local.json", f"{home}/.claude.json"]


def server() -> dict[str, Any]:
    """With `alwaysLoad` the model sees the tools at once; otherwise it has to search for them."""
    return mcp_entry.entry(mcp_entry.anywhere(), alwaysLoad=True)


def plan_install(facts: SetupFacts) -> SetupPlan:
    plan, (path, own) = SetupPlan(), files(facts)
    closed = _FAIL_CLOSED if facts.is_closed else {}
    entries = []
    for event, matcher in EVENTS.items():
        command = json_settings.command_for(facts, path, "claude", event)
        timeout = WORKTREE_TIMEOUT_S if event == "WorktreeCreate" else json_settings.TIMEOUT_S
        handler = {"type": "command", "command": command, "timeout": timeout} | closed
        entries.append((("hooks", event), json_settings.group(matcher, handler)))
    json_settings.install(plan, facts, path, entries)
    mcp_entry.install(plan, facts, own, ["projects", facts.root, mcp_entry.SERVERS], server())
    return plan


def plan_remove(facts: SetupFacts) -> SetupPlan:
    plan = SetupPlan()
    for path in files(facts):
        json_settings.remove(plan, facts, path)
    return plan
