"""A team's store, a round trip of 50 ms away: whole calls, as `serve` answers them, beside that trip."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

from benchmarks.distance import far_away
from benchmarks.harness import Report, at_most_x, median, timed_us
from lineclear.cli.command_runner import CommandRunner
from lineclear.core.agents import hooks
from lineclear.core.agents.hooks import HookCall
from lineclear.mcp.calls import VerbCall
from lineclear.wiring.hooks import HookContext, layout_for, respond
from lineclear.wiring.repo import read_settings
from lineclear.wiring.starting import init_repo
from lineclear.wiring.store_pool import StorePool
from tests.postgres_server import ServerMissing, running_server
from tests.repository import TemporaryRepo, clean_environment

TITLE = "A team's store, 50 ms away"
DELAY_S = 0.050


def run(quick: bool) -> Report:
    report = Report()
    try:
        with running_server(durable=True) as server, tempfile.TemporaryDirectory() as place:
            _measure(report, server.url(server.create_database()), Path(place), 10 if quick else 40)
    except ServerMissing as missing:
        report.note(f"PostgreSQL was not measured: {missing}.")
    return report


def _measure(report: Report, url: str, place: Path, count: int) -> None:
    import psycopg

    (place / "home").mkdir()
    repo = TemporaryRepo.create(place / "shop", clean_environment(place / "home"))
    repo.commit("Team", {"lineclear.toml": '[repo]\nid = "bench"\n', "a.py": "one\n"})
    init_repo(str(repo.path), repo.environment, url)
    tree = repo.add_worktree("ada")
    local = urlsplit(url)
    socket_path = f"{parse_qs(local.query)['host'][0]}/.s.PGSQL.5432"
    with far_away(socket_path, DELAY_S) as port:
        far = f"postgresql://postgres@127.0.0.1:{port}{local.path}?sslmode=disable&gssencmode=disable"
        with psycopg.connect(far, autocommit=True) as db:
            ping = median([timed_us(lambda: db.execute("SELECT 1")) / 1_000 for _ in range(count)])
        environ = repo.environment
        own = repo.path / ".git/lineclear/local.toml"  # an agent's variable would not count over this file
        own.write_text(own.read_text().replace(url, far))
        stores = StorePool()
        runner = CommandRunner({**environ, "CLAUDE_CODE_SESSION_ID": "s-1"}, cwd=str(tree))
        fire = partial(_fire, tree, environ, stores)
        fire(hooks.SESSION_START, "a.py")
        # name -> what to do, and how many round trips it may take
        subjects: dict[str, tuple[Callable[[int], object], int]] = {
            "the hook before an edit": (lambda n: fire(hooks.BEFORE_EDIT, f"src/{n}.py"), 10),
            "the hook after an edit": (lambda n: fire(hooks.AFTER_EDIT, f"src/{n}.py"), 4),
            "claim": (lambda n: runner.perform("claim", {"resources": [f"docs/{n}.md"]}, VerbCall()), 3),
            "say": (lambda n: runner.perform("say", {"text": str(n)}, VerbCall()), 3),
            "status": (lambda _: runner.perform("status", {}, VerbCall()), 3),
        }
        for name, (act, trips) in subjects.items():
            for number in range(3):
                act(-number)
            times = [timed_us(partial(act, number)) / 1_000 for number in range(1, count + 1)]
            report.add(
                f"{name}, p50", median(times), "ms", beside=(ping, "SELECT 1 (one round trip)"),
                target=at_most_x(trips + 0.5),
            )  # fmt: skip
        runner.close()
        stores.close()


def _fire(tree: Path, environ: dict[str, str], stores: StorePool, event: str, name: str) -> None:
    paths = (str(tree / name),)
    call = HookCall("claude", event, session="s-1", cwd=str(tree), can_tell=True, paths=paths, tool="Edit")
    layout = layout_for(call, environ, str(tree))
    assert layout is not None
    settings = read_settings(layout, environ)
    respond(HookContext(layout, settings, call, environ, stores=stores))
