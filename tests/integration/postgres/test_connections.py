"""Lost answers, lost questions, forks, threads, and what PostgreSQL cannot keep."""

from __future__ import annotations

import subprocess
import sys
import threading

import pytest

from lineclear.core.tables import LOG, VALUE, Value
from lineclear.store.postgres.engine import PostgresStore
from tests.integration.postgres.desk import ANN, ENVIRONMENT, REPO, claim, execute, say, session_of, settle
from tests.integration.postgres.slow_line import slow_line
from tests.waiting import until
from tests.world import refused

pytestmark = pytest.mark.postgres


def test_an_answer_that_is_lost_leaves_the_outcome_open_and_the_operation_id_tells(url: str) -> None:
    with slow_line(url) as line:
        store = PostgresStore(line.url, REPO)
        claim(store, "warm.py")
        settle(store)
        line.swallow_answers()
        with refused("store.failed"):
            claim(store, "a.py", op="op-1")
        line.repair()
        assert claim(store, "a.py", op="op-1")["replayed"] is True
        store.close()


def test_a_question_that_is_lost_was_never_asked(url: str) -> None:
    with slow_line(url) as line:
        store = PostgresStore(line.url, REPO)
        claim(store, "warm.py")
        settle(store)
        line.swallow_questions()
        with refused("store.failed"):
            claim(store, "a.py", op="op-1")
        line.repair()
        assert "replayed" not in claim(store, "a.py", op="op-1")
        store.close()


def test_a_read_that_is_cut_says_that_nothing_is_known_to_be_wrong(url: str) -> None:
    with slow_line(url) as line:
        store = PostgresStore(line.url, REPO)
        line.swallow_answers()
        with refused("store.unreachable"):
            store.read(lambda view: view.head)
        line.repair()
        assert store.read(lambda view: view.head) == 0
        store.close()


def test_a_connection_that_ended_while_idle_is_made_anew_without_a_word(
    store: PostgresStore, url: str
) -> None:
    claim(store, "a.py")
    execute(
        url,
        "SELECT pg_terminate_backend(pid, 60000) FROM pg_stat_activity"
        " WHERE application_name = 'lineclear' AND datname = current_database()",
    )
    session = session_of(store)
    until(lambda: not session.wire.is_open())  # the news travels, too
    session._heard_ns = 0  # it has been idle for long
    assert claim(store, "b.py")["fence"] == 4


FORKING = """
import os, sys
from lineclear.store.postgres.engine import PostgresStore
from tests.integration.postgres.desk import claim
store = PostgresStore(sys.argv[1], "repo")
claim(store, "parent.py")
child = os.fork()
if child == 0:
    claim(store, "child.py")
    store.close()
    os._exit(0)
assert os.waitpid(child, 0)[1] == 0
claim(store, "parent-again.py")
store.close()
"""


def test_a_store_survives_a_fork(store: PostgresStore, url: str) -> None:
    subprocess.run([sys.executable, "-c", FORKING, url], env=ENVIRONMENT, check=True, timeout=60)
    subjects = [entry.subject for entry in store.read(lambda view: view.scan(LOG, "key"))]
    assert subjects[2:] == ["file:parent.py", "file:child.py", "file:parent-again.py"]


def test_threads_share_a_store(store: PostgresStore) -> None:
    threads = [threading.Thread(target=claim, args=(store, f"{number}.py")) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert store.read(lambda view: view.head) == 10


def test_acknowledged_is_durable_whatever_the_default_says(url: str) -> None:
    execute(
        url, f'ALTER DATABASE "{url.split("/")[3].split("?", maxsplit=1)[0]}" SET synchronous_commit = off'
    )
    store = PostgresStore(url, REPO)
    answer = session_of(store).ask(("SELECT current_setting('synchronous_commit')", ()))[0]
    assert answer.get_value(0, 0) == b"on"
    store.close()


@pytest.mark.parametrize("text", ["nul \0 inside", "half \ud800 a pair"])
def test_a_text_that_postgres_cannot_keep_is_refused(store: PostgresStore, text: str) -> None:
    claim(store, "warm.py")
    with refused("input.bad"):
        store.transact(ANN, lambda tx: tx.append(say(text)))
    with refused("input.bad"):
        store.read(lambda view: view.get(VALUE, (text,)))
    assert claim(store, "a.py")["fence"] == 4


def test_a_name_too_long_for_an_index_is_refused(store: PostgresStore) -> None:
    claim(store, "warm.py")
    noise = "".join(chr(0x4E00 + number * 37 % 20_000) for number in range(2_000))
    with refused("input.bad"):
        store.transact(ANN, lambda tx: tx.put(VALUE, Value(noise, 1, "1", 0, "ann", 1)))
    assert claim(store, "a.py")["fence"] == 4


def test_a_read_only_session_is_refused_in_words(url: str) -> None:
    store = PostgresStore(f"{url}&options=-cdefault_transaction_read_only%3Don", REPO)
    with refused("store.read_only"):
        claim(store, "a.py")
    assert store.read(lambda view: view.head) == 0
    store.close()
