"""Installs and removes files that are entirely ours."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lineclear.app.setup.plan import CannotSetUp
from lineclear.app.setup.text_blocks import digest
from lineclear.clients.json_settings import MARK

if TYPE_CHECKING:
    from lineclear.app.setup.plan import SetupFacts, SetupPlan


def install(plan: SetupPlan, facts: SetupFacts, path: str, text: str, *, is_program: bool = False) -> None:
    """Write the file. Raise CannotSetUp if a file of that name exists and is not ours."""
    before = facts.text(path)
    if before is not None and not _is_ours(facts, path, before):
        raise CannotSetUp(path, "it already exists and is not ours")
    plan.change(path, before, text, is_program=is_program)
    plan.record.setdefault("files", {})[path] = {"made": True, "sha256": digest(text)}
    if path not in facts.shared:
        plan.private.append(path)


def remove(plan: SetupPlan, facts: SetupFacts, path: str) -> None:
    """Remove the file, unless it was edited since we wrote it."""
    text = facts.text(path)
    if text is None:
        return
    if digest(text) == facts.record.get("files", {}).get(path, {}).get("sha256", ""):
        plan.change(path, text, None)
    else:
        plan.notes.append(f"{path} was edited since, so it stays; remove it yourself if you do not need it")


def _is_ours(facts: SetupFacts, path: str, text: str) -> bool:
    noted = facts.record.get("files", {}).get(path, {})
    return MARK in text or digest(text) == noted.get("sha256", "")
