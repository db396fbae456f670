"""Making, checking and refusing a schema; whom a database belongs to; secrets in its URL."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable
from urllib.parse import urlsplit

import pytest

from lineclear.core.log.epochs import EPOCH_STEP
from lineclear.core.log.queries import any_of, by_index, by_key
from lineclear.core.log.tables import AGENT, ALL, CLAIM, LOG, TASK
from lineclear.core.words.refusals import Refusal
from lineclear.store.postgres.engine import PostgresStore, create
from lineclear.store.postgres.schema import SCHEMA_NUMBER, known_migrations
from lineclear.store.postgres.statements import command_of
from lineclear.store.postgres.wire import show_url
from lineclear.wiring.doctor import examine
from lineclear.wiring.starting import init_repo
from tests.integration.postgres.desk import REPO, claim, execute, session_of
from tests.repository import TemporaryRepo
from tests.world import refused

pytestmark = pytest.mark.postgres

TEAM = '[repo]\nid = "shop"\n'


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
    for question in (
        by_key(AGENT, "ann"),
        any_of(CLAIM, "node", "file:", "file:/a", "file:/a/b"),
        by_index(CLAIM, "node", low="file:/a/", high="file:/a0"),
        by_index(TASK, "ready", "open", 0),
        by_index(LOG, "subject", "epoch", limit=1, reverse=True),
    ):
        sql, parameters = command_of(question, REPO)
        given = ", ".join(f"'{value}'" for value in parameters)
        made, explained = (f"PREPARE probe AS {sql}", ()), (f"EXPLAIN EXECUTE probe({given})", ())
        _, plan, _ = session_of(store).ask(made, explained, ("DEALLOCATE probe", ()))
        words = "\n".join((plan.get_value(line, 0) or b"").decode() for line in range(plan.ntuples))
        index = f"{question.table.name}_{'pkey' if question.index == 'key' else question.index}"
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
        "migration 0001_foundation.sql is missing, or differs from the one this program knows",
        "migration 0002_worktrees_and_runs.sql is missing, or differs from the one this program knows",
        "migration 0003_queue.sql is missing, or differs from the one this program knows",
        "migration 0004_tokens.sql is missing, or differs from the one this program knows",
        "migration 0005_findings.sql is missing, or differs from the one this program knows",
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
    assert caught.value.code in ("store.unreadable", "store.unreachable")
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


def test_the_doctor_names_what_a_role_may_not_do(
    repo: TemporaryRepo, fresh_postgres: Callable[[], str]
) -> None:
    """A role that may only read passes every other check."""
    url = fresh_postgres()
    repo.commit("Team", {"lineclear.toml": TEAM})
    init_repo(str(repo.path), repo.environment, url)
    role = f"reader_{urlsplit(url).path.strip('/')}"  # roles belong to the whole server
    execute(url, f"CREATE ROLE {role} LOGIN; GRANT SELECT ON ALL TABLES IN SCHEMA public TO {role}")
    try:
        reading = {**repo.environment, "LINECLEAR_STORE_URL": url.replace("postgres@", f"{role}@")}

        def found() -> list[str]:
            checks = examine(str(repo.path), reading, fix=False)
            return [one["text"] for one in checks if one["what"] == "store" and one["state"] == "problem"]

        lacks = f"the store cannot be written: the role {role} lacks "
        (text,) = found()
        assert text.startswith(f"{lacks}DELETE, INSERT, UPDATE on the table agent and on ")
        execute(
            url, f"GRANT ALL ON ALL TABLES IN SCHEMA public TO {role}; REVOKE UPDATE ON claim FROM {role}"
        )
        assert found() == [f"{lacks}UPDATE on the table claim; the owner can GRANT it"]
        # With all rights, the server may still take no writes: only trying shows it.
        execute(
            url, f"GRANT UPDATE ON claim TO {role}; ALTER ROLE {role} SET default_transaction_read_only = on"
        )
        assert found() == ["the store cannot be written: cannot execute UPDATE in a read-only transaction"]
        execute(url, f"ALTER ROLE {role} RESET default_transaction_read_only")
        assert found() == []
        assert execute(url, "SELECT head FROM repo") == [(0,)]  # nothing was written
    finally:
        execute(url, f"DROP OWNED BY {role}; DROP ROLE {role}")
