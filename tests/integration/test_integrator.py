"""`queue.integrator`: a command of the repository's own that works on main after each landing."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from lineclear.app.queue import candidates as queue
from lineclear.app.queue.after_landing import BRANCH
from lineclear.core.queue.phases import INTEGRATE
from lineclear.wiring.queue import landings_of, open_tools
from lineclear.wiring.trust import trust_of
from tests.phasing import Phased, open_phased
from tests.repository import TemporaryRepo
from tests.world import refused

# Writes a list of all text files; notes what it was told, and by what name it runs.
PROGRAM = """\
#!/bin/sh
cp "$LINECLEAR_LANDED" "$LOG.$LINECLEAR_AGENT"
[ ! -e fail ] || { echo out of order; exit 3; }
ls *.txt > index.lst
"""
SETTINGS = '[queue]\nintegrator = "sh integrate.sh"\n'


@pytest.fixture
def team(repo: TemporaryRepo) -> Iterator[Phased]:
    with open_phased(repo, SETTINGS, {"integrate.sh": PROGRAM, "a.txt": "a\n"}) as team:
        yield team


def land(team: Phased, name: str) -> list[dict[str, Any]]:
    """A person's branch with one new file, landed; gives what the queue would tell of the batch."""
    team.work(name, {f"{name}.txt": f"{name}\n"})
    number = landings_of(team.repo).submit(team.person, branch=name)["candidate"]
    return landed_now(team, [number])


def landed_now(team: Phased, numbers: list[str]) -> list[dict[str, Any]]:
    # Without what follows a landing: that is what is tried here.
    with (
        landings_of(team.repo).turns.take(),
        landings_of(team.repo).open_runner(team.person, lambda _: None) as runner,
    ):
        runner.run_once()
    rows = [queue.show_brief(row) for row in team.candidates()]
    return [row for row in rows if row["candidate"] in numbers and row["state"] == "landed"]


def followed(team: Phased, landed: list[dict[str, Any]]) -> dict[str, Any] | None:
    with open_tools(team.repo) as tools:
        return tools.follow_up(team.person, landed)


def told(team: Phased) -> list[str]:
    """The branches that the command was told of the last time; nothing when it never ran."""
    log = Path(team.git.environment["LOG"] + ".integrator")
    return [row["branch"] for row in json.loads(log.read_text())] if log.exists() else []


def test_what_it_changes_is_a_candidate_in_its_own_name(team: Phased) -> None:
    answer = followed(team, land(team, "b"))
    assert answer is not None
    assert answer["result"] == "submitted"
    assert told(team) == ["b"]
    assert [row["branch"] for row in landed_now(team, [answer["candidate"]])] == [BRANCH]
    assert team.file("index.lst") == "a.txt\nb.txt\n"
    assert team.git.git("log", "-1", "--format=%an", "main") == "integrator"
    assert team.findings() == []


def test_its_own_work_does_not_call_it_again(team: Phased) -> None:
    answer = followed(team, land(team, "b"))
    assert answer is not None
    own = landed_now(team, [answer["candidate"]])
    Path(team.git.environment["LOG"] + ".integrator").unlink()
    assert followed(team, own) is None
    assert told(team) == []


def test_when_nothing_changes_nothing_is_submitted(team: Phased) -> None:
    first = followed(team, land(team, "b"))
    assert first is not None
    batch = [*landed_now(team, [first["candidate"]]), {"branch": "other"}]
    second = followed(team, batch)
    assert second is not None
    assert (second["result"], second["candidate"]) == ("nothing", "")
    assert told(team) == ["other"]


def test_a_result_that_still_waits_is_replaced_by_one_for_both_batches(team: Phased) -> None:
    first = followed(team, land(team, "b"))
    assert first is not None
    queue.hold(team.repo.store, team.person, int(first["candidate"][2:]), "later")
    second = followed(team, land(team, "c"))
    assert second is not None
    assert (second["candidate"], told(team)) == (first["candidate"], ["b", "c"])
    queue.retry(team.repo.store, team.person, int(first["candidate"][2:]))
    landed_now(team, [])
    assert team.file("index.lst") == "a.txt\nb.txt\nc.txt\n"


def test_a_command_that_fails_submits_nothing_and_says_so(team: Phased) -> None:
    team.git.commit("Break it", {"fail": "x\n"})
    answer = followed(team, land(team, "b"))
    assert answer is not None
    assert (answer["result"], answer["why"]) == ("failed", "queue.integrator ended with 3")
    assert answer["output"] == "out of order\n"
    assert [row.branch for row in team.candidates()] == ["b"]


def test_it_begins_anew_from_main_whatever_a_killed_run_left(team: Phased) -> None:
    followed(team, land(team, "b"))
    place = team.tree_of("integrator")
    (place / "half.txt").write_text("half\n")
    (place / "a.txt").write_text("spoilt\n")
    git_dir = Path(team.git.git("rev-parse", "--absolute-git-dir", at=place))
    (git_dir / "index.lock").touch()
    landed_now(team, [])
    answer = followed(team, land(team, "c"))
    assert answer is not None
    landed_now(team, [])
    assert (team.file("index.lst"), team.file("a.txt")) == ("a.txt\nb.txt\nc.txt\n", "a\n")


def test_it_runs_only_when_a_person_trusts_it(team: Phased) -> None:
    batch = land(team, "b")
    trust_of(team.repo).revoke(team.person)
    with refused("trust.missing"):
        followed(team, batch)
    assert told(team) == []


def test_a_landed_proposal_is_decided_and_is_news_for_it(team: Phased) -> None:
    number = team.propose("ada", "migrations/0002_email.sql", "ALTER TABLE users ADD email text;\n")
    team.begin(INTEGRATE)
    landings_of(team.repo).run_once(team.person)
    assert team.proposal(number).state == "accepted"
    assert told(team) == [f"lineclear/integrate-{number}"]


def test_the_queue_lets_it_work_after_each_landing_and_lands_what_it_did(team: Phased) -> None:
    for name in ("b", "c"):
        team.work(name, {f"{name}.txt": f"{name}\n"})
        landings_of(team.repo).submit(team.person, branch=name)
    landings_of(team.repo).run_once(team.person)
    assert team.file("index.lst") == "a.txt\nb.txt\nc.txt\n"
    assert {row.branch: row.state for row in team.candidates()} == dict.fromkeys(("b", "c", BRANCH), "landed")


def test_what_is_not_trusted_is_said_and_keeps_nothing_from_landing(team: Phased) -> None:
    trust_of(team.repo).revoke(team.person)
    team.work("b", {"b.txt": "b\n"})
    landings_of(team.repo).submit(team.person, branch="b")
    news: list[str] = []
    landings_of(team.repo).run_once(team.person, tell=lambda one: news.append(f"{one.kind}: {one.text}"))
    assert [row.state for row in team.candidates()] == ["landed"]
    assert [text for text in news if text.startswith("warned")] == [
        "warned: after the landing: Not trusted yet in lineclear.toml: queue.integrator."
    ]
