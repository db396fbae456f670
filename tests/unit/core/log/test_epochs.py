"""Epochs: when a store's clock restarts, positions jump ahead and its leases end; else nothing happens."""

from __future__ import annotations

import pytest

from lineclear.app import tasks
from lineclear.app.ports import Caller
from lineclear.core.log.epochs import EPOCH_STEP, begin_epoch, clock_of, last_boot
from lineclear.core.log.tables import CLAIM, LOG, TASK, WAIT
from lineclear.core.tasks.lists import TaskDraft
from lineclear.core.tasks.states import FAILED, OPEN
from tests.world import World

PAT = Caller("pat", is_person=True)


def busy_world() -> World:
    """Ann holds a claim and a task, bob stands in line."""
    world = World()
    for attempts_max in (3, 1):
        tasks.add(world.store, PAT, TaskDraft("1", "task"), attempts_max=attempts_max)
    world.ask("ann", "src/a.py")
    world.stand_in_line("bob", "src/a.py")
    for number in (1, 2):
        tasks.take(world.store, world.liveness, Caller("ann"), number=number)
    return world


def reboot(world: World, boot: str) -> None:
    world.clock.boot = boot
    world.store.transact(PAT, begin_epoch)


def positions(world: World) -> list[int]:
    return [entry.position for entry in world.store.read(lambda view: view.scan(LOG, "key"))]


def test_an_empty_log_has_no_boot_and_begins_its_first_epoch_at_one() -> None:
    world = World()
    assert world.store.read(last_boot) is None
    world.ask("ann", "a")
    assert world.store.read(last_boot) == "memory"
    assert world.events("EpochBegan") == [("EpochBegan", {"boot": "memory"})]
    assert positions(world)[0] == 1


def test_the_same_boot_begins_nothing() -> None:
    world = busy_world()
    before = world.events()
    reboot(world, "memory")
    assert world.events() == before


def test_after_a_restart_positions_jump_ahead_so_that_no_fence_is_given_twice() -> None:
    world = busy_world()
    before = positions(world)
    reboot(world, "second")
    assert positions(world)[len(before)] == 2 * EPOCH_STEP + 1
    reboot(world, "third")
    assert [entry for entry in positions(world) if entry > 4 * EPOCH_STEP] == [4 * EPOCH_STEP + 1]
    assert world.store.read(last_boot) == "third"
    assert world.ask("bob", "src/a.py")["fence"] > 4 * EPOCH_STEP
    assert world.findings() == []


def test_a_jump_from_just_below_a_step_still_jumps() -> None:
    world = World()
    world.ask("ann", "a")

    def lift(tx: object) -> None:
        tx.head = EPOCH_STEP  # type: ignore[attr-defined]

    world.store.transact(PAT, lift)
    reboot(world, "second")
    assert positions(world)[-2:] == [3 * EPOCH_STEP + 1, 3 * EPOCH_STEP + 2]


def test_after_a_restart_every_lease_of_the_old_clock_has_ended() -> None:
    world = busy_world()
    reboot(world, "second")
    assert world.store.read(lambda view: view.scan(CLAIM, "key")) == []
    assert world.store.read(lambda view: view.scan(WAIT, "key")) == []
    assert [kind for kind, _ in world.events()[-5:]] == [
        "EpochBegan",
        "ClaimExpired",
        "WaitEnded",
        "TaskReturned",
        "TaskFailed",
    ]
    ended = world.store.read(lambda view: view.scan(TASK, "key"))
    assert [(task.state, task.reason) for task in ended] == [
        (OPEN, "the machine restarted"),
        (FAILED, "given up after 1 attempt: the machine restarted"),
    ]
    assert world.findings() == []


def test_a_new_timeline_of_the_same_clock_jumps_and_keeps_the_leases() -> None:
    world = busy_world()
    reboot(world, "server/1")
    world.ask("ann", "src/a.py")
    reboot(world, "server/2")
    assert positions(world)[-1] == 4 * EPOCH_STEP + 1
    assert world.holders("src/a.py") == ["ann"]


@pytest.mark.parametrize(
    ("boot", "clock"), [("memory", "memory"), ("postgres/3", "postgres"), ("4fd0-a/1/2", "4fd0-a")]
)
def test_a_boot_names_its_clock_before_the_slash(boot: str, clock: str) -> None:
    assert clock_of(boot) == clock
