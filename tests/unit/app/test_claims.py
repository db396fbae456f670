"""Use cases around claims: ask, stand in line, release, take over, renew; answers and what the log keeps."""

from __future__ import annotations

from typing import Any

import pytest

from lineclear.app import claims
from lineclear.app.claims import MOST_NOTE, MOST_RESOURCES, TICKET_TTL_MS, refuse_owned
from lineclear.app.messages import inbox
from lineclear.app.ports import Caller
from lineclear.app.write_facts import refuse_write
from lineclear.core.claims.granting import EXCLUSIVE, INTENT, SHARED, Request
from lineclear.core.claims.strategies import Rule
from lineclear.core.claims.write_rule import COMMIT, Write
from lineclear.core.log.tables import AGENT, CLAIM, WAIT
from lineclear.core.words.row import HELD, NOT_ALLOWED, NOT_FOUND, STALE, USAGE
from tests.world import HOUR_MS, MINUTE_MS, World, refused, resource


@pytest.fixture
def world() -> World:
    return World()


def seconds_left(world: World, agent: str, text: str) -> int:
    claim = world.store.read(lambda view: view.get(CLAIM, (agent, resource(text).text)))
    assert claim is not None
    return (claim.until_ns - world.clock().tick_ns) // 1_000_000_000


def tickets(world: World) -> list[int]:
    return [wait.ticket for wait in world.store.read(lambda view: view.scan(WAIT, "key"))]


def told(world: World, agent: str) -> list[str]:
    shown: dict[str, Any] = world.store.read(lambda view: inbox(view, agent))
    return [message["text"] for message in shown["messages"]]


# -- ask --------------------------------------------------------------------------------------


def test_a_free_resource_is_granted_with_its_fence_and_its_end(world: World) -> None:
    answer = world.ask("ann", "src/a.py", ttl_ms=12 * MINUTE_MS, note="login form")
    (shown,) = answer["claims"]
    assert shown == {
        "agent": "ann",
        "resource": "file:src/a.py",
        "mode": EXCLUSIVE,
        "fence": answer["fence"],
        "tree": "main",
        "note": "login form",
        "task": "",
        "until_at": "2026-01-01T12:12:00Z",
        "seconds_left": 720,
    }
    assert answer["told"] == []
    assert world.holders("src/") == ["ann"]


def test_a_name_used_for_the_first_time_registers_itself(world: World) -> None:
    world.ask("ann", "src/a.py", tree="w1")
    agent = world.store.read(lambda view: view.get(AGENT, ("ann",)))
    assert agent is not None
    assert (agent.kind, agent.tree, agent.state, agent.incarnation) == ("agent", "w1", "here", 1)


def test_a_held_resource_is_refused_with_its_holder_and_nothing_is_written(world: World) -> None:
    world.ask("ann", "src/", ttl_ms=12 * MINUTE_MS, note="login form")
    before = world.events()
    with refused("claim.held") as caught:
        world.ask("bob", "src/a.py")
    assert caught.value.exit_code == HELD
    assert caught.value.facts["holder"] == "ann"
    assert caught.value.facts["expires_at"] == "2026-01-01T12:12:00Z"
    assert world.events() == before


def test_several_resources_are_granted_together_or_not_at_all(world: World) -> None:
    world.ask("ann", "b")
    with refused("claim.held") as caught:
        world.ask("bob", "a", "b", "c")
    assert caught.value.facts["resource"] == "file:b"
    assert world.holders("./") == ["ann"]
    world.release("ann", "b")
    answer = world.ask("bob", "a", "b", "c")
    assert [shown["resource"] for shown in answer["claims"]] == ["file:a", "file:b", "file:c"]
    assert answer["fence"] == max(shown["fence"] for shown in answer["claims"])


def test_the_number_of_things_in_the_way_is_said(world: World) -> None:
    world.ask("ann", "a", "b")
    with refused("claim.held") as caught:
        world.ask("bob", "./")
    assert caught.value.facts["blockers"] == 2


def test_making_an_announcement_exclusive_gives_a_new_fence(world: World) -> None:
    first = world.ask("ann", "src/a.py", mode=INTENT)["fence"]
    answer = world.ask("ann", "src/a.py", mode=EXCLUSIVE)
    assert answer["fence"] > first
    assert [shown["mode"] for shown in answer["claims"]] == [EXCLUSIVE]


