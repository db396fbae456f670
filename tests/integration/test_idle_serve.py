"""How often an idle `serve` asks its store: counted on a clock that only moves when a job waits."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from lineclear.serve import background_jobs
from lineclear.serve.background import JobContext
from lineclear.store.postgres import listening
from lineclear.store.postgres.wire import Wire
from lineclear.store.sqlite.engine import SqliteStore
from tests.backgrounds import PERSON, Site
from tests.engines import ENGINES
from tests.repository import TemporaryRepo

HOUR_S = 3_600.0
BOTH = [pytest.param(name, marks=pytest.mark.postgres if name == "postgres" else ()) for name in ENGINES]


class Steps:
    """A clock in steps: it stands still while a job works."""

    now_s = 0.0

    def monotonic(self) -> float:
        return self.now_s

    def pass_by(self, seconds: float) -> None:
        self.now_s += max(0.0, seconds)


class IdleJob(JobContext):
    """A job of a server where nothing happens, for an hour of the clock."""

    def __init__(self, site: Site, clock: Steps) -> None:
        self.repo, self._clock, self._count = site.repo, clock, 0
        self.caller, self._until_s = PERSON, clock.now_s + HOUR_S

    def goes_on(self) -> bool:
        return self._clock.now_s < self._until_s

    def wait(self, timeout_s: float) -> None:
        self._clock.pass_by(max(timeout_s, 0.001))

    def rest(self, seconds: float) -> None:
        self.wait(seconds)

    def ring(self) -> None:
        self._count += 1

    @property
    def rings(self) -> int:
        return self._count

    def did(self, words: str = "", *, is_news: bool = True) -> None: ...
    def is_at(self, state: str) -> None: ...
    def failed(self, words: str) -> None:
        raise AssertionError(words)


@pytest.mark.parametrize("engine", BOTH)
def test_an_idle_server_asks_less_than_once_a_second(
    repo: TemporaryRepo, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, engine: str
) -> None:
    site = Site(repo, request.getfixturevalue("fresh_postgres")() if engine == "postgres" else "")
    clock, asked = Steps(), [0]

    def counted(act: Callable[..., Any]) -> Callable[..., Any]:
        def count(*given: Any, **named: Any) -> Any:
            asked[0] += 1
            return act(*given, **named)

        return count

    def hear_nothing(timeout_s: float) -> bool:
        clock.pass_by(timeout_s)
        return False

    monkeypatch.setattr(background_jobs, "time", clock)
    if engine == "postgres":
        monkeypatch.setattr(Wire, "ask", counted(Wire.ask))
        monkeypatch.setattr(Wire, "wait_for_notification", lambda _, timeout_s: hear_nothing(timeout_s))
        monkeypatch.setattr(listening, "monotonic", clock.monotonic)
    else:
        for name in ("read", "transact"):
            monkeypatch.setattr(SqliteStore, name, counted(getattr(SqliteStore, name)))
        ear = site.repo.store.listen()
        monkeypatch.setattr(type(ear), "wait", lambda _, timeout_s: hear_nothing(timeout_s))
        ear.__exit__()
    per_s = {}
    jobs = {"bell": background_jobs.hear} | {job.name: job.run for job in background_jobs.JOBS}
    for name, run in jobs.items():
        asked[0] = 0
        run(IdleJob(site, clock))
        per_s[name] = asked[0] / HOUR_S
    site.close()
    assert sum(per_s.values()) < 1, per_s
    assert min(per_s["bell"], per_s["leases"]) > 0, per_s  # it does look, if seldom
