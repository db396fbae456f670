"""aider has no hooks of its own, and commits with --no-verify by default: we turn git's hooks on."""

from __future__ import annotations

import re

from lineclear.app.setup import text_blocks
from lineclear.app.setup.plan import SetupFacts, SetupPlan

IN_WORKTREES = True
_VERIFY = re.compile(r"^git-commit-verify[ \t]*:[ \t]*(\S+)", re.MULTILINE)


def files(facts: SetupFacts) -> list[str]:
    return [f"{facts.root}/.aider.conf.yml"]


def plan_install(facts: SetupFacts) -> SetupPlan:
    plan, (path,) = SetupPlan(), files(facts)
    text = facts.text(path)
    base = text_blocks.without_block(text, path, facts.record, "aider") if text is not None else None
    said = _VERIFY.search(base or "")
    if said is None:
        text_blocks.install(plan, facts, path, "aider", ["git-commit-verify: true"])
        if base is None and path not in facts.shared:
            plan.private.append(path)
    elif said.group(1).lower() not in ("true", "yes", "on"):
        plan.notes.append(f"{path} sets git-commit-verify: {said.group(1)}; aider's commits skip the gate")
    plan.notes.append("aider has no hooks; `lineclear setup git` makes its commits go through the gate")
    return plan


def plan_remove(facts: SetupFacts) -> SetupPlan:
    plan, (path,) = SetupPlan(), files(facts)
    text_blocks.remove(plan, facts, path, "aider")
    return plan