def test_asking_again_renews_and_keeps_the_fence(world: World) -> None:
    first = world.ask("ann", "src/a.py", ttl_ms=HOUR_MS)
    world.clock.advance(30 * MINUTE_MS)
    again = world.ask("ann", "src/a.py", ttl_ms=HOUR_MS)
    assert again["fence"] == first["fence"]
    assert seconds_left(world, "ann", "src/a.py") == 3600
    assert len(world.events("ClaimGranted")) == 1


def test_asking_again_for_less_time_does_not_shorten_the_lease(world: World) -> None:
    world.ask("ann", "src/a.py", ttl_ms=HOUR_MS)
    world.ask("ann", "src/a.py", ttl_ms=MINUTE_MS)
    assert seconds_left(world, "ann", "src/a.py") == 3600


def test_asking_again_with_another_note_changes_the_announcement(world: World) -> None:
    world.ask("ann", "src/a.py", note="one")
    answer = world.ask("ann", "src/a.py", note="two")
    assert answer["claims"][0]["note"] == "two"
    assert world.events("ClaimNoted") == [("ClaimNoted", {"resource": "file:src/a.py", "note": "two"})]
    assert world.ask("ann", "src/a.py")["claims"][0]["note"] == "two"
    assert world.findings() == []


def test_an_expired_claim_ends_in_the_log_when_the_next_one_is_granted(world: World) -> None:
    old = world.ask("ann", "src/a.py", ttl_ms=MINUTE_MS)["fence"]
    world.clock.advance(MINUTE_MS)
    assert world.holders("src/a.py") == []
    assert world.ask("bob", "src/a.py")["fence"] > old
    assert world.events("ClaimExpired") == [("ClaimExpired", {"agent": "ann", "resource": "file:src/a.py"})]
    assert world.findings() == []


def test_an_exclusive_claim_across_worktrees_tells_those_who_announced_work_there(world: World) -> None:
    world.ask("ann", "src/", mode=INTENT, tree="w1")
    answer = world.ask("bob", "src/a.py", "src/b.py", tree="w2", note="renaming")
    assert answer["told"] == ["ann"]
    assert told(world, "ann") == [
        'bob now holds file:src/a.py, file:src/b.py exclusively ("renaming"), '
        "which overlaps your file:src/. "
        "You keep your own copy, but its work comes first when both are merged."
    ]
    world.ask("bob", "src/a.py", "src/b.py", tree="w2")
    assert len(told(world, "ann")) == 1


@pytest.mark.parametrize(
    "wanted",
    [
        {"mode": "sharing"},
        {"ttl_ms": 999},
        {"ttl_ms": 24 * HOUR_MS + 1},
        {"note": "x" * (MOST_NOTE + 1)},
        {"note": "\udcff"},
        {"note": "a\0b"},
    ],
)
def test_what_cannot_be_asked_for_is_refused(world: World, wanted: dict[str, Any]) -> None:
    with refused("input.bad") as caught:
        world.ask("ann", "src/a.py", **wanted)
    assert caught.value.exit_code == USAGE
    assert world.events() == []


def test_nothing_and_too_much_at_once_are_refused(world: World) -> None:
    for texts in ([], [f"f{number}" for number in range(MOST_RESOURCES + 1)]):
        with refused("input.bad"):
            world.ask("ann", *texts)
    assert (
        len(world.ask("ann", *(f"f{number}" for number in range(MOST_RESOURCES)))["claims"]) == MOST_RESOURCES
    )


# -- release ----------------------------------------------------------------------------------


def test_a_released_resource_is_free(world: World) -> None:
    world.ask("ann", "src/a.py")
    assert world.release("ann", "./src/a.py") == ["file:src/a.py"]
    assert world.ask("bob", "src/a.py")["claims"]


def test_a_resource_named_twice_is_released_once(world: World) -> None:
    world.ask("ann", "src/a.py")
    assert world.release("ann", "src/a.py", "src//a.py") == ["file:src/a.py"]
    assert world.findings() == []


def test_only_the_holder_releases(world: World) -> None:
    world.ask("ann", "src/")
    for stranger in ("bob", "ann/one"):
        with refused("claim.not_yours") as caught:
            world.release(stranger, "src/a.py")
        assert (caught.value.exit_code, caught.value.facts["holder"]) == (HELD, "ann")
    assert world.holders("src/") == ["ann"]


