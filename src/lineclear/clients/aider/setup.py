"""aider: no hooks. It commits with --no-verify unless it is told otherwise, so that is what we tell it."""

from __future__ import annotations

import re

from lineclear.app.setup.plan import Found, Plan
from lineclear.clients import text_blocks

IN_WORKTREES = True
_VERIFY = re.compile(r"^git-commit-verify[ \t]*:[ \t]*(\S+)", re.MULTILINE)


def files(found: Found) -> list[str]:
    return [f"{found.root}/.aider.conf.yml"]


def plan_install(found: Found) -> Plan:
    plan, (path,) = Plan(), files(found)
    text = found.text(path)
    base = text_blocks.without_block(text, path, found.record, "aider") if text is not None else None
    said = _VERIFY.search(base or "")
    if said is None:
        text_blocks.install(plan, found, path, "aider", ["git-commit-verify: true"])
        if base is None and path not in found.shared:
            plan.private.append(path)
    elif said.group(1).lower() not in ("true", "yes", "on"):
        plan.notes.append(f"{path} says git-commit-verify: {said.group(1)}; aider's commits pass no gate")
    plan.notes.append("aider has no hooks; with `lineclear setup git` its commits pass the gate")
    return plan


def plan_remove(found: Found) -> Plan:
    plan, (path,) = Plan(), files(found)
    text_blocks.remove(plan, found, path, "aider")
    return plan
