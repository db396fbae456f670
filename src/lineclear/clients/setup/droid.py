"""Factory droid: hooks in a file of their own in the project, in Claude Code's words."""

from __future__ import annotations

from lineclear.clients.setup import project_json
from lineclear.clients.setup.values import Found, Plan

IN_WORKTREES = True


def files(found: Found) -> list[str]:
    return [f"{found.root}/.factory/hooks.json"]


def plan_install(found: Found) -> Plan:
    return project_json.plan_install(found, files(found)[0], "droid")


def plan_remove(found: Found) -> Plan:
    return project_json.plan_remove(found, files(found)[0])
