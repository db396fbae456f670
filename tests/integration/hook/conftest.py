"""Hooks, and the server that answers them."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.hooked_repo import HookedRepo, Served
from tests.repository import TemporaryRepo


@pytest.fixture
def ways(repo: TemporaryRepo) -> HookedRepo:
    return HookedRepo(repo)


@pytest.fixture
def served(ways: HookedRepo) -> Iterator[Served]:
    """Whatever it is asked, it writes down no error."""
    served = Served(ways)
    yield served
    served.hooks.close()
    errors = ways.state / "hook-errors.log"
    assert not errors.exists(), errors.read_text()
