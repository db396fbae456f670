"""What serve does while no command runs: each work seen to act, fail, recover, stop, and be killed."""

from __future__ import annotations

import shutil
import signal
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from lineclear.app import claims, tasks
from lineclear.app.agents.membership import ensure_agent
from lineclear.app.ports import Caller
from lineclear.app.queue.landings import Landings
from lineclear.app.runs import records
from lineclear.app.waiting_in_line import claim_or_wait
from lineclear.app.worktrees import saver as saving
from lineclear.core.tasks.lists import TaskDraft
from lineclear.host.bonds import SUPERVISOR
from lineclear.serve.background import Background
from lineclear.wiring.queue import landings_of
from lineclear.wiring.trust import trust_of
from lineclear.wiring.worktrees import worktrees_in
from tests.backgrounds import PERSON, Site
from tests.crash.proxy import socket_of
from tests.engines import ENGINES
from tests.repository import TemporaryRepo
from tests.waiting import until

BOTH = [pytest.param(name, marks=pytest.mark.postgres if name == "postgres" else ()) for name in ENGINES]


def new_site(repo: TemporaryRepo, request: pytest.FixtureRequest, engine: str) -> Iterator[Site]:
    url = request.getfixturevalue("fresh_postgres")() if engine == "postgres" else ""
    site = Site(repo, url)
    yield site
    site.close()


@pytest.fixture(params=BOTH)
def site(repo: TemporaryRepo, request: pytest.FixtureRequest) -> Iterator[Site]:
    yield from new_site(repo, request, request.param)


@pytest.fixture
def clone(repo: TemporaryRepo, request: pytest.FixtureRequest) -> Iterator[Site]:
    """A site on SQLite: for what the engine has no part in."""
    yield from new_site(repo, request, "sqlite")


def start_run(site: Site, caller: Caller, task: int, tree: str = "") -> None:
    start = records.Start(
        task, 1, client="plain", model="", tree=tree, branch=tree, base="", token_hash=""
    )  # fmt: skip
    records.begin(site.repo.store, caller, start)


def failing(background: Background) -> set[str]:
    return {name for name, work in background.status().items() if work["state"] == "failing"}


# -- the queue ----------------------------------------------------------------------------------


def test_what_is_handed_in_lands_without_anybody_running_the_queue(site: Site) -> None:
    background = site.begin()
    site.submit("work", {"a.txt": "1\n"})
    until(lambda: site.state("work") == "landed", background.status)
    assert (site.git.path / "a.txt").read_text() == "1\n"
    until(lambda: "landed" in background.status()["queue"]["last_done"])
    assert site.findings() == []


def test_a_queue_at_rest_is_free_for_whoever_wants_to_run_it(clone: Site) -> None:
    background = clone.begin()
    clone.submit("work", {"a.txt": "1\n"})
    until(lambda: clone.state("work") == "landed")
    until(lambda: background.status()["queue"]["state"] == "waiting")
    with landings_of(clone.repo).turns.take():
        pass


def test_while_somebody_else_runs_the_queue_it_waits_and_then_takes_over(site: Site) -> None:
    with landings_of(site.repo).turns.take():
        background = site.begin()
        site.submit("work", {"a.txt": "1\n"})
        until(lambda: background.status()["queue"]["state"] == "another process runs it")
        assert site.state("work") == "waiting"
    until(lambda: site.state("work") == "landed", background.status)
    assert background.status()["queue"]["last_error"] == ""


def test_the_killed_runner_of_a_queue_is_followed_by_the_other(clone: Site) -> None:
    """Two servers on one clone: whoever has the turn is killed amid its check, the other goes on."""
    clone.local(f'[checks]\ngate = "echo $$ >>{clone.git.path.parent}/checking; sleep 0.5"\n')
    first, second = clone.serve(), clone.serve()
    marks = clone.git.path.parent / "checking"
    for round_ in range(2):
        clone.submit(f"work{round_}", {f"{round_}.txt": "1\n"})
    until(marks.exists)
    first.kill()
    first.wait()
    until(lambda: clone.landed() == {"work0", "work1"})
    assert second.poll() is None
    assert clone.findings() == []


