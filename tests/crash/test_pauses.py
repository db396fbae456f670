"""Processes that are stopped (SIGSTOP) at the wrong moment, and what they may do when they wake up."""

from __future__ import annotations

from tests.actors import acting
from tests.engines import Place

SHORTEST_LEASE_MS = 1_000
LONG_ENOUGH_MS = 30_000


def test_a_holder_that_slept_past_its_lease_cannot_write_under_its_old_fence(place: Place) -> None:
    with acting(place, "sleeper", "heir") as (sleeper, heir):
        old = sleeper.do("claim", "sleeper", "value:plan", ttl_ms=SHORTEST_LEASE_MS)["answer"]["fence"]
        assert sleeper.do("put", "sleeper", "plan", "1", version=0, fence=old)["answer"]["version"] == 1
        sleeper.stop()

        new = heir.do("claim", "heir", "value:plan", wait_ms=LONG_ENOUGH_MS)["answer"]["fence"]
        assert new > old
        assert heir.do("put", "heir", "plan", "2", version=1, fence=new)["answer"]["version"] == 2
        sleeper.begin("put", "sleeper", "plan", "3", version=2, fence=old)
        sleeper.wake()
        assert sleeper.end()["refusal"] == "write.held"

        heir.do("release", "heir", "value:plan")
        refused = sleeper.do("put", "sleeper", "plan", "3", version=2, fence=old)
        assert refused["refusal"] == "fence.stale"
        assert refused["exit_code"] == 7
        assert refused["facts"]["newer_fence"] == new
        assert heir.do("get", "plan")["answer"]["value"] == 2
        assert heir.do("audit")["answer"]["findings"] == []


def test_a_holder_that_wakes_up_in_time_still_holds(place: Place) -> None:
    with acting(place, "sleeper", "other") as (sleeper, other):
        fence = sleeper.do("claim", "sleeper", "value:plan")["answer"]["fence"]
        sleeper.stop()
        assert other.do("claim", "other", "value:plan")["refusal"] == "claim.held"
        sleeper.wake()
        assert sleeper.do("put", "sleeper", "plan", "1", version=0, fence=fence)["answer"]["version"] == 1


def test_a_stopped_waiter_is_passed_over(place: Place) -> None:
    with acting(place, "holder", "stopped", "behind") as (holder, stopped, behind):
        holder.do("claim", "holder", "db:main")
        stopped.do("be_forgetful", SHORTEST_LEASE_MS)
        stopped.do("sleep_in_line")
        stopped.begin("claim", "stopped", "db:main", wait_ms=LONG_ENOUGH_MS)
        stopped.await_stop()
        behind.begin("claim", "behind", "db:main", wait_ms=LONG_ENOUGH_MS)
        holder.do("await_line", "stopped", "behind")
        holder.do("release", "holder", "db:main")
        assert behind.end()["answer"]["claims"][0]["agent"] == "behind"

        stopped.wake()
        assert stopped.end()["refusal"] == "claim.ticket"
        assert holder.do("tickets")["answer"] == []
        assert holder.do("audit")["answer"]["findings"] == []


def test_a_stopped_waiter_that_wakes_up_in_time_keeps_its_place(place: Place) -> None:
    with acting(place, "holder", "stopped", "behind") as (holder, stopped, behind):
        holder.do("claim", "holder", "db:main")
        stopped.do("sleep_in_line")
        stopped.begin("claim", "stopped", "db:main", wait_ms=LONG_ENOUGH_MS)
        stopped.await_stop()
        behind.begin("claim", "behind", "db:main", wait_ms=LONG_ENOUGH_MS)
        holder.do("await_line", "stopped", "behind")
        holder.do("release", "holder", "db:main")
        assert not behind.has_spoken()
        stopped.wake()
        assert stopped.end()["answer"]["claims"][0]["agent"] == "stopped"
        stopped.do("release", "stopped", "db:main")
        assert behind.end()["answer"]["claims"][0]["agent"] == "behind"


def test_a_writer_stopped_inside_a_transaction_makes_others_wait_but_not_for_ever(place: Place) -> None:
    with acting(place, "stopped", "other") as (stopped, other):
        other.do("give_up_after", 0.3)
        stopped.begin("stay_inside", "stopped")
        assert stopped.hear() == "inside"
        stopped.stop()
        before = other.do("say", "other", "hello")
        assert other.do("get", "nothing")["refusal"] == "value.unknown", "reading waits for nobody"
        stopped.wake()
        stopped.say("")
        woken = stopped.end()
        if place.engine == "sqlite":
            # Nobody can take the gate from a process that lives: the other one is told who has it.
            assert before["refusal"] == "store.busy"
            assert before["exit_code"] == 8
            assert before["facts"]["holder"] == f"process {stopped.pid}"
            assert "head" in woken["answer"]
        else:
            # The server hangs up on a transaction that sleeps; its writer hears of it when it wakes.
            assert "id" in before["answer"]
            assert woken["refusal"] == "store.failed"
        assert "id" in other.do("say", "other", "hello")["answer"]
        assert "id" in stopped.do("say", "stopped", "hello")["answer"]
        assert other.do("audit")["answer"]["findings"] == []
