"""PostgreSQL under several writers, and how many round trips a claim needs when the server is far away."""

from __future__ import annotations

import time
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING
from urllib.parse import parse_qs, urlsplit

from benchmarks.crowd import Start, run_together
from benchmarks.distance import far_away
from benchmarks.harness import Report, at_least, at_most_x, median, quantile, timed_us
from lineclear.app import claims
from lineclear.app.ports import Caller, NobodyDies
from lineclear.core.claims.granting import EXCLUSIVE, Request
from lineclear.core.claims.resources import parse_resource
from tests.postgres_server import ServerMissing, running_server

if TYPE_CHECKING:
    from lineclear.app.ports import Store
    from tests.postgres_server import Server

WRITERS = 8
REPO = "bench"
DELAY_S = 0.050


@dataclass(frozen=True, slots=True)
class Job:
    index: int
    url: str
    seconds: float


def measure(report: Report, quick: bool) -> None:
    try:
        with running_server(durable=True) as server:
            _measure_writers(report, server, 2.0 if quick else 10.0)
            _measure_round_trips(report, server, 10 if quick else 40)
    except ServerMissing as missing:
        report.note(f"PostgreSQL was not measured: {missing}.")


def _new_database(server: Server) -> str:
    import psycopg

    from lineclear.store.postgres.engine import create

    url = server.url(server.create_database())
    create(url, REPO)
    with psycopg.connect(url, autocommit=True) as db:
        db.execute("CREATE TABLE bare (id bigint GENERATED ALWAYS AS IDENTITY, body text)")
    return url


def _open(url: str) -> Store:
    from lineclear.store.postgres.engine import PostgresStore

    return PostgresStore(url, REPO)


def _claim(store: Store, caller: Caller, number: int) -> None:
    resource = parse_resource(f"src/{caller.name}/part{number % 40}/file{number}.py")
    request = Request(caller.name, "main", EXCLUSIVE, [resource], ttl_ms=1_800_000)
    claims.ask(store, NobodyDies(), caller, request)


# -- throughput -------------------------------------------------------------------------------


def _measure_writers(report: Report, server: Server, seconds: float) -> None:
    url = _new_database(server)
    waits = run_together(
        claim_for_a_while, [Job(n, url, seconds) for n in range(WRITERS)], limit_s=seconds + 60
    )
    bare = run_together(
        insert_for_a_while, [Job(n, url, seconds) for n in range(WRITERS)], limit_s=seconds + 60
    )
    rate, bare_rate = (sum(map(len, found)) / seconds for found in (waits, bare))
    report.add(
        f"PostgreSQL, {WRITERS} writers, durable claims",
        rate,
        "/s",
        beside=(bare_rate, "bare insert of a log row"),
        target=at_least(500),
    )
    every, every_bare = ([wait for one in found for wait in one] for found in (waits, bare))
    report.add(
        "the same, one claim, p50",
        quantile(every, 0.5),
        "ms",
        beside=(quantile(every_bare, 0.5), "bare insert"),
    )
    report.add(
        "the same, one claim, p99",
        quantile(every, 0.99),
        "ms",
        beside=(quantile(every_bare, 0.99), "bare insert"),
    )


def claim_for_a_while(start: Start, job: Job) -> list[float]:
    store, caller = _open(job.url), Caller(f"agent-{job.index}")
    waits: list[float] = []
    _claim(store, caller, 0)
    until = start.wait() + job.seconds
    while (began := time.monotonic()) < until:
        _claim(store, caller, len(waits) + 1)
        waits.append((time.monotonic() - began) * 1_000)
    store.close()
    return waits


def insert_for_a_while(start: Start, job: Job) -> list[float]:
    """The least that any durable claim has to do: one row of its size, committed, in one round trip."""
    import psycopg

    waits = []
    with psycopg.connect(job.url, autocommit=True) as db:
        until = start.wait() + job.seconds
        while (began := time.monotonic()) < until:
            db.execute("INSERT INTO bare (body) VALUES (%s)", ("x" * 300,), prepare=True)
            waits.append((time.monotonic() - began) * 1_000)
    return waits


# -- round trips ------------------------------------------------------------------------------


def _measure_round_trips(report: Report, server: Server, count: int) -> None:
    import psycopg

    local = urlsplit(_new_database(server))
    socket_path = f"{parse_qs(local.query)['host'][0]}/.s.PGSQL.5432"
    with far_away(socket_path, DELAY_S) as port:
        url = f"postgresql://postgres@127.0.0.1:{port}{local.path}?sslmode=disable&gssencmode=disable"
        with psycopg.connect(url, autocommit=True) as db:
            pings = [timed_us(lambda: db.execute("SELECT 1")) / 1_000 for _ in range(count)]
        store, caller = _open(url), Caller("agent")
        for number in range(3):
            _claim(store, caller, number)
        times = [timed_us(partial(_claim, store, caller, number)) / 1_000 for number in range(3, 3 + count)]
        store.close()
    ping = median(pings)
    report.add(
        "PostgreSQL 50 ms away, a claim, mean",
        sum(times) / count,
        "ms",
        beside=(ping, "SELECT 1, p50 (one round trip)"),
        target=at_most_x(2.5),
    )
    report.add("the same, a claim, p99", quantile(times, 0.99), "ms", beside=(ping, "SELECT 1, p50"))
