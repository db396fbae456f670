"""Whose turn it is to run the queue: by a lock in a clone, by a claim between machines."""

from __future__ import annotations

from lineclear.app.ports import Caller
from lineclear.app.queue.runner_turns import Turns
from lineclear.core.log.tables import CLAIM
from tests.world import World, refused


class Lock:
    """Shared by all turns of one clone; `held` says whether somebody has it."""

    def __init__(self) -> None:
        self.held = False

    def take(self, wait_s: float) -> bool:
        del wait_s
        was_free, self.held = not self.held, True
        return was_free

    def free(self) -> None:
        self.held = False


class Bond:
    def __init__(self) -> None:
        self.is_held = True

    def release(self) -> None:
        self.is_held = False


class Machine:
    """One clone of a team: its lock, its bonds, and a clock that the test moves."""

    def __init__(self, world: World, name: str, *, shares_store: bool = True) -> None:
        self.lock, self.bonds, self.now_s = Lock(), list[Bond](), 0.0
        self.turns = Turns(
            world.store, world.liveness, Caller(f"queue@{name}", tree=f"{name}/main"),
            new_lock=lambda: self.lock, hold_bond=self._hold if shares_store else None,
            clock=lambda: self.now_s,
        )  # fmt: skip

    def _hold(self) -> tuple[str, Bond]:
        self.bonds.append(Bond())
        return f"bond-{len(self.bonds)}", self.bonds[-1]


def claims(world: World) -> list[str]:
    return [row.agent for row in world.store.read(lambda view: view.scan(CLAIM, "key"))]


def test_in_a_clone_one_process_at_a_time_has_the_turn_and_nothing_is_claimed() -> None:
    world = World()
    machine = Machine(world, "left", shares_store=False)
    with machine.turns.take() as turn:
        assert machine.turns.is_taken()
        with refused("queue.running"), machine.turns.take():
            pass
        machine.now_s = 1_000.0
        assert turn.keep()
    assert claims(world) == []
    assert not machine.lock.held


def test_asking_whether_it_is_taken_leaves_a_free_turn_free() -> None:
    machine = Machine(World(), "left", shares_store=False)
    assert not machine.turns.is_taken()
    assert not machine.lock.held


def test_between_machines_the_other_one_is_refused_and_keeps_neither_lock_nor_bond() -> None:
    world = World()
    left, right = Machine(world, "left"), Machine(world, "right")
    with left.turns.take():
        assert claims(world) == ["queue@left"]
        with refused("queue.running"), right.turns.take():
            pass
        assert not right.lock.held
        assert [bond.is_held for bond in right.bonds] == [False]
    assert claims(world) == []
    assert [bond.is_held for bond in left.bonds] == [False]
    with right.turns.take():
        assert claims(world) == ["queue@right"]


def test_a_turn_that_ran_out_and_was_taken_by_another_machine_is_lost() -> None:
    world = World()
    left, right = Machine(world, "left"), Machine(world, "right")
    with left.turns.take() as turn:
        left.now_s = 16.0
        assert turn.keep()
        world.clock.advance(61_000)
        with right.turns.take():
            left.now_s = 20.0
            assert turn.keep()  # asked only now and then
            left.now_s = 40.0
            assert not turn.keep()
            assert turn.is_lost