def test_what_nobody_holds_cannot_be_released(world: World) -> None:
    with refused("claim.not_held") as caught:
        world.release("ann", "src/a.py")
    assert (caught.value.exit_code, caught.value.facts["inside"]) == (NOT_FOUND, [])


def test_a_claim_is_released_by_the_name_it_was_taken_under(world: World) -> None:
    world.ask("ann", "src/")
    with refused("claim.not_held") as caught:
        world.release("ann", "src/a.py")
    assert caught.value.next == "lineclear release file:src/"


def test_releasing_one_that_is_not_ours_releases_none(world: World) -> None:
    world.ask("ann", "a")
    world.ask("bob", "b")
    with refused("claim.not_yours"):
        world.release("ann", "a", "b")
    assert world.holders("a") == ["ann"]


def test_everything_is_released_and_a_lapsed_lease_ends_as_what_it_is(world: World) -> None:
    world.ask("ann", "a", ttl_ms=MINUTE_MS)
    world.ask("ann", "b")
    world.ask("bob", "c")
    world.clock.advance(MINUTE_MS)
    assert world.release("ann", everything=True) == ["file:a", "file:b"]
    ended = [(kind, body["resource"]) for kind, body in world.events("ClaimExpired", "ClaimReleased")]
    assert ended == [("ClaimExpired", "file:a"), ("ClaimReleased", "file:b")]
    assert world.holders("./") == ["bob"]


# -- the line ---------------------------------------------------------------------------------


def test_standing_in_line_for_what_is_free_is_a_grant(world: World) -> None:
    assert world.stand_in_line("ann", "src/a.py")["claims"]
    assert tickets(world) == []


def test_a_waiter_gets_a_ticket_and_its_turn_when_the_holder_releases(world: World) -> None:
    world.ask("ann", "src/a.py", ttl_ms=12 * MINUTE_MS)
    answer = world.stand_in_line("bob", "src/a.py")
    assert answer["blocker"] == {
        "agent": "ann",
        "resource": "file:src/a.py",
        "mode": EXCLUSIVE,
        "waits": False,
        "until_at": "2026-01-01T12:12:00Z",
    }
    ticket = answer["ticket"]
    assert world.try_ticket("bob", ticket, "src/a.py")["ticket"] == ticket
    world.release("ann", "src/a.py")
    granted = world.try_ticket("bob", ticket, "src/a.py")
    assert granted["fence"] > ticket
    assert (tickets(world), world.holders("src/a.py")) == ([], ["bob"])
    assert world.findings() == []


def test_waiters_are_served_in_the_order_they_came(world: World) -> None:
    world.ask("ann", "src/a.py")
    first = world.stand_in_line("bob", "src/a.py")["ticket"]
    second = world.stand_in_line("cat", "src/")["ticket"]
    world.release("ann", "src/a.py")
    assert world.try_ticket("cat", second, "src/")["blocker"]["agent"] == "bob"
    with refused("claim.waiting") as caught:
        world.ask("dan", "src/a.py")
    assert caught.value.facts["holder"] == "bob"
    assert world.try_ticket("bob", first, "src/a.py")["claims"]
    world.release("bob", "src/a.py")
    assert world.try_ticket("cat", second, "src/")["claims"]


def test_a_silent_waiter_is_passed_and_finds_its_ticket_lost(world: World) -> None:
    world.ask("ann", "src/a.py")
    silent = world.stand_in_line("bob", "src/a.py")["ticket"]
    world.release("ann", "src/a.py")
    world.clock.advance(TICKET_TTL_MS)
    world.ask("cat", "src/a.py")
    assert world.events("WaitEnded") == [("WaitEnded", {"ticket": silent, "why": "gone"})]
    with refused("claim.ticket"):
        world.try_ticket("bob", silent, "src/a.py")


def test_trying_renews_the_ticket(world: World) -> None:
    world.ask("ann", "src/a.py")
    ticket = world.stand_in_line("bob", "src/a.py")["ticket"]
    for _ in range(3):
        world.clock.advance(TICKET_TTL_MS - 1)
        world.try_ticket("bob", ticket, "src/a.py")
    world.release("ann", "src/a.py")
    with refused("claim.waiting"):
        world.ask("cat", "src/a.py")


