"""Patience: until something is so, and how long that may take."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable
from pathlib import Path

PATIENCE_S = 60.0  # a busy machine may need them; where all is well, nobody waits


def until(
    is_so: Callable[[], object], why: Callable[[], object] = lambda: "", patience_s: float = PATIENCE_S
) -> None:
    deadline = time.monotonic() + patience_s
    while not is_so():
        assert time.monotonic() < deadline, f"it did not come to pass: {why()}"
        time.sleep(0.02)


def until_there(path: Path) -> None:
    until(lambda: path.exists() and path.stat().st_size > 0)


def is_alive(pid: int) -> bool:
    """Not counting what has ended and waits to be reaped by somebody else."""
    done = subprocess.run(["ps", "-o", "state=", "-p", str(pid)], capture_output=True, text=True, check=False)
    return done.stdout.strip()[:1] not in ("", "Z")
