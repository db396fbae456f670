"""Plan, apply and remove the conventions block in the files that coding agents read.

AGENTS.md holds the block. An existing CLAUDE.md gets a line that points there (Claude reads AGENTS.md only
if there is no CLAUDE.md), and so does GEMINI.md, created if missing: Gemini reads no other file.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from lineclear.core.agents.conventions import (
    AGENTS_FILE,
    POINTER,
    ConventionChange,
    ConventionFacts,
    plan_block,
    plan_pointer,
    plan_removal,
    state_of,
    write_conventions,
)
from lineclear.core.words.refusals import Refusal, refuse
from lineclear.host.files import leads_out, write_atomically

if TYPE_CHECKING:
    from lineclear.settings import Settings

CLAUDE_FILE, GEMINI_FILE = "CLAUDE.md", "GEMINI.md"
MOST_BYTES = 4 * 1024 * 1024


def facts_of(settings: Settings) -> ConventionFacts:
    return ConventionFacts(
        rules=tuple(settings.rules),
        gate=settings.checks_gate,
        task_page="TASKS.md" if settings.mirror_tasks else "",
    )


def plan(root: str, facts: ConventionFacts, *, force: bool = False) -> list[ConventionChange]:
    """The changes, file by file; refuses to overwrite somebody's words."""
    changes = [plan_block(AGENTS_FILE, _read(root, AGENTS_FILE), write_conventions(facts), force=force)]
    for name in _pointing(root):
        changes.append(plan_pointer(name, _read(root, name), force=force))
    return changes


def plan_removals(root: str, *, force: bool = False) -> list[ConventionChange]:
    names = [AGENTS_FILE, *_pointing(root)]
    return [plan_removal(name, _read(root, name), force=force) for name in names]


def plan_to_leave(root: str) -> tuple[list[ConventionChange], dict[str, str]]:
    """For `uninstall`: the removals, and the files whose block stays, with the reason."""
    changes, stays = [], {}
    for name in (AGENTS_FILE, *_pointing(root)):
        try:
            change = plan_removal(name, _read(root, name))
        except Refusal as refusal:
            stays[name] = refusal.what
        else:
            changes += [change] if change.is_needed else []
    return changes, stays


def states(root: str, facts: ConventionFacts) -> dict[str, str]:
    """The state of each file: current, missing, outdated, edited or broken."""
    found = {AGENTS_FILE: state_of(_read(root, AGENTS_FILE), write_conventions(facts))}
    for name in _pointing(root):
        text = _read(root, name)
        state = state_of(text, POINTER + "\n")
        if state == "missing" and text is not None and not plan_pointer(name, text).is_needed:
            state = "current"
        found[name] = state
    return found


def apply(root: str, changes: list[ConventionChange]) -> None:
    for change in changes:
        if not change.is_needed:
            continue
        path = _real(root, change.path)
        if change.text is None:
            os.unlink(path)
        else:
            write_atomically(path, change.text.encode("utf-8", "surrogateescape"))


def _pointing(root: str) -> list[str]:
    """The files that must point to AGENTS.md; one that is a link to it need not."""
    agents = os.path.realpath(os.path.join(root, AGENTS_FILE))
    names = [CLAUDE_FILE] if os.path.lexists(os.path.join(root, CLAUDE_FILE)) else []
    names.append(GEMINI_FILE)
    return [name for name in names if os.path.realpath(os.path.join(root, name)) != agents]


def _read(root: str, name: str) -> str | None:
    path = _real(root, name)
    try:
        with open(path, "rb") as file:
            data = file.read(MOST_BYTES + 1)
    except FileNotFoundError:
        return None
    except IsADirectoryError:
        raise refuse("conventions.broken", path=name, why="it is a directory") from None
    if len(data) > MOST_BYTES or b"\0" in data:
        raise refuse("conventions.broken", path=name, why="it is not text, or too large")
    return data.decode("utf-8", "surrogateescape")


def _real(root: str, name: str) -> str:
    """The path with links followed, but not out of the repository."""
    path = os.path.join(root, name)
    if leads_out(path, root):
        raise refuse("conventions.broken", path=name, why="it is a link that points outside the repository")
    return os.path.realpath(path)
