"""An empty repository in a database of its own, and a store that is open on it."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from lineclear.store.postgres.engine import PostgresStore, create
from tests.integration.postgres.desk import REPO


@pytest.fixture
def url(fresh_postgres: Callable[[], str]) -> str:
    made = fresh_postgres()
    assert create(made, REPO) is True
    return made


@pytest.fixture
def store(url: str) -> Iterator[PostgresStore]:
    opened = PostgresStore(url, REPO)
    yield opened
    opened.close()
