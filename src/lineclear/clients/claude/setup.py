"""Claude Code: hooks in the project's local settings, which it reads in linked worktrees, too (2.1.325).

Our server goes where `claude mcp add --scope local` puts one: into the user's own file, under the main
worktree's name, which holds in linked worktrees as well. The project's `.mcp.json` is for what is committed,
and Claude Code asks before it starts what is named there. The entry is word for word the one of our plugin:
of two servers that are started by the same words Claude Code starts one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lineclear.app.setup.plan import SetupFacts, SetupPlan
from lineclear.clients import json_settings, mcp_entry
from lineclear.clients.claude.hook import EVENTS

if TYPE_CHECKING:
    from typing import Any

# Its own switch: an edit is blocked where the hook fails.
_FAIL_CLOSED = {"onFailure": "block"}
IN_WORKTREES = False
# A new worktree is provisioned, which may include the project's own set-up commands.
WORKTREE_TIMEOUT_S = 600


def files(facts: SetupFacts) -> list[str]:
    home = facts.variables.get("CLAUDE_CONFIG_DIR") or facts.home
    return [f"{facts.root}/.claude/settings.local.json", f"{home}/.claude.json"]


def server() -> dict[str, Any]:
    """With `alwaysLoad` a model sees the tools at once; without it, it has to search for them."""
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