def test_a_dead_waiter_is_skipped_at_once(world: World) -> None:
    world.ask("ann", "src/a.py")
    world.stand_in_line("bob", "src/a.py", ticket_bond="wait-1")
    world.release("ann", "src/a.py")
    world.liveness.dead.add("wait-1")
    assert world.ask("cat", "src/a.py")["claims"]


def test_a_ticket_serves_its_owner_only(world: World) -> None:
    world.ask("ann", "src/a.py")
    ticket = world.stand_in_line("bob", "src/a.py")["ticket"]
    world.release("ann", "src/a.py")
    with refused("claim.ticket"):
        world.try_ticket("cat", ticket, "src/a.py")
    assert claims.leave_line(world.store, Caller("cat"), ticket, "gave up") is False
    assert tickets(world) == [ticket]


def test_leaving_the_line_gives_the_ticket_back_once(world: World) -> None:
    world.ask("ann", "src/a.py")
    ticket = world.stand_in_line("bob", "src/a.py")["ticket"]
    assert claims.leave_line(world.store, Caller("bob"), ticket, "gave up") is True
    assert claims.leave_line(world.store, Caller("bob"), ticket, "gave up") is False
    assert tickets(world) == []


def test_whether_it_is_my_turn_is_seen_without_writing(world: World) -> None:
    world.ask("ann", "src/a.py", ttl_ms=MINUTE_MS)
    ticket = world.stand_in_line("bob", "src/a.py")["ticket"]
    request = world.request("bob", "src/a.py", ticket=ticket)
    before = world.events()
    assert claims.is_my_turn(world.store, world.liveness, request) == (False, MINUTE_MS)
    world.clock.advance(MINUTE_MS)
    assert claims.is_my_turn(world.store, world.liveness, request) == (True, 0)
    request.ticket = ticket + 1
    assert claims.is_my_turn(world.store, world.liveness, request) == (True, 0)
    assert world.events() == before


def test_two_who_would_wait_for_each_other_are_told_at_once(world: World) -> None:
    world.ask("ann", "a")
    world.ask("bob", "b")
    world.stand_in_line("bob", "a")
    with refused("claim.deadlock") as caught:
        world.stand_in_line("ann", "b")
    assert caught.value.facts["cycle"] == ["ann", "bob", "ann"]
    assert len(tickets(world)) == 1


def test_three_in_a_circle_are_told_who_they_are(world: World) -> None:
    for agent in ("ann", "bob", "cat"):
        world.ask(agent, agent)
    world.stand_in_line("bob", "cat")
    world.stand_in_line("cat", "ann")
    with refused("claim.deadlock") as caught:
        world.stand_in_line("ann", "bob")
    assert caught.value.facts["cycle"] == ["ann", "bob", "cat", "ann"]
    assert caught.value.facts["chain"] == (
        "ann would wait for bob (file:bob); bob would wait for cat (file:cat); "
        "cat would wait for ann (file:ann)"
    )


def test_making_a_shared_claim_exclusive_against_another_who_tries_the_same_is_a_deadlock(
    world: World,
) -> None:
    world.ask("ann", "a", mode=SHARED)
    world.ask("bob", "a", mode=SHARED)
    world.stand_in_line("bob", "a")
    with refused("claim.deadlock"):
        world.stand_in_line("ann", "a")


def test_a_waiter_that_fell_silent_closes_no_circle(world: World) -> None:
    world.ask("ann", "a")
    world.ask("bob", "b")
    world.stand_in_line("bob", "a")
    world.clock.advance(TICKET_TTL_MS)
    assert "ticket" in world.stand_in_line("ann", "b")


def test_a_lapsed_lease_closes_no_circle(world: World) -> None:
    world.ask("ann", "a", ttl_ms=10_000)
    world.ask("bob", "b")
    world.stand_in_line("bob", "a")
    world.clock.advance(10_000)
    assert "ticket" in world.stand_in_line("ann", "b")


# -- taking over ------------------------------------------------------------------------------


def take_over(world: World, caller: Caller, *texts: str) -> dict[str, Any]:
    request = world.request(caller.name, *texts)
    return claims.take_over(world.store, world.liveness, caller, request)


