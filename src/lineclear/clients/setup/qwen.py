"""Qwen Code: hooks in the project's settings, in Claude Code's words; `timeout` is in milliseconds."""

from __future__ import annotations

from lineclear.clients.setup import project_json
from lineclear.clients.setup.values import Found, Plan

IN_WORKTREES = True


def files(found: Found) -> list[str]:
    return [f"{found.root}/.qwen/settings.json"]


def plan_install(found: Found) -> Plan:
    plan = project_json.plan_install(found, files(found)[0], "qwen", 10_000)
    plan.notes.append("where Qwen Code's folder trust is switched on, trust this folder when it asks")
    return plan


def plan_remove(found: Found) -> Plan:
    return project_json.plan_remove(found, files(found)[0])
