"""`lineclear run` on a clone that somebody serves: neither does the other's work, or is in its way."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from lineclear.git.snapshots.refs import list_snapshots
from lineclear.serve.background import Background
from lineclear.wiring.repo import open_repo
from tests.e2e.crew import Crew


@contextmanager
def served(crew: Crew) -> Iterator[Background]:
    background = Background(lambda: open_repo(str(crew.git.path), crew.environ))
    background.start()
    try:
        yield background
    finally:
        assert background.stop(30), background.status()


def saved(crew: Crew, agent: str, name: str) -> str:
    """The file in the agent's newest snapshot that has it."""
    for kept in list_snapshots(crew.repo.layout.common_dir, agent):
        if crew.git.git("ls-tree", kept.commit, "--", name):
            return crew.git.git("show", f"{kept.commit}:{name}")
    return ""


def test_a_run_lands_its_work_and_says_so_though_a_server_is_there(crew: Crew) -> None:
    crew.git.commit("Settings", {"lineclear.toml": '[checks]\ngate = "sleep 0.2"\n'})
    assert crew.ask("trust").code == 0
    for number in (1, 2, 3):
        crew.task(f"Part {number}")
    with served(crew) as background:
        parts = {f"T{n}": f"commit {n} {n}" for n in (1, 2, 3)}
        shift = crew.run_whole("-n", "2", command=crew.script(**parts))
        assert [crew.row(n).state for n in (1, 2, 3)] == ["merged"] * 3
        assert [crew.on_main(str(n)) for n in (1, 2, 3)] == ["1", "2", "3"]
        for number in (1, 2, 3):
            assert f"T-{number} landed" in shift.said
        assert [work["last_error"] for work in background.status().values()] == [""] * 4
    assert len(crew.events("CandidateLanded")) == 3
    assert crew.findings() == []


def test_when_the_supervisor_is_killed_the_server_saves_what_its_agents_go_on_to_do(crew: Crew) -> None:
    crew.task("Part 1")
    script = "echo 1 >before; mark begun; await killed; echo 2 >after; mark written; await go; commit done 1"
    with served(crew) as background:
        shift = crew.run("-n", "1", command=crew.script(T1=script))
        crew.until_marked("begun", shift)
        crew.until(lambda: saved(crew, "worker-1", "before") == "1", shift)
        shift.kill()
        crew.mark("killed")
        crew.until_marked("written")
        crew.until(lambda: saved(crew, "worker-1", "after") == "2")
        # Its end is for the next supervisor to find: the task stays with the agent that does it.
        assert crew.row(1).state == "taken"
        again = crew.run("-n", "1", command=crew.script(T1=script))
        crew.until_heeding(again)
        crew.mark("go")
        assert again.code() == 0, again.said
        assert crew.row(1).state == "merged"
        assert crew.ends(1) == ["done"]
        assert background.status()["leases"]["last_error"] == ""
    assert crew.findings() == []


def test_work_that_a_run_leaves_in_the_queue_is_landed_by_the_server(crew: Crew) -> None:
    crew.task("Part 1")
    with served(crew):
        crew.run_whole("-n", "1", "--no-land", command=crew.script(T1="commit 1 1"))
        assert crew.row(1).state == "handed over"
        assert crew.ask("land", "--task", "T-1", "--no-wait").code == 0
        crew.until(lambda: crew.row(1).state == "merged")
    assert crew.findings() == []
