"""Fixtures for all tests: a real PostgreSQL, a real git repository, and how long hypothesis searches."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from tests.postgres_server import Server, ServerMissing, running_server
from tests.repository import TemporaryRepo, clean_environment

# No deadline and no look at the clock in either: on a busy machine they would report the neighbours, not the
# code.
UNHURRIED = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("ci", UNHURRIED, print_blob=True)
settings.register_profile("dev", UNHURRIED, max_examples=30)


def in_ci() -> bool:
    return os.environ.get("CI") == "true"


settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE") or ("ci" if in_ci() else "dev"))


def pytest_configure() -> None:
    # Tests in the background, or under nohup, ignore signals of the terminal, and so would what they start. A
    # function is not passed on.
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    for number in (signal.SIGHUP, signal.SIGQUIT):
        if signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, lambda _number, _frame: None)


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
    return _clean_repo(tmp_path, monkeypatch)


@pytest.fixture(scope="module")
def shared_repo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TemporaryRepo]:
    """The same, for all tests of a file that each keep to names of their own."""
    with pytest.MonkeyPatch.context() as monkeypatch:
        yield _clean_repo(tmp_path_factory.mktemp("shared"), monkeypatch)


def _clean_repo(place: Path, monkeypatch: pytest.MonkeyPatch) -> TemporaryRepo:
    home = place / "home"
    home.mkdir()
    environment = clean_environment(home)
    for name in os.environ.keys() - environment.keys():
        monkeypatch.delenv(name)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    return TemporaryRepo.create(place / "repo", environment)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Show what passing tests have counted or measured: `record_property("told", "12 fault points")`."""
    reports = [report for report in terminalreporter.getreports("passed") if report.when == "call"]
    told = [value for report in reports for name, value in report.user_properties if name == "told"]
    if told:
        terminalreporter.section("counted and measured")
        terminalreporter.write_line("\n".join(map(str, told)))


@pytest.fixture(scope="session")
def bubblewrap() -> None:
    """For tests of the sandbox: skips them, loudly, where it cannot work."""
    from lineclear.host import sandbox

    why = sandbox.why_unavailable() if sys.platform == "linux" else "it exists for Linux only"
    if why:
        words = f"THE SANDBOX IS NOT TESTED: {why}"
        if in_ci() and sys.platform == "linux":
            pytest.fail(words)
        pytest.skip(words)
