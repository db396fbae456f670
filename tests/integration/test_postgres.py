"""PostgreSQL alone: round trips, guesses that were wrong, lost connections, schema, secrets, the bell."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import psycopg
import pytest

from lineclear.app import claims
from lineclear.app.log import audit
from lineclear.app.ports import Caller, NobodyDies
from lineclear.core.claims import EXCLUSIVE, Request
from lineclear.core.epochs import EPOCH_STEP
from lineclear.core.events import Draft
from lineclear.core.refusals import Refusal
from lineclear.core.resources import parse_resource
from lineclear.core.tables import AGENT, ALL, CLAIM, LOG, TASK, VALUE, Value
from lineclear.store.postgres import listening
from lineclear.store.postgres import session as session_module
from lineclear.store.postgres.engine import GUESSES, PostgresStore, create
from lineclear.store.postgres.listening import MOST_RINGS_PER_S, channel_of
from lineclear.store.postgres.schema import SCHEMA_NUMBER, known_migrations
from lineclear.store.postgres.statements import GET, PICK, SCAN, Read
from lineclear.store.postgres.wire import show_url
from tests.integration.slow_line import slow_line
from tests.world import refused

if TYPE_CHECKING:
    from lineclear.app.ports import Tx

pytestmark = pytest.mark.postgres

ROOT = Path(__file__).parents[2]
REPO = "repo"
ANN = Caller("ann")
HOUR_MS = 3_600_000
DELAY_S = 0.025


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


def execute(url: str, sql: str) -> list[Any]:
    with psycopg.connect(url, autocommit=True) as connection:
        cursor = connection.execute(sql.encode())
        return cursor.fetchall() if cursor.description else []


def claim(store: PostgresStore, text: str, name: str = "ann", op: str = "") -> dict[str, Any]:
    request = Request(name, "main", EXCLUSIVE, [parse_resource(text)], ttl_ms=HOUR_MS)
    return claims.ask(store, NobodyDies(), Caller(name, op=op), request)


def release(store: PostgresStore, text: str, name: str = "ann") -> dict[str, Any]:
    return claims.release(store, Caller(name), [parse_resource(text)])


def trips(store: PostgresStore, act: Callable[[], Any]) -> int:
    before = store.round_trips
    act()
    return store.round_trips - before


def say(text: str) -> Draft:
    return Draft("MessageSent", "all", audience="all", urgent=0, text=text)


def settle(store: PostgresStore) -> None:
    """Wait for answers that nobody waits for, such as the bell's."""
    session_of(store).wire.settle()


def session_of(store: PostgresStore) -> session_module.Session:
    assert store._session is not None
    return store._session


# -- round trips ------------------------------------------------------------------------------


def test_a_claim_costs_one_round_trip(store: PostgresStore) -> None:
    claim(store, "warm.py")
    for number in range(5):
        assert trips(store, lambda number=number: claim(store, f"src/{number}.py")) == 1  # type: ignore[misc]


def test_so_do_renewal_release_operation_ids_and_refusals(store: PostgresStore, url: str) -> None:
    claim(store, "a.py")
    assert trips(store, lambda: claim(store, "a.py")) == 1
    assert trips(store, lambda: release(store, "a.py")) == 1
    assert trips(store, lambda: claim(store, "b.py", op="op-1")) == 1
    assert trips(store, lambda: claim(store, "b.py", op="op-1")) == 1
    other = PostgresStore(url, REPO)
    claim(other, "bobs.py", "bob")
    claim(store, "c.py")
    with refused("claim.held"):
        claim(other, "c.py", "bob")  # learns of the other's claim
    before = other.round_trips
    with refused("claim.held"):
        claim(other, "c.py", "bob")
    assert other.round_trips - before == 1
    other.close()


def test_others_who_write_elsewhere_cost_a_claim_nothing(store: PostgresStore, url: str) -> None:
    other = PostgresStore(url, REPO)
    claim(store, "a/warm.py")
    claim(other, "b/warm.py", "bob")
    for number in range(5):
        assert trips(other, lambda number=number: claim(other, f"b/{number}.py", "bob")) == 1  # type: ignore[misc]
        assert trips(store, lambda number=number: claim(store, f"a/{number}.py", op=f"op-{number}")) == 1  # type: ignore[misc]
    other.close()
    positions = [entry.position for entry in store.read(lambda view: view.scan(LOG, "key"))]
    assert positions == list(range(1, len(positions) + 1))


