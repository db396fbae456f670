"""Grok Build: a file of our own among the project's hooks; skipped in silence until the folder is trusted."""

from __future__ import annotations

from lineclear.clients.setup import project_json
from lineclear.clients.setup.values import Found, Plan

IN_WORKTREES = True


def files(found: Found) -> list[str]:
    return [f"{found.root}/.grok/hooks/lineclear.json"]


def plan_install(found: Found) -> Plan:
    plan = project_json.plan_install(found, files(found)[0], "grok")
    plan.notes.append(
        "Grok runs a project's hooks only where it is started with --trust, or the folder is trusted"
    )
    return plan


def plan_remove(found: Found) -> Plan:
    return project_json.plan_remove(found, files(found)[0])
