"""Qwen Code: hooks, in Claude Code's words, and our server in the project's settings; `timeout` is in
milliseconds.
"""

from __future__ import annotations

from lineclear.clients.setup import project_json, servers
from lineclear.clients.setup.values import Found, Plan

IN_WORKTREES = True


def files(found: Found) -> list[str]:
    return [f"{found.root}/.qwen/settings.json"]


def plan_install(found: Found) -> Plan:
    path = files(found)[0]
    server = servers.entry(servers.command(found, path), timeout=servers.CALL_S * 1000)
    plan = project_json.plan_install(found, path, "qwen", 10_000, server)
    plan.notes.append("where Qwen Code's folder trust is switched on, trust this folder when it asks")
    return plan


def plan_remove(found: Found) -> Plan:
    return project_json.plan_remove(found, files(found)[0])
