"""The states of a run: a client at work on a task."""

from __future__ import annotations

RUNNING, PAUSED, ENDED = "running", "paused", "ended"

# Bonds of clients that a supervisor starts are named after this, in every clone's directory of bonds.
RUN_BOND = "agent-run"


def is_run_bond(bond: str) -> bool:
    """Was this bond, `HOST/NAME`, made by a supervisor for a client that it is about to start?"""
    return bond.partition("/")[2].startswith(f"{RUN_BOND}-")
