"""Every test of this folder that asks for a place runs on every engine with processes."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.engines import ENGINES, Place, new_place


@pytest.fixture(
    params=[pytest.param(name, marks=pytest.mark.postgres if name == "postgres" else ()) for name in ENGINES]
)
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Place:
    """An empty store of its own."""
    return new_place(request, tmp_path)
