"""The SQLite engine and its files: what short-lived processes leave, who may lock, who is in the way."""

from __future__ import annotations

import errno
import fcntl
import os
from pathlib import Path
from typing import Any

import apsw
import pytest

from lineclear.app import messages
from lineclear.app.ports import Caller
from lineclear.core.words.refusals import Refusal
from lineclear.store.sqlite import engine
from lineclear.store.sqlite.writer_lock import WriterLock
from tests.engines import Place, new_sqlite

PAGE_BYTES = 4096
ANN = Caller("ann")


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return new_sqlite(tmp_path)


def wal_pages(place: Place) -> int:
    return os.path.getsize(os.path.join(place.directory, "state.db-wal")) // PAGE_BYTES


def test_many_short_lived_processes_do_not_make_the_wal_grow_for_ever(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine, "CHECKPOINT_PAGES", 50)
    sizes = []
    for _ in range(100):
        store = place.open()
        messages.say(store, ANN, "hello")
        store.close()
        sizes.append(wal_pages(place))
    assert max(sizes) < 70
    assert min(sizes[50:]) < 10, "it was never emptied"


def test_a_reader_in_the_way_only_postpones_the_checkpoint(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine, "CHECKPOINT_PAGES", 1)
    store = place.open()
    messages.say(store, ANN, "before")
    reader = apsw.Connection(os.path.join(place.directory, "state.db"))
    reader.execute("BEGIN")
    seen = reader.execute('SELECT count(*) FROM "message"').get
    messages.say(store, ANN, "while somebody reads")
    assert wal_pages(place) > 0
    assert reader.execute('SELECT count(*) FROM "message"').get == seen
    reader.close()
    messages.say(store, ANN, "after")
    assert wal_pages(place) == 0
    store.close()


@pytest.mark.parametrize(
    ("number", "code"),
    [
        (errno.EACCES, "store.read_only"),
        (errno.EROFS, "store.read_only"),
        (errno.ENOSPC, "store.full"),
        (errno.EDQUOT, "store.full"),
        (errno.EIO, "store.unreadable"),
    ],
)
def test_a_gate_that_cannot_be_opened_says_why(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int, code: str
) -> None:
    def fail(*_arguments: Any) -> int:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr("lineclear.store.sqlite.writer_lock.os.open", fail)
    with pytest.raises(Refusal) as refused, WriterLock(str(tmp_path / "state.lock")):
        pass
    assert refused.value.code == code


def test_a_gate_that_was_given_up_at_the_last_instant_is_not_left_locked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "state.lock"
    other = os.open(path, os.O_RDWR | os.O_CREAT)
    fcntl.flock(other, fcntl.LOCK_EX)
    lock = fcntl.flock

    def ring_when_it_is_ours(fd: int, how: int) -> None:
        if how == fcntl.LOCK_EX:
            lock(other, fcntl.LOCK_UN)
            lock(fd, how)
            raise TimeoutError("the timer has rung")
        lock(fd, how)

    monkeypatch.setattr("lineclear.store.sqlite.writer_lock.fcntl.flock", ring_when_it_is_ours)
    mine = WriterLock(str(path), limit_s=5.0)
    with pytest.raises(TimeoutError), mine:
        pass
    lock(other, fcntl.LOCK_EX | fcntl.LOCK_NB)
    os.close(other)
    with mine:
        pass
    mine.close()
