"""A machine falls silent while several of its writers stand in line for the store's lock."""

from __future__ import annotations

import subprocess
import sys

import psycopg
import pytest

from benchmarks.team_faults.machines import (
    HUB,
    can_have_namespaces,
    enter_namespaces,
    namespaces,
    prepare_hub,
    set_line,
)
from lineclear.store.postgres.engine import PostgresStore, create
from tests.conftest import in_ci
from tests.integration.postgres.desk import ENVIRONMENT, REPO, ROOT, claim, execute
from tests.postgres_server import running_server
from tests.waiting import until

WRITERS = 6
WRITER = f"""
import sys
from lineclear.store.postgres.engine import PostgresStore
from tests.integration.postgres.desk import claim
claim(PostgresStore(sys.argv[1], "{REPO}"), "a.py", sys.argv[2])
"""
IN_LINE = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted"


@pytest.mark.postgres
@pytest.mark.slow
@pytest.mark.serial
def test_the_writers_of_a_silent_machine_do_not_keep_the_others_waiting_one_after_another() -> None:
    if not can_have_namespaces():
        words = "NOT TESTED: a silent machine needs network namespaces, which only root can make here"
        pytest.fail(words) if in_ci() else pytest.skip(words)
    done = subprocess.run(
        [sys.executable, __file__, "enter"], cwd=ROOT, env=ENVIRONMENT, capture_output=True, text=True,
        check=False, timeout=200,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr


def main() -> None:
    prepare_hub()
    with running_server(address=HUB) as server, namespaces(1) as first:
        database = server.create_database()
        here = server.url(database)
        there = f"postgresql://postgres@{HUB}/{database}?sslmode=disable&gssencmode=disable"
        create(here, REPO)
        store = PostgresStore(here, REPO)
        claim(store, "warm.py")
        enter = ["nsenter", f"--target={first}", "--net", "--", sys.executable, "-c", WRITER, there]
        with psycopg.connect(here) as blocker:
            blocker.execute(f"SELECT * FROM lineclear_begin('{REPO}', NULL, true)".encode())
            writers = [subprocess.Popen([*enter, f"agent-{n}"]) for n in range(WRITERS)]
            until(lambda: execute(here, IN_LINE)[0][0] == WRITERS)
            set_line(1, "down")
        claim(store, "b.py")  # refused after 30 s if each of them in turn keeps the lock for 10 s
        for writer in writers:
            writer.kill()
            writer.wait()
        store.close()


if __name__ == "__main__":
    if "enter" in sys.argv:
        enter_namespaces([sys.executable, __file__])
    main()
