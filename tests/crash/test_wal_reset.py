"""Write, move the WAL, and be paused at random: SQLite before 3.51.3 loses acknowledged commits in that, our
store does not. Its gate alone would be enough, on any SQLite.
"""

from __future__ import annotations

import os
import random
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from lineclear.app.log import audit
from lineclear.core.log.tables import MESSAGE
from tests.crash.wal_program import FACTS, Acknowledged, connect
from tests.engines import Place
from tests.sampling import IS_WHOLE

ROOT = Path(__file__).parents[2]
pytestmark = [pytest.mark.slow, pytest.mark.serial]
Tell = Callable[[str, object], None]

ROLES = (("writer", 0), ("writer", 1), ("checkpointer", 2), ("checkpointer", 3))
DURATION_S = 60.0 if IS_WHOLE else 10.0
LONGEST_S = 60.0 if IS_WHOLE else 20.0
SLICE_S = 1.0


@contextmanager
def running(kind: str, directory: Path, roles: tuple[tuple[str, int], ...]) -> Iterator[list[int]]:
    """The processes of one kind, all at work; gives their pids."""
    program = str(ROOT / "tests" / "crash" / "wal_program.py")
    environment = {**os.environ, "PYTHONPATH": f"{ROOT / 'src'}{os.pathsep}{ROOT}"}
    processes = [
        subprocess.Popen(
            [
                sys.executable,
                program,
                kind,
                role,
                str(number),
                str(directory),
                str(directory / "acknowledged"),
            ],
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL if kind == "plain" else None,
        )
        for role, number in roles
    ]
    try:
        for process in processes:
            assert process.stdout is not None
            assert process.stdout.readline() == b"ready\n"
        yield [process.pid for process in processes]
        for process in processes if kind != "plain" else ():
            assert process.poll() is None, "a process has ended by itself"
    finally:
        for process in processes:
            process.kill()
            process.communicate()


def pause_at_random(pids: list[int], duration_s: float) -> int:
    """Stop one or another for 0.1 to 1 ms, again and again."""
    chance, pauses, end_at = random.Random(), 0, time.monotonic() + duration_s
    while time.monotonic() < end_at:
        pid = chance.choice(pids)
        os.kill(pid, signal.SIGSTOP)
        time.sleep(chance.uniform(0.0001, 0.001))
        os.kill(pid, signal.SIGCONT)
        pauses += 1
    return pauses


def lost_facts(directory: Path, acknowledged: Acknowledged) -> int:
    """How many acknowledged rows are not there; a database that cannot be read has lost them all."""
    promised = [acknowledged[writer] for writer in (0, 1)]
    db = connect(str(directory))
    try:
        count = "SELECT count(*) FROM fact WHERE writer = ? AND number <= ?"
        return sum(
            # Rows found twice are damage, too.
            abs(number - db.execute(count, (writer, number)).fetchone()[0])
            for writer, number in enumerate(promised)
        )
    except sqlite3.DatabaseError:
        return sum(promised)
    finally:
        db.close()


def begin_facts(directory: Path) -> Acknowledged:
    db = connect(str(directory))
    db.execute(FACTS)
    db.close()
    return Acknowledged(str(directory / "acknowledged"))


def is_vulnerable(version: tuple[int, ...]) -> bool:
    """Has this SQLite the bug? It was mended in 3.51.3, and in the last releases of two older lines."""
    fixed: dict[tuple[int, ...], int] = {(3, 44): 6, (3, 50): 7}
    return version < (3, 51, 3) and version[2] < fixed.get(version[:2], 1_000)


def test_our_store_loses_nothing(tmp_path: Path, record_property: Tell) -> None:
    place = Place(f"sqlite:{tmp_path}", str(tmp_path))
    place.create()
    acknowledged = Acknowledged(str(tmp_path / "acknowledged"))
    with running("store", tmp_path, (*ROLES, ("reader", 4))) as pids:
        pauses = pause_at_random(pids, DURATION_S)
    store = place.open()
    try:
        rows = store.read(lambda view: {(row.author, row.text) for row in view.scan(MESSAGE, "key")})
        promised = {(f"writer-{w}", str(n)) for w in (0, 1) for n in range(1, acknowledged[w] + 1)}
        assert promised - rows == set()
        found = audit(store)
        assert (found["findings"], store.check()) == ([], [])
    finally:
        store.close()
    record_property(
        "told", f"store: 0 of {len(promised)} commits lost, {pauses} pauses in {DURATION_S:.0f} s"
    )


def test_our_gate_alone_keeps_the_standard_librarys_sqlite_safe(
    tmp_path: Path, record_property: Tell
) -> None:
    acknowledged = begin_facts(tmp_path)
    with running("gated", tmp_path, ROLES) as pids:
        pauses = pause_at_random(pids, DURATION_S)
    assert lost_facts(tmp_path, acknowledged) == 0
    total = acknowledged[0] + acknowledged[1]
    version = sqlite3.sqlite_version
    record_property("told", f"sqlite3 {version} gated: 0 of {total} commits lost, {pauses} pauses")


def test_without_the_gate_the_same_program_shows_the_loss(tmp_path: Path, record_property: Tell) -> None:
    if not is_vulnerable(sqlite3.sqlite_version_info):
        pytest.skip(f"THE LOSS CANNOT BE SHOWN: this Python's SQLite {sqlite3.sqlite_version} is mended")
    acknowledged = begin_facts(tmp_path)
    began_at = time.monotonic()
    with running("plain", tmp_path, ROLES) as pids:
        lost = 0
        while not lost and time.monotonic() - began_at < LONGEST_S:
            pause_at_random(pids, SLICE_S)
            lost = lost_facts(tmp_path, acknowledged)
    total = acknowledged[0] + acknowledged[1]
    if not lost:  # chance, and a busy machine, decide when it happens: this says nothing of our own store
        pytest.xfail(f"no loss in {total} commits: the peer's fault did not show on this machine today")
    took_s = time.monotonic() - began_at
    record_property(
        "told", f"sqlite3 {sqlite3.sqlite_version} alone: {lost} of {total} lost after {took_s:.1f} s"
    )


@pytest.mark.parametrize(
    ("version", "expected"),
    [((3, 40, 1), True), ((3, 51, 2), True), ((3, 51, 3), False), ((3, 44, 6), False), ((3, 44, 5), True),
     ((3, 50, 7), False), ((3, 45, 1), True), ((3, 53, 0), False)],
)  # fmt: skip
def test_which_versions_have_the_bug(version: tuple[int, ...], expected: bool) -> None:
    assert is_vulnerable(version) is expected