def check_fence(world: World, fence: int) -> None:
    """ann commits src/a.py under a fence that she was given once."""
    write = Write(resource("src/a.py"), "ann", COMMIT, fence=fence)
    world.store.read(lambda view: refuse_write(view, world.liveness, [], write))


def test_a_person_takes_a_claim_over_and_the_holder_is_told(world: World) -> None:
    fence = world.ask("ann", "src/")["fence"]
    answer = take_over(world, Caller("pat", is_person=True), "src/a.py")
    assert answer["fence"] > fence
    assert world.holders("src/a.py") == ["pat"]
    assert world.events("ClaimTakenOver") == [("ClaimTakenOver", {"agent": "ann", "resource": "file:src/"})]
    assert told(world, "ann") == [f"pat has taken over file:src/ from you; your fence {fence} is void."]
    assert world.findings() == []
    world.release("pat", everything=True)
    with refused("fence.stale") as caught:
        check_fence(world, fence)
    assert caught.value.exit_code == STALE


def test_taking_over_reaches_every_holder_once_and_goes_past_the_line(world: World) -> None:
    world.ask("ann", "src/", mode=SHARED)
    world.ask("bob", "src/b.py", mode=SHARED)
    world.stand_in_line("cat", "src/a.py")
    take_over(world, Caller("pat", is_person=True), "src/a.py", "src/b.py")
    assert [body["agent"] for _, body in world.events("ClaimTakenOver")] == ["ann", "bob"]
    assert world.holders("src/") == ["pat", "pat"]


def test_who_only_waits_keeps_what_it_holds_besides(world: World) -> None:
    world.ask("ann", "src/a.py", mode=SHARED)
    world.ask("bob", "src/", mode=SHARED)
    ticket = world.stand_in_line("ann", "src/a.py")["ticket"]
    request = world.request("pat", "src/a.py", mode=SHARED)
    claims.take_over(world.store, world.liveness, Caller("pat", is_person=True), request)
    assert world.holders("src/a.py") == ["ann", "bob", "pat"]
    assert tickets(world) == [ticket]


def test_taking_over_from_a_lapsed_holder_that_waits_ends_its_claim_once(world: World) -> None:
    world.ask("ann", "src/a.py", mode=SHARED, ttl_ms=1_000)
    world.ask("bob", "src/", mode=SHARED)
    world.stand_in_line("ann", "src/a.py")
    world.clock.advance(1_000)
    request = world.request("pat", "src/a.py", mode=SHARED)
    claims.take_over(world.store, world.liveness, Caller("pat", is_person=True), request)
    assert world.findings() == []


def test_an_agent_takes_nothing_over(world: World) -> None:
    world.ask("ann", "src/a.py")
    with refused("person.only") as caught:
        take_over(world, Caller("bob"), "src/a.py")
    assert caught.value.exit_code == NOT_ALLOWED
    assert world.holders("src/a.py") == ["ann"]


# -- fences and exact renewal -----------------------------------------------------------------


def test_a_fence_holds_until_somebody_else_is_granted_an_overlap(world: World) -> None:
    fence = world.ask("ann", "src/a.py", ttl_ms=MINUTE_MS)["fence"]
    world.clock.advance(MINUTE_MS)

    check_fence(world, fence)
    world.ask("bob", "docs/")
    check_fence(world, fence)
    newer = world.ask("bob", "src/")["fence"]
    world.release("bob", "src/")
    with refused("fence.stale") as caught:
        check_fence(world, fence)
    assert (caught.value.facts["holder"], caught.value.facts["newer_fence"]) == ("bob", newer)


def test_claims_under_the_same_fences_are_renewed(world: World) -> None:
    answer = world.ask("ann", "a", "b", ttl_ms=MINUTE_MS)
    fences = {shown["resource"]: shown["fence"] for shown in answer["claims"]}
    world.clock.advance(30_000)
    assert claims.renew_exactly(world.store, Caller("ann"), fences) is True
    assert seconds_left(world, "ann", "a") == seconds_left(world, "ann", "b") == 60


def test_renewing_never_shortens_a_lease(world: World) -> None:
    fences = {"file:a": world.ask("ann", "a", ttl_ms=HOUR_MS)["fence"]}
    world.ask("ann", "a", ttl_ms=MINUTE_MS)
    assert claims.renew_exactly(world.store, Caller("ann"), fences) is True
    assert seconds_left(world, "ann", "a") == 3600


