"""Fixtures for all tests: a real PostgreSQL, a real git repository, and how long hypothesis searches."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import settings

from tests.postgres_server import Server, ServerMissing, running_server
from tests.repository import TemporaryRepo, clean_environment

# No deadline in either: on a busy machine it would report the neighbours, not the code.
settings.register_profile("ci", deadline=None, derandomize=False, print_blob=True)
settings.register_profile("dev", deadline=None, max_examples=30)


def in_ci() -> bool:
    return os.environ.get("CI") == "true"


settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE") or ("ci" if in_ci() else "dev"))


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[Server]:
    """One server for each test process (xdist worker), started when a test first asks for it."""
    try:
        with running_server() as server:
            yield server
    except ServerMissing as missing:
        words = f"NOT TESTED ON POSTGRESQL: {missing}; run `make test`"
        if in_ci():
            pytest.fail(words)
        pytest.skip(words)


@pytest.fixture(scope="session")
def postgres_url(postgres_server: Server) -> str:
    """The server's maintenance database; for a database of your own see `fresh_postgres`."""
    return postgres_server.url()


@pytest.fixture
def fresh_postgres(postgres_server: Server) -> Iterator[Callable[[], str]]:
    """A function: each call returns the URL of a new, empty database, dropped after the test."""
    names: list[str] = []

    def create() -> str:
        names.append(postgres_server.create_database())
        return postgres_server.url(names[-1])

    yield create
    for name in names:
        postgres_server.drop_database(name)


@pytest.fixture
def repo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> TemporaryRepo:
    """A git repository with one commit; this process, and what it starts, sees a clean environment."""
    home = tmp_path / "home"
    home.mkdir()
    environment = clean_environment(home)
    for name in os.environ.keys() - environment.keys():
        monkeypatch.delenv(name)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    return TemporaryRepo.create(tmp_path / "repo", environment)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Show what passing tests have counted or measured: `record_property("told", "12 fault points")`."""
    reports = [report for report in terminalreporter.getreports("passed") if report.when == "call"]
    told = [value for report in reports for name, value in report.user_properties if name == "told"]
    if told:
        terminalreporter.section("counted and measured")
        terminalreporter.write_line("\n".join(map(str, told)))