def test_checks_that_nobody_trusts_are_not_run_and_once_trusted_they_are(clone: Site) -> None:
    clone.git.commit("Settings", {"lineclear.toml": '[checks]\ngate = "touch ../ran"\n'})
    clone.repo.close()
    clone.repo = clone.open()
    background = clone.begin()
    clone.submit("work", {"a.txt": "1\n"})
    until(lambda: background.status()["queue"]["state"] == "failing")
    assert "trust" in background.status()["queue"]["last_error"]
    assert clone.state("work") == "waiting"
    trust_of(clone.repo).record(PERSON, trust_of(clone.repo).judged())
    until(lambda: clone.state("work") == "landed", background.status)


def test_what_stood_in_the_way_and_went_without_a_word_is_noticed(
    clone: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    tried = 0

    run_once = Landings.run_once

    def counted(landings: Landings, *given: Any, **more: Any) -> int:
        nonlocal tried
        tried += 1
        return run_once(landings, *given, **more)

    monkeypatch.setattr(Landings, "run_once", counted)
    monkeypatch.setattr("lineclear.serve.background_jobs.FIRST_RETRY_S", 0.2)
    clone.git.commit("Base", {"mine.txt": "1\n"})
    (clone.git.path / "mine.txt").write_text("my own\n")
    background = clone.begin()
    clone.submit("work", {"mine.txt": "2\n"})
    until(lambda: clone.state("work") == "needs you", background.status)
    until(lambda: tried >= 4)  # nobody says anything any more, and it is tried again
    clone.git.git("checkout", "--", "mine.txt")
    until(lambda: clone.state("work") == "landed", background.status)


def test_a_running_check_is_called_off_when_it_stops_and_asked_again_later(clone: Site) -> None:
    pid_file = clone.git.path.parent / "pid"
    clone.local(f"[checks]\ngate = '''echo $$ >{pid_file}; [ -e {pid_file}.go ] || sleep 600'''\n")
    background = clone.begin()
    clone.submit("work", {"a.txt": "1\n"})
    until(lambda: pid_file.exists() and pid_file.read_text().strip())
    assert background.stop(60)
    pid = int(pid_file.read_text())
    until(lambda: not Path(f"/proc/{pid}").exists())
    assert clone.state("work") == "waiting"
    Path(f"{pid_file}.go").touch()
    clone.begin()
    until(lambda: clone.state("work") == "landed")


def test_a_supervisor_does_not_wait_for_the_checks_of_another(
    clone: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`run` begins with this; the queue that is being run settles itself."""
    monkeypatch.setattr("lineclear.app.queue.landings.SETTLE_S", 0.1)
    with landings_of(clone.repo).turns.take():
        other = clone.open()
        assert landings_of(other).settle(PERSON, lands=True) == []
        other.close()


# -- snapshots ----------------------------------------------------------------------------------


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch, clone: Site) -> Site:
    """Snapshots every second, which is the least that can be set."""
    clone.environ["LINECLEAR_SNAPSHOTS_EVERY"] = "1s"
    monkeypatch.setenv("LINECLEAR_SNAPSHOTS_EVERY", "1s")
    return clone


def test_an_agents_work_is_saved_again_and_again_without_a_command(site: Site) -> None:
    place = site.agent("ada")
    site.begin()
    for text in ("one", "two"):
        (place / "new").mkdir(exist_ok=True)
        (place / "new" / "file.txt").write_text(text)
        until(partial(site.has_saved, "ada", "new/file.txt", text))  # 5 s on a quiet machine
    assert {kept.why for kept in site.snapshots("ada")} == {"at work"}


def looks_at(saver: saving.Saver, place: saving.SavedTree, ago_s: float) -> bool:
    """Is the worktree looked at again, so long after it was looked at last?"""
    place.looked_at_s = time.monotonic() - ago_s
    looked = saver.looked
    saver.step()
    is_looked_at = place.is_saving
    until(lambda: saver.step() or saver.looked == looked + is_looked_at)
    return is_looked_at


def test_a_quiet_worktree_is_looked_at_less_often_until_something_happens(quick: Site) -> None:
    tree = quick.agent("ada")
    saver = quick.saver()
    [place] = saver.places
    silence_s, rarely_s = quick.repo.settings.agents_silence_ms / 1_000 + 1, saving.QUIET_EVERY_S
    assert not looks_at(saver, place, 0.5)
    assert looks_at(saver, place, 1.0)
    place.active_at_s -= silence_s  # nobody was heard of, and nothing changed, for so long
    saver.choose()
    assert not looks_at(saver, place, rarely_s / 2)
    assert looks_at(saver, place, rarely_s)
    quick.repo.presence.touch("ada", 0)
    saver.choose()
    assert looks_at(saver, place, 1.0)
    place.active_at_s -= silence_s
    (tree / "a.txt").write_text("1\n")
    assert looks_at(saver, place, rarely_s)
    assert quick.saved("ada", "a.txt") == "1"
    assert looks_at(saver, place, 1.0), "what changed once may change again"


def test_new_directories_are_saved_and_ignored_ones_are_not(quick: Site) -> None:
    quick.git.commit("Ignore", {".gitignore": "build/\n", "src/a.py": "1\n"})
    place = quick.agent("ada")
    (place / "build" / "deep").mkdir(parents=True)
    saver = quick.saver()
    (place / "build" / "deep" / "out.o").write_text("x")
    (place / "src" / "more" / "below").mkdir(parents=True)
    (place / "src" / "more" / "below" / "b.py").write_text("1\n")
    until(lambda: saver.step() or quick.saved("ada", "src/more/below/b.py") == "1")
    assert quick.saved("ada", "build/deep/out.o") == ""
    (place / "src" / "more" / "below" / "b.py").write_text("2\n")
    until(lambda: saver.step() or quick.saved("ada", "src/more/below/b.py") == "2")
    (place / "src" / "more").rename(place / "src" / "moved")
    until(lambda: saver.step() or quick.saved("ada", "src/moved/below/b.py") == "2")
    (place / "src" / "moved" / "below" / "b.py").write_text("3\n")
    until(lambda: saver.step() or quick.saved("ada", "src/moved/below/b.py") == "3")
    (place / ".gitignore").write_text("")
    until(lambda: saver.step() or quick.saved("ada", "build/deep/out.o") == "x")


def test_a_worktree_that_somebody_made_and_somebody_adopted_is_saved(quick: Site) -> None:
    place = quick.git.add_worktree("made-by-hand")
    worktrees_in(quick.repo).adopt(PERSON, str(place), agent="bob")
    quick.begin()
    (place / "a.txt").write_text("1\n")
    until(lambda: quick.saved("bob", "a.txt") == "1")


def test_a_worktree_that_cannot_be_saved_does_not_hold_up_the_others(quick: Site) -> None:
    broken, fine = quick.agent("ada"), quick.agent("bob")
    git_dir = quick.git.path / ".git" / "worktrees" / "ada"
    (git_dir / "HEAD").write_text("nonsense\n")
    background = quick.begin()
    (broken / "a.txt").write_text("1\n")
    (fine / "a.txt").write_text("1\n")
    until(lambda: quick.saved("bob", "a.txt") == "1")
    until(lambda: "ada" in background.status()["snapshots"]["last_error"])
    assert background.status()["snapshots"]["state"] != "failing"
    (git_dir / "HEAD").write_text("ref: refs/heads/ada\n")
    until(lambda: quick.saved("ada", "a.txt") == "1")


def test_a_worktree_that_is_removed_while_it_is_saved_is_no_trouble_unless_it_stays_listed(
    quick: Site,
) -> None:
    place = quick.agent("ada")
    saver = quick.saver()
    shutil.rmtree(place)
    [seen] = saver.places

    def troubles_of_one_try() -> list[str]:
        seen.looked_at_s, seen.rest_until_s = float("-inf"), 0.0
        looked, found = saver.looked, saver.step()
        while saver.looked == looked:
            found += saver.step()
        return found

    assert troubles_of_one_try() == []
    assert troubles_of_one_try() == [f"ada: There is no worktree at {place} to take a snapshot of."]


def test_the_worktrees_of_a_supervisor_are_left_to_it_until_it_dies(quick: Site) -> None:
    quick.agent("ada")
    quick.agent("bob")
    number = tasks.add(quick.repo.store, PERSON, TaskDraft("", "Work"))["task"]["id"]
    tasks.take(quick.repo.store, quick.repo.liveness, quick.caller("ada"), number=int(number[2:]))
    start_run(quick, quick.caller("ada"), int(number[2:]), tree="ada")
    bond = quick.repo.bonds.hold(SUPERVISOR)
    saver = quick.saver()
    assert [place.name for place in saver.places] == ["bob"]
    bond.release()
    saver.choose()
    assert sorted(place.name for place in saver.places) == ["ada", "bob"]


# -- files for agents ---------------------------------------------------------------------------


def test_files_for_agents_follow_every_change_and_an_edit_is_a_command(site: Site) -> None:
    site.local("[mirror]\ntasks = true\ncoordination = true\n")
    place = site.git.add_worktree("ada")
    background = site.begin()
    until((place / "TASKS.md").exists, background.status)
    tasks.add(site.repo.store, PERSON, TaskDraft("", "Paint the shed"))
    page = place / "TASKS.md"
    until(lambda: "Paint the shed" in page.read_text(), background.status)
    page.write_text(page.read_text() + "- [ ] Mow the lawn\n")
    until(lambda: [entry for entry in site.events("TaskAdded") if "Mow the lawn" in entry.body])
    until(lambda: "T-2" in page.read_text())
    later = site.git.add_worktree("bob")
    until((later / "TASKS.md").exists)


def test_a_work_is_switched_on_and_off_while_it_runs(clone: Site) -> None:
    background = clone.begin()
    until(lambda: background.status()["mirror"]["state"] == "off")
    clone.local("[mirror]\ntasks = true\n[serve]\nqueue = false\n")
    until((clone.git.path / "TASKS.md").exists, background.status)
    until(lambda: background.status()["queue"]["state"] == "off")
    clone.submit("work", {"a.txt": "1\n"})
    clone.local("[mirror]\ntasks = true\n[serve]\nmirror = false\n")
    until(lambda: clone.state("work") == "landed", background.status)
    until(lambda: background.status()["mirror"]["state"] == "off")


def test_settings_that_cannot_be_read_are_told_and_mended(clone: Site) -> None:
    background = clone.begin()
    until(lambda: background.status()["leases"]["last_done_at"])
    clone.local("[serve\n")
    until(lambda: background.status()["queue"]["state"] == "failing")
    assert "local.toml" in background.status()["queue"]["last_error"]
    clone.local("")
    until(lambda: background.status()["queue"]["state"] == "waiting")
    clone.submit("work", {"a.txt": "1\n"})
    until(lambda: clone.state("work") == "landed")


# -- leases -------------------------------------------------------------------------------------


def test_leases_that_ran_out_become_events_although_nobody_asks(site: Site) -> None:
    store, liveness = site.repo.store, site.repo.liveness
    claims.ask(store, liveness, site.caller("ada"), site.request("ada", "value:a", ttl_ms=1_000))
    number = tasks.add(store, PERSON, TaskDraft("", "Work"))["task"]["id"]
    tasks.take(store, liveness, site.caller("ada"), number=int(number[2:]), lease_ms=1_000)
    background = site.begin()
    until(lambda: site.events("ClaimExpired"), background.status)
    until(lambda: site.events("TaskReturned"))
    until(lambda: "ended" in background.status()["leases"]["last_done"])
    assert site.findings() == []


def test_who_waits_for_a_lease_that_runs_out_gets_it(site: Site) -> None:
    store, liveness = site.repo.store, site.repo.liveness
    claims.ask(store, liveness, site.caller("ada"), site.request("ada", "value:a", ttl_ms=1_000))
    site.begin()
    granted = claim_or_wait(store, liveness, site.caller("bob"), site.request("bob", "value:a"), 30_000)
    assert [claim["agent"] for claim in granted["claims"]] == ["bob"]
    assert site.findings() == []


def test_a_claim_whose_process_died_is_free_at_once(clone: Site) -> None:
    bond, held = clone.repo.hold_bond("with")
    request = clone.request("ada", "value:a")
    request.bond = bond
    claims.ask(clone.repo.store, clone.repo.liveness, clone.caller("ada"), request)
    background = clone.begin()
    until(lambda: background.status()["leases"]["last_done_at"])
    assert clone.events("ClaimReleased") == []
    held.release()
    until(lambda: clone.events("ClaimReleased"))


def test_a_dead_agent_is_freed_and_one_whose_run_a_supervisor_has_to_end_is_not(clone: Site) -> None:
    clone.environ["LINECLEAR_AGENTS_GRACE"] = "0s"
    for name in ("ada", "bob"):
        bond, held = clone.repo.hold_bond("agent")
        caller = Caller(name, tree=name, bond=bond)
        clone.repo.store.transact(caller, partial(ensure_agent, caller=caller))
        number = int(tasks.add(clone.repo.store, PERSON, TaskDraft("", name))["task"]["id"][2:])
        tasks.take(clone.repo.store, clone.repo.liveness, caller, number=number)
        if name == "bob":
            start_run(clone, caller, number)
        held.release()
    background = clone.begin()
    until(lambda: clone.events("AgentLeft"), background.status)
    until(lambda: clone.events("TaskReturned"))
    assert [entry.subject for entry in clone.events("AgentLeft")] == ["agent:ada"]
    assert [entry.subject for entry in clone.events("TaskReturned")] == ["T-1"]


# -- troubles -----------------------------------------------------------------------------------


def test_when_the_repository_is_gone_everything_ends(clone: Site) -> None:
    background = clone.begin()
    until(lambda: background.status()["leases"]["last_done_at"])
    shutil.rmtree(clone.git.path / ".git" / "lineclear")
    until(lambda: {work["state"] for work in background.status().values()} == {"ended"}, background.status)
    assert clone.is_gone
    assert "The repository is gone." in clone.told
    assert not (clone.git.path / ".git" / "lineclear").exists()


def test_it_stops_at_once_and_leaves_nothing_that_waits(site: Site) -> None:
    background = site.begin()
    until(lambda: background.status()["leases"]["last_done_at"])
    assert background.stop(20)  # some of its works rest for longer than that
    assert {work["state"] for work in background.status().values()} == {"ended"}
    assert list(Path(site.repo.state_directory, "bells").glob("*")) == []


@pytest.mark.slow
def test_killed_again_and_again_amid_its_work_it_loses_and_doubles_nothing(site: Site) -> None:
    """Candidates, files and leases come in while servers are killed at any instant."""
    site.environ["LINECLEAR_SNAPSHOTS_EVERY"] = "1s"
    site.local("[mirror]\ntasks = true\n")
    place = site.agent("ada")
    names = [f"work{number}" for number in range(6)]
    for number, name in enumerate(names):
        server = site.serve()
        site.submit(name, {f"{name}.txt": "1\n"})
        (place / "a.txt").write_text(f"{number}\n")
        claims.ask(
            site.repo.store, site.repo.liveness, site.caller("bob"),
            site.request("bob", f"value:{name}", ttl_ms=1_000),
        )  # fmt: skip
        time.sleep(0.2 * number)  # not to wait for anything: to be amid something else each time
        server.send_signal(signal.SIGKILL)
        server.wait()
    site.serve()
    until(lambda: site.landed() == set(names))
    until(lambda: site.saved("ada", "a.txt") == "5")
    until(lambda: len(site.events("ClaimExpired")) == len(names))
    until((place / "TASKS.md").exists)
    assert len(site.events("CandidateLanded")) == len(names)
    log = site.git.git("log", "--format=%s", "main").splitlines()
    assert sorted(line for line in log if line.startswith("Work on")) == [f"Work on {name}" for name in names]
    assert site.git.git("status", "--porcelain", "--untracked-files=no") == ""
    assert site.findings() == []


@pytest.mark.postgres
def test_when_postgresql_goes_away_and_comes_back_the_works_go_on(
    repo: TemporaryRepo, fresh_postgres: Callable[[], str], postgres_url: str
) -> None:
    import psycopg

    url = fresh_postgres()
    site = Site(repo, url)
    door = Path(socket_of(url))
    try:
        background = site.begin()
        until(lambda: background.status()["leases"]["last_done_at"])
        site.branch("work", {"a.txt": "1\n"})
        with psycopg.connect(postgres_url, autocommit=True) as connection:
            hidden = door.rename(door.with_name("hidden"))
            try:
                connection.execute(
                    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                    " WHERE datname = %s AND pid <> pg_backend_pid()",
                    (url.partition("?")[0].rpartition("/")[2],),
                )
                until(lambda: failing(background) == {"queue", "leases", "snapshots"}, background.status)
            finally:
                hidden.rename(door)
        landings_of(site.repo).submit(PERSON, branch="work")
        until(lambda: site.state("work") == "landed", background.status)
        until(lambda: not failing(background), background.status)
    finally:
        site.close()
