"""Qwen Code: hooks in Claude Code's format and our server, both in the project's settings. `timeout` is in
milliseconds.
"""

from __future__ import annotations

from lineclear.app.setup.plan import SetupFacts, SetupPlan
from lineclear.clients import hook_groups, mcp_entry
from lineclear.clients.qwen.hook import EVENTS

IN_WORKTREES = True


def files(facts: SetupFacts) -> list[str]:
    return [f"{facts.root}/.qwen/settings.json"]


def plan_install(facts: SetupFacts) -> SetupPlan:
    path = files(facts)[0]
    server = mcp_entry.entry(mcp_entry.command(facts, path), timeout=mcp_entry.CALL_S * 1000)
    plan = hook_groups.plan_install(facts, path, "qwen", EVENTS, 10_000, server)
    plan.notes.append("if Qwen Code's folder trust is enabled, trust this folder when it asks")
    return plan


def plan_remove(facts: SetupFacts) -> SetupPlan:
    return hook_groups.plan_remove(facts, files(facts)[0])
