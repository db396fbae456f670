"""What is going on: the page's facts, and everything known about one resource."""

from __future__ import annotations

from typing import Any

import pytest

from lineclear.app import messages, proposals, status, tasks
from lineclear.app.agents import membership
from lineclear.app.ports import Caller
from lineclear.app.queue import candidates
from lineclear.core.claims.strategies import LOCKED, SINGLE_WRITER, Rule
from lineclear.core.log.events import Draft
from lineclear.core.tasks.lists import TaskDraft
from tests.world import MINUTE_MS, World, resource

ANN, PAT = Caller("ann"), Caller("pat", is_person=True)


@pytest.fixture
def world() -> World:
    return World()


def page(world: World, me: str = "pat") -> dict[str, Any]:
    return world.store.read(lambda view: status.status(view, world.presence, me))


def who(world: World, text: str, rules: list[Rule] | None = None) -> dict[str, Any]:
    return world.store.read(lambda view: status.who(view, resource(text), rules or []))


def test_an_empty_repository_has_an_empty_page(world: World) -> None:
    assert page(world) == {
        "me": "pat",
        "head": 0,
        "needs_you": [],
        "phase": {"phase": "parallel", "since": "", "by": "", "note": ""},
        "agents": [],
        "runs": [],
        "claims": [],
        "claims_hidden": 0,
        "waits": [],
        "tasks": {"ready": 0, "open": 0, "taken": [], "handed_over": 0},
        "queue": {"state": "open", "by": "", "why": "", "waiting": 0, "held": 0, "needs you": 0},
        "findings": [],
        "unread": 0,
    }


def test_the_page_shows_who_is_here_with_what(world: World) -> None:
    tasks.add(world.store, PAT, TaskDraft("1", "login"))
    tasks.add(world.store, PAT, TaskDraft("1", "logout", after=["T-1"]))
    tasks.take(world.store, world.liveness, ANN)
    world.ask("ann", "src/a.py")
    world.stand_in_line("bob", "src/a.py")
    membership.leave(world.store, PAT, "pat", "lunch")
    world.presence.touch("ann")
    world.clock.advance(2_000)
    shown = page(world)
    assert [
        (agent["name"], agent["tasks"], agent["claims"], agent["idle_seconds"]) for agent in shown["agents"]
    ] == [
        ("ann", ["T-1 login"], 1, 2),
        ("bob", [], 0, None),
    ]
    assert [claim["resource"] for claim in shown["claims"]] == ["file:src/a.py"]
    assert [(wait["agent"], wait["resources"]) for wait in shown["waits"]] == [("bob", ["file:src/a.py"])]
    assert (shown["tasks"]["ready"], shown["tasks"]["open"]) == (0, 1)
    assert [task["id"] for task in shown["tasks"]["taken"]] == ["T-1"]


def test_what_ran_out_is_not_on_the_page(world: World) -> None:
    world.ask("ann", "src/a.py", ttl_ms=MINUTE_MS)
    world.stand_in_line("bob", "src/a.py")
    world.clock.advance(MINUTE_MS)
    assert (page(world)["claims"], page(world)["waits"]) == ([], [])
    assert who(world, "src/a.py")["waiters"] == []


def test_failed_and_finished_work_needs_a_person(world: World) -> None:
    for title in ("login", "logout"):
        tasks.add(world.store, PAT, TaskDraft("1", title))
    tasks.fail(world.store, PAT, 1, "no way")
    tasks.take(world.store, world.liveness, ANN, number=2)
    tasks.finish(world.store, ANN, 2, branch="ann/logout")
    assert page(world)["needs_you"] == [
        {"what": "T-1 failed: login", "why": "no way", "next": "lineclear task reopen T-1"},
        {
            "what": "T-2 is ready to land: logout",
            "why": "branch ann/logout",
            "next": "lineclear land --task T-2",
        },
    ]
    assert page(world)["tasks"]["handed_over"] == 1


def test_every_unread_message_is_counted(world: World) -> None:
    for number in range(messages.MOST_AT_ONCE + 5):
        messages.say(world.store, ANN, str(number), to="pat")
    assert page(world)["unread"] == messages.MOST_AT_ONCE + 5


def test_a_long_list_of_claims_is_cut_and_the_rest_counted(world: World) -> None:
    for start in range(0, status.MOST_CLAIMS + 50, 50):
        world.ask("ann", *(f"file-{start + number}" for number in range(50)))
    shown = page(world)
    assert (len(shown["claims"]), shown["claims_hidden"]) == (status.MOST_CLAIMS, 50)


def test_everything_about_one_resource(world: World) -> None:
    tasks.add(world.store, PAT, TaskDraft("1", "login", scope=["src/"]))
    tasks.take(world.store, world.liveness, ANN)
    world.ask("ann", "src/")
    world.stand_in_line("bob", "src/a.py")
    world.stand_in_line("cat", "docs/")
    rules = [Rule(resource("src/a.py"), SINGLE_WRITER, "ann", "lineclear.toml")]
    proposals.propose(world.store, Caller("cat"), rules, resource("src/a.py"), "1")
    shown = who(world, "src/a.py", rules)
    assert (shown["strategy"], shown["owner"], shown["strategy_from"]) == (
        SINGLE_WRITER,
        "ann",
        "lineclear.toml",
    )
    assert [holder["agent"] for holder in shown["holders"]] == ["ann"]
    assert [waiter["agent"] for waiter in shown["waiters"]] == ["bob"]
    assert [task["id"] for task in shown["tasks"]] == ["T-1"]
    assert shown["proposals"] == 1
    assert [entry["what"] for entry in shown["last"]] == ["ProposalMade"]
    assert shown["inside"] == []


def test_a_directory_names_the_rules_for_its_parts(world: World) -> None:
    rules = [Rule(resource("src/a.py"), LOCKED), Rule(resource("docs/"), LOCKED)]
    assert who(world, "src/", rules)["inside"] == [{"resource": "file:src/a.py", "strategy": LOCKED}]


def test_what_the_queue_waits_for_comes_first_and_a_submitted_task_is_not_asked_for(world: World) -> None:
    tasks.add(world.store, PAT, TaskDraft("1", "login"))
    tasks.take(world.store, world.liveness, ANN)
    candidates.submit(world.store, ANN, candidates.SubmittedBranch("ann/login", "tip", "main"), task=1)
    assert page(world)["needs_you"] == []
    assert page(world)["queue"]["waiting"] == 1
    candidates.submit(world.store, PAT, candidates.SubmittedBranch("side", "tip", "main"))
    stopped = Draft("CandidateStopped", "Q-2", id=2, why="in the way of a.txt", files=["a.txt"])
    world.store.transact(PAT, lambda tx: tx.append(stopped))
    needs = world.store.read(lambda view: status.status(view, world.presence, "pat", lambda: "person"))[
        "needs_you"
    ]
    assert needs == [
        {"what": "Q-2 cannot land: side", "why": "in the way of a.txt", "next": "lineclear queue show Q-2"},
        {
            "what": "Q-1 waits for your review: ann/login",
            "why": "by ann",
            "next": "lineclear queue show Q-1 --diff",
        },
    ]
