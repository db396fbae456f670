"""Wake-ups: soon by notification, in time without, seldom in a burst, never lost at its end."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import psycopg
import pytest

from lineclear.store.postgres import listening
from lineclear.store.postgres.engine import PostgresStore
from lineclear.store.postgres.listening import MOST_RINGS_PER_S, channel_of
from tests.integration.postgres.desk import REPO, claim, execute, settle

if TYPE_CHECKING:
    from lineclear.app.ports import Listener

pytestmark = pytest.mark.postgres

PATIENCE_S, NEVER_S = 60.0, 1_000.0


@pytest.fixture(autouse=True)
def _unhurried(monkeypatch: pytest.MonkeyPatch) -> None:
    """A busy server is not one that is gone."""
    monkeypatch.setattr(listening, "_PATIENCE_S", PATIENCE_S)


def assert_told(bell: Listener) -> None:
    """Not by its own look at the end of the wait."""
    started = time.monotonic()
    assert bell.wait(PATIENCE_S) is True
    assert time.monotonic() - started < PATIENCE_S / 2


def rings(ear: psycopg.Connection) -> int:
    """How many notifications come: the first when it likes, the others soon after."""
    first = list(ear.notifies(timeout=PATIENCE_S, stop_after=1))
    return len(first) + len(list(ear.notifies(timeout=0.5)))


def test_a_commit_is_heard_even_if_every_notification_is_lost(
    store: PostgresStore, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(PostgresStore, "_post_ring", lambda self, session: None)
    with store.listen() as bell:
        claim(store, "a.py")
        assert bell.wait(PATIENCE_S) is True  # within 300 ms on a quiet machine


def test_a_notification_is_heard_where_nobody_looks(
    store: PostgresStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(listening, "POLL_S", NEVER_S)
    claim(store, "warm.py")
    with store.listen() as bell:
        for number in range(5):
            claim(store, f"{number}.py")
            assert_told(bell)


def test_a_notification_that_came_with_another_answer_is_not_lost(
    store: PostgresStore, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(listening, "POLL_S", NEVER_S)
    with listening.PostgresListener(url, REPO) as bell:
        claim(store, "a.py")
        settle(store)
        deadline = time.monotonic() + PATIENCE_S
        assert bell._wire is not None
        while not bell._has_moved(bell._wire):
            assert time.monotonic() < deadline
        bell._wire.ask(("SELECT pg_sleep(0.1)", ()))
        assert_told(bell)


def test_a_wait_lasts_as_long_as_it_was_asked_to(store: PostgresStore) -> None:
    with store.listen() as bell:
        started = time.monotonic()
        assert bell.wait(0.4) is False
        assert time.monotonic() - started >= 0.4


def test_a_listener_survives_the_loss_of_its_connection(store: PostgresStore, url: str) -> None:
    claim(store, "warm.py")
    settle(store)
    with store.listen() as bell:
        execute(
            url,
            "SELECT pg_terminate_backend(pid, 60000) FROM pg_stat_activity"
            ' WHERE query LIKE \'SELECT "head" FROM "repo"%\' AND datname = current_database()',
        )
        assert bell.wait(0.05) is False
        claim(store, "a.py")
        assert bell.wait(PATIENCE_S) is True
        bell.wait(0)
        claim(store, "b.py")
        assert bell.wait(PATIENCE_S) is True


def test_a_burst_rings_seldom(store: PostgresStore, url: str) -> None:
    claim(store, "warm.py")
    with psycopg.connect(url, autocommit=True) as ear:
        ear.execute(f'LISTEN "{channel_of(REPO)}"'.encode())
        started = time.monotonic()
        for number in range(60):
            claim(store, f"{number}.py")
        took_s = time.monotonic() - started
        heard = len(list(ear.notifies(timeout=0.5)))
    assert 1 <= heard <= 12 + MOST_RINGS_PER_S * (took_s + 0.5)


def test_the_end_of_a_burst_is_heard(store: PostgresStore, url: str) -> None:
    claim(store, "warm.py")
    settle(store)
    with psycopg.connect(url, autocommit=True) as ear:
        ear.execute(f'LISTEN "{channel_of(REPO)}"'.encode())
        for number in range(3):
            store._ring_limit._left = 0.0  # a burst has just used it up
            claim(store, f"{number}.py")
        assert rings(ear) == 1


def test_a_late_ring_is_not_lost_when_the_store_is_closed(store: PostgresStore, url: str) -> None:
    claim(store, "warm.py")
    settle(store)
    with psycopg.connect(url, autocommit=True) as ear:
        ear.execute(f'LISTEN "{channel_of(REPO)}"'.encode())
        store._ring_limit._left = 0.0
        claim(store, "a.py")
        store.close()
        assert rings(ear) == 1
