"""The checks that the settings state: the gate, checks for parts of the repository, the full check."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lineclear.core.queue.checks import Check
from lineclear.settings.table import TEAM_FILE

if TYPE_CHECKING:
    from lineclear.core.claims.resources import Resource
    from lineclear.settings import Settings


def stated_checks(settings: Settings) -> list[tuple[Check, Resource | None]]:
    """The gate, then the checks for parts of the repository, each with its place."""
    found: list[tuple[Check, Resource | None]] = []
    if settings.checks_gate:
        found.append((_check(settings, settings.checks_gate, "gate"), None))
    for path in settings.check_paths:
        name = f"paths[{path.number - 1}]"
        check = _check(settings, path.command, name, path.retries)
        if path.origin != TEAM_FILE:
            check.where = ""
        found.append((check, path.resource))
    return found


def full_check(settings: Settings) -> Check | None:
    """The command that runs all tests, where there is one."""
    return _check(settings, settings.checks_full, "full") if settings.checks_full else None


def _check(settings: Settings, command: str, name: str, retries: int = -1) -> Check:
    return Check(
        command,
        timeout_ms=settings.checks_gate_timeout_ms,
        retries=retries if retries >= 0 else settings.checks_retries,
        name=name,
        where=f"checks.{name}",
    )


def has_checks(settings: Settings) -> bool:
    return bool(settings.checks_gate or settings.checks_full or settings.check_paths)