CLAIMING = """
import json, sys
from lineclear.app import claims
from lineclear.app.ports import Caller, NobodyDies
from lineclear.core.claims import EXCLUSIVE, Request
from lineclear.core.resources import parse_resource
from lineclear.store.postgres.engine import PostgresStore

url, name, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
store = PostgresStore(url, "repo")

def claim(text):
    request = Request(name, "main", EXCLUSIVE, [parse_resource(text)], ttl_ms=60_000)
    return claims.ask(store, NobodyDies(), Caller(name), request)["fence"]

claim(f"{name}/warm.py")
print("ready", flush=True)
sys.stdin.readline()
before = store.round_trips
fences = [claim(f"{name}/{number}.py") for number in range(count)]
print(json.dumps({"trips": store.round_trips - before, "fences": fences}), flush=True)
store.close()
"""


def run_claimers(url: str, processes: int, count: int) -> list[dict[str, Any]]:
    environment = os.environ | {"PYTHONPATH": f"{ROOT / 'src'}{os.pathsep}{ROOT}"}
    running = [
        subprocess.Popen(
            [sys.executable, "-c", CLAIMING, url, f"agent-{number}", str(count)],
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for number in range(processes)
    ]
    for process in running:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
    for process in running:
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()
    return [json.loads(process.communicate(timeout=60)[0]) for process in running]


def test_eight_processes_at_once_stay_near_one_round_trip(url: str) -> None:
    found = run_claimers(url, processes=8, count=25)
    assert sum(answer["trips"] for answer in found) <= 1.5 * 8 * 25
    fences = [fence for answer in found for fence in answer["fences"]]
    assert len(set(fences)) == 8 * 25
    checked = PostgresStore(url, REPO)
    assert audit(checked)["findings"] == []
    assert checked.check() == []
    checked.close()


def test_on_a_slow_line_the_count_is_of_real_round_trips(url: str) -> None:
    with slow_line(url, DELAY_S) as line:
        store = PostgresStore(line.url, REPO)
        claim(store, "warm.py")
        before, started = store.round_trips, time.monotonic()
        for number in range(10):
            claim(store, f"{number}.py")
        took_s = time.monotonic() - started
        store.close()
    assert store.round_trips - before == 10
    # Nothing that we count as one can have been quicker than the way there and back.
    assert took_s >= 10 * 2 * DELAY_S


# -- guesses ----------------------------------------------------------------------------------


def test_one_of_eight_wins(url: str) -> None:
    stores = [PostgresStore(url, REPO) for _ in range(8)]
    for round_number in range(5):
        won: list[str] = []
        barrier = threading.Barrier(8)

        def race(number: int, text: str, won: list[str] = won, barrier: threading.Barrier = barrier) -> None:
            barrier.wait()
            try:
                claim(stores[number], text, f"agent-{number}")
            except Refusal as refusal:
                assert refusal.code == "claim.held"
            else:
                won.append(f"agent-{number}")

        threads = [threading.Thread(target=race, args=(n, f"prize-{round_number}.py")) for n in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(won) == 1
    assert audit(stores[0])["findings"] == []
    for store in stores:
        store.close()


def put_value(store: PostgresStore, version: int) -> None:
    store.transact(ANN, lambda tx: tx.put(VALUE, Value("k", version, "1", 0, "ann", 1)))


def test_a_wrong_guess_is_corrected_in_one_more_round_trip(store: PostgresStore, url: str) -> None:
    other = PostgresStore(url, REPO)
    put_value(store, 1)
    put_value(other, 7)

    def double(tx: Tx) -> int:
        found = tx.get(VALUE, ("k",))
        assert found is not None
        tx.put(VALUE, found.changed(version=found.version * 2))
        return found.version * 2

    results: list[int] = []
    assert trips(store, lambda: results.append(store.transact(ANN, double))) == 2
    assert results == [14]
    other.close()


def test_guesses_that_are_always_wrong_end_under_the_lock(store: PostgresStore, url: str) -> None:
    other = PostgresStore(url, REPO)
    put_value(store, 0)
    put_value(other, 0)
    runs = 0

    def work(tx: Tx) -> int:
        nonlocal runs
        runs += 1
        found = tx.get(VALUE, ("k",))
        if runs <= GUESSES:  # somebody is faster every time, as long as nobody holds the lock
            put_value(other, 100 + runs)
        assert found is not None
        tx.put(VALUE, found.changed(version=found.version + 1_000))
        return found.version

    assert store.transact(ANN, work) == 100 + GUESSES
    assert runs == GUESSES + 1
    found = other.read(lambda view: view.get(VALUE, ("k",)))
    assert found is not None
    assert found.version == 1_100 + GUESSES
    other.close()


def test_a_refusal_on_wrong_guesses_is_not_heard(store: PostgresStore, url: str) -> None:
    other = PostgresStore(url, REPO)
    claim(other, "a.py", "bob")
    with refused("claim.held"):
        claim(store, "a.py")
    release(other, "a.py", "bob")
    # This store still believes that bob holds it, and would refuse.
    assert claim(store, "a.py")["claims"][0]["agent"] == "ann"
    other.close()


@pytest.mark.parametrize("wrong_s", [-10, 10])
def test_a_wrong_idea_of_the_time_is_corrected(store: PostgresStore, wrong_s: int) -> None:
    claim(store, "warm.py")
    session_of(store)._server_ns += wrong_s * 1_000_000_000
    assert trips(store, lambda: claim(store, "a.py")) == 2
    server_ns = execute(store._url, "SELECT (extract(epoch FROM clock_timestamp()) * 1e9)::bigint")[0][0]
    entry = store.read(lambda view: view.scan(LOG, "key", reverse=True, limit=1))[0]
    assert 0 <= server_ns - entry.at_ns < 2_000_000_000


def test_the_time_of_a_write_is_the_servers_or_a_little_less(store: PostgresStore) -> None:
    before = execute(store._url, "SELECT (extract(epoch FROM clock_timestamp()) * 1e9)::bigint")[0][0]
    now = store.transact(ANN, lambda tx: (tx.append(say("x")), tx.now)[1])
    after = execute(store._url, "SELECT (extract(epoch FROM clock_timestamp()) * 1e9)::bigint")[0][0]
    assert before - 2_000_000_000 <= now.tick_ns <= after
    assert re.fullmatch(r"postgres/1\.[0-9a-f]{8}", now.boot)


def test_nobody_is_kept_waiting_by_another_repository(store: PostgresStore, url: str) -> None:
    create(url, "other")
    other = PostgresStore(url, "other")
    claim(other, "warm.py")
    with psycopg.connect(url) as blocker:
        blocker.execute("SELECT * FROM lineclear_begin('repo', NULL, true)")
        assert claim(other, "a.py")["fence"] == 4
    assert store.read(lambda view: view.scan(LOG, "key")) == []
    other.close()


def test_whoever_holds_the_lock_too_long_is_named(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session_module, "_SET", session_module._SET.replace("'30s'", "'50ms'"))
    store = PostgresStore(url, REPO)
    claim(store, "warm.py")
    with psycopg.connect(url) as blocker:
        blocker.execute("SELECT * FROM lineclear_begin('repo', NULL, true)")
        with refused("store.busy"):
            claim(store, "a.py")
        # A reader, and a refusal, wait for nobody.
        assert len(store.read(lambda view: view.scan(LOG, "key"))) == 3
    claim(store, "a.py")
    store.close()


# -- the connection ---------------------------------------------------------------------------


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
        with refused("store.unreadable"):
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
        "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity"
        " WHERE application_name = 'lineclear' AND datname = current_database()",
    )
    session_of(store)._heard_ns = 0  # it has been idle for long
    assert claim(store, "b.py")["fence"] == 4


FORKING = """
import os, sys
from lineclear.store.postgres.engine import PostgresStore
from tests.integration.test_postgres import claim
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
    environment = os.environ | {"PYTHONPATH": f"{ROOT / 'src'}{os.pathsep}{ROOT}"}
    subprocess.run([sys.executable, "-c", FORKING, url], env=environment, check=True, timeout=60)
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


# -- what cannot be kept ----------------------------------------------------------------------


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


# -- schema -----------------------------------------------------------------------------------


def test_making_it_twice_changes_nothing(url: str) -> None:
    assert create(url, REPO) is False
    assert create(url, "another") is True


def test_the_schema_number_is_that_of_the_newest_migration() -> None:
    assert known_migrations()[-1].number == SCHEMA_NUMBER


def test_tables_have_the_columns_that_are_declared(url: str) -> None:
    for table in ALL:
        columns = execute(
            url,
            "SELECT column_name, data_type, is_nullable, collation_name FROM information_schema.columns"
            f" WHERE table_name = '{table.name}' ORDER BY ordinal_position",
        )
        kinds = {"repo": "str"} | table.row.__init__.__annotations__
        assert columns == [
            (name, "bigint", "NO", None) if kinds[name] == "int" else (name, "text", "NO", "C")
            for name in ("repo", *table.columns)
        ]


def test_tables_have_the_indexes_that_are_declared(url: str) -> None:
    for table in ALL:
        found = execute(url, f"SELECT indexdef FROM pg_indexes WHERE tablename = '{table.name}'")
        indexed = {text.partition("btree (")[2].rstrip(")").replace('"', "") for (text,) in found}
        assert indexed - {""} == {", ".join(("repo", *names)) for names in table.indexes.values()}


def test_lookups_use_the_index_that_was_made_for_them(store: PostgresStore, url: str) -> None:
    """Also in a young table, of which the planner knows nothing yet."""
    claim(store, "warm.py")
    for read in (
        Read(GET, AGENT, "key", ("ann",)),
        Read(PICK, CLAIM, "node", ("file:", "file:/a", "file:/a/b")),
        Read(SCAN, CLAIM, "node", (), low="file:/a/", high="file:/a0"),
        Read(SCAN, TASK, "ready", ("open", 0)),
        Read(SCAN, LOG, "subject", ("epoch",), limit=1, reverse=True),
    ):
        sql, parameters = read.plain(REPO)
        given = ", ".join(f"'{value}'" for value in parameters)
        made, explained = (f"PREPARE probe AS {sql}", ()), (f"EXPLAIN EXECUTE probe({given})", ())
        _, plan, _ = session_of(store).ask(made, explained, ("DEALLOCATE probe", ()))
        words = "\n".join((plan.get_value(line, 0) or b"").decode() for line in range(plan.ntuples))
        index = f"{read.table.name}_{'pkey' if read.index == 'key' else read.index}"
        assert re.search(rf"(using|on) {index}\b", words), words
        assert "Filter" not in words, words


def test_a_newer_schema_is_refused(url: str) -> None:
    execute(url, f"INSERT INTO migration VALUES ({SCHEMA_NUMBER + 1}, 'next', '', 0)")
    for act in (lambda: PostgresStore(url, REPO), lambda: create(url, REPO)):
        with refused("store.newer") as caught:
            act()
        assert caught.value.facts["found"] == SCHEMA_NUMBER + 1


def test_an_older_schema_is_refused(url: str) -> None:
    execute(url, "DROP FUNCTION lineclear_history; DELETE FROM migration")
    with refused("store.older"):
        PostgresStore(url, REPO)


def test_a_changed_migration_is_reported(store: PostgresStore, url: str) -> None:
    assert store.check() == []
    execute(url, "UPDATE migration SET checksum = 'other'; UPDATE repo SET head = 5")
    assert store.check() == [
        "migration 0001_foundation.sql was not applied as this program knows it",
        "the head of the log is not its last position",
    ]


def test_what_was_never_made_is_missing(fresh_postgres: Callable[[], str], url: str) -> None:
    with refused("store.missing"):
        PostgresStore(fresh_postgres(), REPO)
    with refused("store.missing"):
        PostgresStore(url, "unknown")


def test_tables_of_somebody_else_are_left_alone(fresh_postgres: Callable[[], str]) -> None:
    taken = fresh_postgres()
    execute(taken, "CREATE TABLE task (theirs text)")
    with refused("store.unreadable") as caught:
        create(taken, REPO)
    assert "search_path" in caught.value.facts["reason"]
    assert execute(taken, "SELECT to_regclass('migration')") == [(None,)]
    execute(taken, "CREATE SCHEMA apart")
    apart = f"{taken}&options=-csearch_path%3Dapart"
    assert create(apart, REPO) is True
    store = PostgresStore(apart, REPO)
    assert claim(store, "a.py")["fence"] == 3
    store.close()


def test_many_who_make_it_at_once_make_it_once(fresh_postgres: Callable[[], str]) -> None:
    made = fresh_postgres()
    results: list[bool] = []
    threads = [threading.Thread(target=lambda: results.append(create(made, REPO))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(results) == [False, False, False, True]


def test_a_copy_of_the_database_goes_its_own_way(
    store: PostgresStore, url: str, fresh_postgres: Callable[[], str], postgres_url: str
) -> None:
    fence = claim(store, "a.py")["fence"]
    store.close()
    copied = fresh_postgres()
    original, copy = urlsplit(url).path[1:], urlsplit(copied).path[1:]
    execute(postgres_url, f"DROP DATABASE {copy}")
    execute(postgres_url, f"CREATE DATABASE {copy} TEMPLATE {original}")
    elsewhere = PostgresStore(copied, REPO)
    # What the original gives from now on, the copy never gives.
    assert claim(elsewhere, "b.py")["fence"] > fence + EPOCH_STEP
    assert len(elsewhere.read(lambda view: view.scan(CLAIM, "key"))) == 2
    elsewhere.close()


# -- secrets ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "unreachable",
    [
        "postgresql://me:s3cr3t@127.0.0.1:1/db",
        "postgresql://me@127.0.0.1:1/db?password=s3cr3t",
        "postgresql://me:s3cr3t%zz@127.0.0.1/db",
        "postgresql://me:s3cr3t@[::1/db",
        "host=127.0.0.1 port=1 password=s3cr3t",
        "host=127.0.0.1 port=1 password='s3cr3t",
    ],
)
@pytest.mark.parametrize("act", [create, PostgresStore], ids=["create", "open"])
def test_a_password_is_never_shown(unreachable: str, act: Callable[[str, str], object]) -> None:
    with pytest.raises(Refusal) as caught:
        act(unreachable, REPO)
    assert caught.value.code == "store.unreadable"
    assert "s3cr3t" not in f"{caught.value} {caught.value.as_data()} {caught.value.__cause__}"


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        ("postgresql://me:pw@host:5432/db", "postgresql://me@host:5432/db"),
        ("postgresql://me:p:w@x@host/db?sslmode=require", "postgresql://me@host/db?sslmode=require"),
        ("postgresql://host/db?user=me&password=pw", "postgresql://host/db?user=me"),
        ("postgres:///db", "postgres:///db"),
        ("host=a password=pw", "postgresql://..."),
    ],
)
def test_a_url_is_shown_without_its_password(given: str, shown: str) -> None:
    assert show_url(given) == shown


def test_a_database_that_is_not_there_is_named(postgres_url: str) -> None:
    with refused("store.unreadable") as caught:
        PostgresStore(postgres_url.replace("/postgres?", "/nowhere?"), REPO)
    assert "nowhere" in caught.value.facts["reason"]


# -- the bell ---------------------------------------------------------------------------------


def test_a_commit_is_heard_even_if_every_notification_is_lost(
    store: PostgresStore, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(PostgresStore, "_post_ring", lambda self, session: None)
    with store.listen() as bell:
        claim(store, "a.py")
        started = time.monotonic()
        assert bell.wait(5) is True
        assert time.monotonic() - started < 1  # 300 ms on a quiet machine


def test_a_notification_is_faster_than_looking(store: PostgresStore) -> None:
    claim(store, "warm.py")
    heard_s = []
    with store.listen() as bell:
        for number in range(5):
            claim(store, f"{number}.py")
            started = time.monotonic()
            assert bell.wait(5) is True
            heard_s.append(time.monotonic() - started)
    assert min(heard_s) < 0.1


def test_a_notification_that_came_with_another_answer_is_not_lost(
    store: PostgresStore, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(listening, "POLL_S", 30.0)
    with listening.PostgresListener(url, REPO) as bell:
        claim(store, "a.py")
        settle(store)
        deadline = time.monotonic() + 10
        assert bell._wire is not None
        while not bell._has_moved(bell._wire):
            assert time.monotonic() < deadline
        bell._wire.ask(("SELECT pg_sleep(0.1)", ()))
        assert bell.wait(5) is True


def test_a_wait_lasts_as_long_as_it_was_asked_to(store: PostgresStore) -> None:
    with store.listen() as bell:
        started = time.monotonic()
        assert bell.wait(0.4) is False
        assert time.monotonic() - started >= 0.4


def test_a_listener_survives_the_loss_of_its_connection(store: PostgresStore, url: str) -> None:
    claim(store, "warm.py")
    with store.listen() as bell:
        execute(
            url,
            "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity"
            ' WHERE query LIKE \'SELECT "head" FROM "repo"%\' AND datname = current_database()',
        )
        assert bell.wait(0.05) is False
        claim(store, "a.py")
        assert bell.wait(5) is True
        bell.wait(0)
        claim(store, "b.py")
        assert bell.wait(5) is True


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
            store._allowance._left = 0.0  # a burst has just used it up
            claim(store, f"{number}.py")
        assert len(list(ear.notifies(timeout=0.5))) == 1


def test_a_late_ring_is_not_lost_when_the_store_is_closed(store: PostgresStore, url: str) -> None:
    claim(store, "warm.py")
    settle(store)
    with psycopg.connect(url, autocommit=True) as ear:
        ear.execute(f'LISTEN "{channel_of(REPO)}"'.encode())
        store._allowance._left = 0.0
        claim(store, "a.py")
        store.close()
        assert len(list(ear.notifies(timeout=0.5))) == 1
