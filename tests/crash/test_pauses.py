"""Processes that are stopped (SIGSTOP) at the wrong moment, and what they may do when they wake up."""

from __future__ import annotations

from tests.actors import Actor, acting
from tests.engines import Place
from tests.verbs import Answer

SHORTEST_LEASE_MS = 1_000
LONG_ENOUGH_MS = 30_000


def test_a_holder_that_slept_past_its_lease_cannot_write_under_its_old_fence(place: Place) -> None:
    with acting(place, "sleeper", "heir") as (sleeper, heir):
        old = sleeper.do("claim", "sleeper", "value:plan", ttl_ms=SHORTEST_LEASE_MS)["fence"]
        sleeper.do("put", "sleeper", "plan", "1", version=0, fence=old)
        sleeper.stop()

        new = heir.do("claim", "heir", "value:plan", wait_ms=LONG_ENOUGH_MS)["fence"]
        assert new > old
        heir.do("put", "heir", "plan", "2", version=1, fence=new)
        sleeper.begin("put", "sleeper", "plan", "3", version=2, fence=old)
        sleeper.wake()
        assert sleeper.refusal()["refusal"] == "write.held"

        heir.do("release", "heir", "value:plan")
        refused = sleeper.refused("put", "sleeper", "plan", "3", version=2, fence=old)
        assert (refused["refusal"], refused["exit_code"]) == ("fence.stale", 7)
        assert (refused["facts"]["holder"], refused["facts"]["newer_fence"]) == ("heir", new)
        assert heir.do("get", "plan")["value"] == 2
        assert heir.do("audit")["findings"] == []


def test_a_holder_that_wakes_up_in_time_still_holds(place: Place) -> None:
    with acting(place, "sleeper", "other") as (sleeper, other):
        fence = sleeper.do("claim", "sleeper", "value:plan")["fence"]
        sleeper.stop()
        assert other.refused("claim", "other", "value:plan")["refusal"] == "claim.held"
        sleeper.wake()
        assert sleeper.do("put", "sleeper", "plan", "1", version=0, fence=fence)["version"] == 1


def test_a_task_whose_holder_sleeps_past_its_lease_is_finished_by_another_alone(place: Place) -> None:
    with acting(place, "sleeper", "heir") as (sleeper, heir):
        heir.do("add_task", "heir", "write the parser")
        sleeper.do("take_task", "sleeper", lease_ms=1)
        sleeper.stop()
        taken = take_when_it_is_free(heir)
        assert (taken["id"], taken["attempt"]) == ("T-1", 2)
        sleeper.begin("finish_task", "sleeper", 1)
        sleeper.wake()
        assert sleeper.refusal()["refusal"] == "task.not_yours"
        heir.do("finish_task", "heir", 1)
        assert sleeper.refused("finish_task", "sleeper", 1)["refusal"] == "task.state"
        assert heir.do("audit")["findings"] == []


def take_when_it_is_free(heir: Actor) -> Answer:
    while True:
        heir.begin("take_task", "heir")
        heard = heir.hear()
        if "answer" in heard:
            task: Answer = heard["answer"]["task"]
            return task
        assert heard["refusal"] == "task.none"


def test_a_stopped_waiter_is_passed_over(place: Place) -> None:
    with acting(place, "holder", "stopped", "behind") as (holder, stopped, behind):
        holder.do("claim", "holder", "api:shop")
        stopped.do("be_forgetful", SHORTEST_LEASE_MS)
        stopped.do("sleep_in_line")
        stopped.begin("claim", "stopped", "api:shop", wait_ms=LONG_ENOUGH_MS)
        stopped.await_stop()
        behind.begin("claim", "behind", "api:shop", wait_ms=LONG_ENOUGH_MS)
        holder.do("await_waiter", "behind")
        holder.do("release", "holder", "api:shop")
        assert behind.answer()["claims"][0]["agent"] == "behind"

        stopped.wake()
        assert stopped.refusal()["refusal"] == "claim.ticket"
        assert holder.do("tickets") == []
        assert holder.do("audit")["findings"] == []


def test_a_stopped_waiter_that_wakes_up_in_time_keeps_its_place(place: Place) -> None:
    with acting(place, "holder", "stopped", "behind") as (holder, stopped, behind):
        holder.do("claim", "holder", "api:shop")
        stopped.do("sleep_in_line")
        stopped.begin("claim", "stopped", "api:shop", wait_ms=LONG_ENOUGH_MS)
        stopped.await_stop()
        behind.begin("claim", "behind", "api:shop", wait_ms=LONG_ENOUGH_MS)
        holder.do("await_line", "stopped", "behind")
        holder.do("release", "holder", "api:shop")
        assert not behind.has_spoken()
        stopped.wake()
        assert stopped.answer()["claims"][0]["agent"] == "stopped"
        stopped.do("release", "stopped", "api:shop")
        assert behind.answer()["claims"][0]["agent"] == "behind"


def test_a_writer_stopped_inside_a_transaction_makes_others_wait_but_not_for_ever(place: Place) -> None:
    with acting(place, "stopped", "other") as (stopped, other):
        other.do("give_up_after", 0.3)
        stopped.begin("stay_inside", "stopped")
        assert stopped.hear() == "inside"
        stopped.stop()
        other.begin("say", "other", "hello")
        meanwhile = other.hear()
        assert other.refused("get", "nothing")["refusal"] == "value.unknown", "reading waits for nobody"
        stopped.wake()
        stopped.say("")
        woken = stopped.hear()
        if place.engine == "sqlite":
            # Nobody can take the gate from a process that lives: the other one is told who has it.
            assert (meanwhile["refusal"], meanwhile["exit_code"]) == ("store.busy", 8)
            assert meanwhile["facts"]["holder"] == f"process {stopped.pid}"
            assert "head" in woken["answer"]
        else:
            # The server hangs up on a transaction that sleeps; its writer hears of it when it wakes.
            assert "id" in meanwhile["answer"]
            assert woken["refusal"] == "store.failed"
        assert other.do("say", "other", "hello")["id"]
        assert stopped.do("say", "stopped", "hello")["id"]
        assert other.do("audit")["findings"] == []
