"""Compares the settings that lineclear.toml states with those in force on main. Pure.

Whatever decides what lands counts only as main has committed it. A setting that somebody has written and not
committed must not look as if it counted.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lineclear.settings.checks import CHECK_PATHS
from lineclear.settings.setting import BOTH, ON_MAIN
from lineclear.settings.stated_checks import has_checks
from lineclear.settings.table import ALL, TEAM_FILE

if TYPE_CHECKING:
    from lineclear.settings.table import Settings

    # The setting's value, and whether the team's file states it.
    Side = tuple[object, bool]

NEXT = f"Next: commit {TEAM_FILE} on"


def not_in_force(stated: Settings, in_force: Settings, main: str) -> list[str]:
    """A warning for each setting that the main worktree's file states differently. `main`: the branch."""
    warnings = [
        _warn(name, written, committed, main)
        for name, (written, committed) in _sides(stated, in_force, ON_MAIN).items()
        if written[0] != committed[0]
    ]
    if has_checks(in_force) or in_force.queue_reviewer:
        warnings += [
            f"{name} in {TEAM_FILE} differs from the committed one: checks use what {main} has committed. "
            f"{NEXT} {main}."
            for name, (written, committed) in _sides(stated, in_force, BOTH).items()
            if written[0] != committed[0]
        ]
    return warnings


def missing_gates(stated: Settings, in_force: Settings) -> list[str]:
    """The gates that the main worktree's file states while main has none of that kind: work would land
    without the check or the review that somebody asked for."""
    gates = {
        "checks.gate": (stated.checks_gate, in_force.checks_gate),
        CHECK_PATHS: (stated.check_paths, in_force.check_paths),
        "queue.review": (stated.queue_review != "none", in_force.queue_review != "none"),
    }
    return [name for name, (written, committed) in gates.items() if written and not committed]


def _sides(stated: Settings, in_force: Settings, read_from: str) -> dict[str, tuple[Side, Side]]:
    """name -> (in the main worktree, in force), of the settings that are read from there."""
    written, committed = _values(stated, read_from), _values(in_force, read_from)
    return {name: (written[name], committed[name]) for name in written}


def _values(settings: Settings, read_from: str) -> dict[str, Side]:
    found: dict[str, Side] = {
        row.name: (getattr(settings, row.attribute), settings.origins[row.name] == TEAM_FILE)
        for row in ALL
        if row.read_from == read_from
    }
    if read_from == ON_MAIN:
        paths = [(one.resource.text, one.command, one.retries) for one in settings.check_paths]
        found[CHECK_PATHS] = paths, any(one.origin == TEAM_FILE for one in settings.check_paths)
    else:
        variables = settings.worktrees_env
        found["worktrees.env"] = variables, bool(variables)
    return found


def _warn(name: str, written: Side, committed: Side, main: str) -> str:
    if not committed[1]:
        return f"{name} is in {TEAM_FILE} but not committed on {main}: it is not in force. {NEXT} {main}."
    if not written[1]:
        return f"{name} is committed on {main} and stays in force, although {TEAM_FILE} no longer has it."
    return f"{name} in {TEAM_FILE} is not committed: {main} has another value in force. {NEXT} {main}."
