"""goose: no hooks that we know of. It reads AGENTS.md; the gate and the landing stop the rest."""

from __future__ import annotations

from lineclear.clients.setup.values import Found, Plan

IN_WORKTREES = False
_NOTE = "goose has no hooks to install; it reads AGENTS.md, and `lineclear setup git` guards its commits"


def files(_found: Found) -> list[str]:
    return []


def plan_install(_found: Found) -> Plan:
    plan = Plan()
    plan.notes.append(_NOTE)
    return plan


def plan_remove(_found: Found) -> Plan:
    return Plan()
