"""Cline: one program for each event in the project's hooks folder. A user's own program stays.

Tested with the CLI 3.0.65, which runs them without asking. Cline keeps MCP servers in one file for all
projects, so we do not add ours.
"""

from __future__ import annotations

from lineclear.app.setup.plan import SetupFacts, SetupPlan
from lineclear.clients import json_settings, whole_files
from lineclear.clients.cline.hook import EVENTS
from lineclear.clients.templating import fill

IN_WORKTREES = True


def files(facts: SetupFacts) -> list[str]:
    return [f"{facts.root}/.clinerules/hooks/{event}" for event in EVENTS]


def plan_install(facts: SetupFacts) -> SetupPlan:
    plan = SetupPlan()
    for event, path in zip(EVENTS, files(facts), strict=True):
        before = facts.text(path)
        if before is not None and json_settings.MARK not in before:
            plan.notes.append(f"{path} is your own and stays; lineclear will not receive {event}")
            continue
        command = json_settings.command_for(facts, path, "cline", event)
        whole_files.install(
            plan, facts, path, fill("cline/hook.sh", EVENT=event, COMMAND=command), is_program=True
        )
    plan.notes.append(
        "the Cline CLI runs these hooks; the extension runs them only if its settings enable hooks"
    )
    return plan


def plan_remove(facts: SetupFacts) -> SetupPlan:
    plan = SetupPlan()
    for path in facts.record.get("files", {}):
        whole_files.remove(plan, facts, path)
    return plan
