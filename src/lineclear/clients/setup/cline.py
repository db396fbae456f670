"""Cline: one program for each event in the project's folder of hooks. A user's own program is not touched.

Seen with the CLI 3.0.65, which runs them without asking. Its MCP servers stand in a file for all projects, so
ours is not put in.
"""

from __future__ import annotations

from lineclear.clients.hooking.cline import EVENTS
from lineclear.clients.setup import json_hooks, whole_files
from lineclear.clients.setup.templating import fill
from lineclear.clients.setup.values import Found, Plan

IN_WORKTREES = True


def files(found: Found) -> list[str]:
    return [f"{found.root}/.clinerules/hooks/{event}" for event in EVENTS]


def plan_install(found: Found) -> Plan:
    plan = Plan()
    for event, path in zip(EVENTS, files(found), strict=True):
        before = found.text(path)
        if before is not None and json_hooks.MARK not in before:
            plan.notes.append(f"{path} is your own and stays; lineclear will not hear of {event}")
            continue
        command = json_hooks.command_for(found, path, "cline", event)
        whole_files.install(
            plan, found, path, fill("cline.sh", EVENT=event, COMMAND=command), is_program=True
        )
    plan.notes.append("the Cline CLI runs these hooks; the extension only where its settings switch hooks on")
    return plan


def plan_remove(found: Found) -> Plan:
    plan = Plan()
    for path in found.record.get("files", {}):
        whole_files.remove(plan, found, path)
    return plan
