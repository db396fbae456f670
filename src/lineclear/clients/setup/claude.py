"""Claude Code: hooks in the project's local settings, which it reads in linked worktrees, too (2.1.325)."""

from __future__ import annotations

from lineclear.clients.hooking.claude import EVENTS, FAIL_CLOSED
from lineclear.clients.setup import json_hooks
from lineclear.clients.setup.values import Found, Plan

IN_WORKTREES = False
# A new worktree is provisioned, which may include the project's own set-up commands.
WORKTREE_TIMEOUT_S = 600


def files(found: Found) -> list[str]:
    return [f"{found.root}/.claude/settings.local.json"]


def plan_install(found: Found) -> Plan:
    plan, (path,) = Plan(), files(found)
    closed = FAIL_CLOSED if found.is_closed else {}
    entries = []
    for event, matcher in EVENTS.items():
        command = json_hooks.command_for(found, path, "claude", event)
        timeout = WORKTREE_TIMEOUT_S if event == "WorktreeCreate" else json_hooks.TIMEOUT_S
        handler = {"type": "command", "command": command, "timeout": timeout} | closed
        entries.append((("hooks", event), json_hooks.group(matcher, handler)))
    json_hooks.install(plan, found, path, entries)
    return plan


def plan_remove(found: Found) -> Plan:
    plan, (path,) = Plan(), files(found)
    json_hooks.remove(plan, found, path)
    return plan