@pytest.mark.parametrize("loss", ["expired", "released", "granted anew"])
def test_if_one_claim_is_lost_none_is_renewed(world: World, loss: str) -> None:
    kept = world.ask("ann", "a", ttl_ms=10 * MINUTE_MS)["fence"]
    lost = world.ask("ann", "b", ttl_ms=MINUTE_MS)["fence"]
    world.clock.advance(MINUTE_MS if loss == "expired" else 1_000)
    if loss != "expired":
        world.release("ann", "b")
    if loss == "granted anew":
        world.ask("ann", "b")
    before = seconds_left(world, "ann", "a")
    fences = {"file:a": kept, "file:b": lost}
    assert claims.renew_exactly(world.store, Caller("ann"), fences) is False
    assert seconds_left(world, "ann", "a") == before


def test_announced_work_is_not_renewed_while_somebody_waits_for_it_exclusively(world: World) -> None:
    fences = {"file:a": world.ask("ann", "a", mode=INTENT, ttl_ms=MINUTE_MS)["fence"]}
    world.stand_in_line("bob", "a")
    world.clock.advance(10_000)
    assert claims.renew_exactly(world.store, Caller("ann"), fences) is True
    assert seconds_left(world, "ann", "a") == 50
    world.clock.advance(TICKET_TTL_MS)
    assert claims.renew_exactly(world.store, Caller("ann"), fences) is True
    assert seconds_left(world, "ann", "a") == 60


# -- repeats ----------------------------------------------------------------------------------


def test_a_repeated_claim_says_that_it_is_one_and_whether_it_still_holds(world: World) -> None:
    first = world.ask("ann", "src/a.py", op="op-1")
    again = world.ask("ann", "src/a.py", op="op-1")
    assert again == first | {"replayed": True, "still_valid": True}
    world.release("ann", "src/a.py")
    world.ask("ann", "src/a.py")
    assert world.ask("ann", "src/a.py", op="op-1")["still_valid"] is False


def test_a_repeated_claim_whose_lease_ran_out_no_longer_holds(world: World) -> None:
    world.ask("ann", "src/a.py", op="op-1", ttl_ms=MINUTE_MS)
    world.clock.advance(MINUTE_MS)
    assert world.ask("ann", "src/a.py", op="op-1", ttl_ms=MINUTE_MS)["still_valid"] is False


def test_a_wait_is_repeated_as_the_grant_that_it_ended_in(world: World) -> None:
    world.ask("ann", "src/a.py")
    ticket = world.stand_in_line("bob", "src/a.py", op="op-1")["ticket"]
    world.release("ann", "src/a.py")
    granted = world.try_ticket("bob", ticket, "src/a.py", op="op-1")
    again = world.stand_in_line("bob", "src/a.py", op="op-1")
    assert again == granted | {"replayed": True, "still_valid": True}


# -- what has a named writer ------------------------------------------------------------------


OWNED = [Rule(resource("docs/plan.md"), "single-writer", "ann", "rule 1")]


@pytest.mark.parametrize("mode", [EXCLUSIVE, INTENT])
def test_what_has_a_named_writer_is_not_held_by_others(world: World, mode: str) -> None:
    with refused("write.not_owner") as caught:
        refuse_owned(OWNED, Caller("bob"), request_of("bob", "docs/plan.md", mode))
    assert caught.value.next == "lineclear propose file:docs/plan.md --file PATH"


def test_its_writer_a_person_and_whoever_only_reads_may_claim_it(world: World) -> None:
    refuse_owned(OWNED, Caller("ann"), request_of("ann", "docs/plan.md", EXCLUSIVE))
    refuse_owned(OWNED, Caller("ann/helper"), request_of("ann/helper", "docs/plan.md", EXCLUSIVE))
    refuse_owned(OWNED, Caller("sam", is_person=True), request_of("sam", "docs/plan.md", EXCLUSIVE))
    refuse_owned(OWNED, Caller("bob"), request_of("bob", "docs/plan.md", SHARED))
    refuse_owned(OWNED, Caller("bob"), request_of("bob", "docs/other.md", EXCLUSIVE))


def request_of(agent: str, text: str, mode: str) -> Request:
    return Request(agent, "main", mode, [resource(text)], ttl_ms=MINUTE_MS)
