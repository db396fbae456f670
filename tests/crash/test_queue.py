"""The queue killed at any step and started again: the same result, nothing landed twice, nothing lost."""

from __future__ import annotations

import shutil
from collections.abc import Callable

import pytest

from lineclear.app.ports import Caller
from lineclear.core.log.tables import CANDIDATE, LANDING
from lineclear.wiring.queue import landings_of
from lineclear.wiring.trust import trust_of
from tests.crash.test_landing import KILLED, Lander, copy_of, team_of
from tests.landings import open_team
from tests.repository import TemporaryRepo
from tests.sampling import some_of

PERSON = Caller("anna", is_person=True)
GATE = '[checks]\ngate = "test ! -e bad.txt"\n\n[queue]\nworkers = 1\n'


@pytest.fixture
def sample(repo: TemporaryRepo) -> TemporaryRepo:
    """Five candidates: two that fit, one that fails its check, one that does not fit, one on another's work;
    main is checked out, with a person amid their work."""
    repo.commit("Base", {"lineclear.toml": GATE, "a.txt": "1\n", "gone.txt": "x\n", "mine.txt": "m\n"})
    with open_team(repo) as team:
        trust_of(team.repo).record(PERSON, trust_of(team.repo).judged())
        work = {
            "good": {"a.txt": "2\n", "new/deep.txt": "n\n"},
            "bad": {"bad.txt": "b\n"},
            "clash": {"a.txt": "3\n"},
            "fine": {"fine.txt": "f\n"},
        }
        for number, (name, files) in enumerate(work.items(), 1):
            assert team.task(f"Do {name}", name) == number
            repo.git("switch", "-q", "-c", name, "main")
            repo.commit(f"Work {name}", files)
            repo.git("switch", "-q", "main")
            landings_of(team.repo).submit(Caller(name, tree=name), branch=name, task=number, agent=name)
    (repo.path / "mine.txt").write_text("my own\n")
    return repo


ENDS = {"good": "landed", "bad": "sent back", "clash": "sent back", "fine": "landed"}


def assert_it_is_as_it_should_be(git: TemporaryRepo) -> None:
    team = team_of(git)
    try:
        landings_of(team.repo).run_once(PERSON)
        rows = team.repo.store.read(lambda view: view.scan(CANDIDATE, "key"))
        assert {row.branch: row.state for row in rows} == ENDS
        assert [team.state(number) for number in (1, 2, 3, 4)] == ["merged", "open", "open", "merged"]
        assert [team.row(number).attempt for number in (2, 3)] == [1, 1]
        assert team.repo.store.read(lambda view: view.scan(LANDING, "key")) == []
        assert team.status() == [" M mine.txt"]
        assert team.file("mine.txt") == "my own\n"
        assert (team.file("a.txt"), team.file("new/deep.txt"), team.file("fine.txt")) == ("2\n", "n\n", "f\n")
        assert not (git.path / "bad.txt").exists()
        assert git.git("rev-list", "--count", "--merges", "--first-parent", "main") == "2"
        assert team.findings() == []
        assert team.leftovers() == []
        for branch in ENDS:
            assert git.git("rev-parse", branch)
        git.git("fsck", "--no-progress")
    finally:
        team.close()


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_killed_at_every_step_the_next_run_gives_the_same_result(
    sample: TemporaryRepo, record_property: Callable[[str, object], None]
) -> None:
    program = Lander(sample.environment, "queuer")
    whole = copy_of(sample, "whole")
    steps = program.land(whole.path)
    assert steps > 30
    assert_it_is_as_it_should_be(whole)
    died, chosen = 0, some_of(range(1, steps + 1), share=6)
    for step in chosen:
        git = copy_of(sample, f"dies-{step}")
        died += program.land(git.path, step) == KILLED
        assert_it_is_as_it_should_be(git)
        shutil.rmtree(git.path)
        shutil.rmtree(git.path.parent / f"{git.path.name}.worktrees", ignore_errors=True)
    program.close()
    assert died >= len(chosen) - 5  # how often a thread looks is not the same each time
    record_property("told", f"queue: {steps} steps, {died} of them its last one")
