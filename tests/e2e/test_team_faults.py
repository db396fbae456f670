"""The short form of `benchmarks.team_faults`: three machines, one store, and everything that may break."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.sampling import SEED

ROOT = Path(__file__).parents[2]


@pytest.mark.postgres
@pytest.mark.slow
@pytest.mark.serial
@pytest.mark.timeout(900)
def test_a_team_loses_nothing_to_restarts_cuts_and_kills(
    fresh_postgres: Callable[[], str], tmp_path: Path
) -> None:
    """It starts a server of its own; `fresh_postgres` leaves this out where there is none."""
    argv = ["-m", "benchmarks.team_faults", "--quick", f"--seed={SEED}", f"--keep={tmp_path}"]
    process = subprocess.Popen(
        [sys.executable, *argv], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    try:
        said, _ = process.communicate(timeout=800)
    finally:
        process.kill()  # and with it everything that it has started
        process.wait()
    assert process.returncode == 0, said
