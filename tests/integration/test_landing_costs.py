"""What a landing costs, as upper bounds: git processes, store reads, settings read, locks taken."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest

from lineclear.core.queue.landing_results import Landed
from lineclear.git import committed_settings
from lineclear.git import landing as git_landing
from lineclear.git import run as git_run
from lineclear.settings import loading
from lineclear.store.sqlite.engine import SqliteStore
from lineclear.wiring import queue
from tests.landings import Team, open_team
from tests.repository import TemporaryRepo


@pytest.fixture
def team(repo: TemporaryRepo) -> Iterator[Team]:
    repo.commit("Base", {"a": "1\n", "lineclear.toml": "[queue]\nbatch = 4\n"})
    with open_team(repo) as team:
        yield team


class Counted:
    """How often each thing happened since the last landing, and with which words git was started."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.times: Counter[str] = Counter()
        self.gits: list[str] = []
        started = git_run.Started.__init__

        def start(child: git_run.Started, args: Any, *given: Any, **more: Any) -> None:
            self.times["git"] += 1
            self.gits.append(" ".join(args))
            started(child, args, *given, **more)

        monkeypatch.setattr(git_run.Started, "__init__", start)
        self._count(monkeypatch, SqliteStore, "read")
        self._count(monkeypatch, SqliteStore, "transact")
        self._count(monkeypatch, git_landing.LandingLock, "take", "lock")
        self._count(monkeypatch, committed_settings, "load_under", "settings")
        self._count(monkeypatch, loading, "load_under", "settings")

    def _count(self, monkeypatch: pytest.MonkeyPatch, place: object, name: str, label: str = "") -> None:
        real = getattr(place, name)

        def counted(*given: Any, **more: Any) -> Any:
            self.times[label or name] += 1
            return real(*given, **more)

        monkeypatch.setattr(place, name, counted)

    def land(self, team: Team, branch: str) -> Landed:
        """As `lineclear land BRANCH` does, once it knows who calls."""
        self.times.clear()
        self.gits.clear()
        _, result = queue.landings_of(team.repo).land(team.person, branch=branch, wait_s=None)
        assert isinstance(result, Landed)
        return result


@pytest.fixture
def counted(team: Team, monkeypatch: pytest.MonkeyPatch) -> Counted:
    return Counted(monkeypatch)


def test_a_fast_forward_takes_at_most_8_gits_9_reads_and_2_locks(team: Team, counted: Counted) -> None:
    team.work("ada", {"b": "1\n", "c/d": "2\n"})
    landed = counted.land(team, "ada")
    assert (landed.how, landed.files) == ("fast-forward", ["b", "c/d"])
    assert counted.times["git"] <= 8, counted.gits
    assert counted.times["read"] <= 9
    assert counted.times["transact"] <= 3
    assert counted.times["lock"] <= 2
    assert counted.times["settings"] <= 1


def test_a_merge_takes_at_most_11_gits_9_reads_and_2_locks(team: Team, counted: Counted) -> None:
    team.work("ada", {"b": "1\n"})
    team.git.commit("Main goes on", {"a": "2\n"})
    landed = counted.land(team, "ada")
    assert (landed.how, landed.files) == ("merge", ["b"])
    assert counted.times["git"] <= 11, counted.gits
    assert counted.times["read"] <= 9
    assert counted.times["transact"] <= 3
    assert counted.times["lock"] <= 2
    assert counted.times["settings"] <= 1


def test_main_is_asked_for_by_no_git_of_its_own(team: Team, counted: Counted) -> None:
    team.work("ada", {"b": "1\n"})
    counted.land(team, "ada")
    assert [words for words in counted.gits if words.startswith(("rev-parse", "ls-tree", "rev-list"))] == []


def test_a_landing_that_changes_the_settings_reads_them_once_more(team: Team, counted: Counted) -> None:
    team.work("ada", {"lineclear.toml": "[queue]\nbatch = 5\n"})
    counted.land(team, "ada")
    assert counted.times["settings"] == 2


def test_the_lock_is_held_only_while_main_moves(
    team: Team, counted: Counted, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody waits for somebody else's merge, and a git that stays inherits no lock."""
    team.work("ada", {"b": "1\n"})
    held: list[str] = []
    started = git_run.Started.__init__

    def start(child: git_run.Started, args: Any, *given: Any, **more: Any) -> None:
        lock = git_landing.LandingLock(team.repo.state_directory)
        if not lock.take(0):
            held.append(" ".join(args))
        lock.free()
        started(child, args, *given, **more)

    monkeypatch.setattr(git_run.Started, "__init__", start)
    counted.land(team, "ada")
    assert [words for words in held if "read-tree" not in words and "update-ref" not in words] == []
    assert len(held) == 3
