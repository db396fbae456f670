"""One call, one step: a read where nothing is written, else one transaction."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from lineclear.app.agents.membership import ensure_agent
from lineclear.app.one_transaction import in_one_step
from lineclear.app.ports import Caller
from lineclear.core.log.tables import AGENT
from lineclear.core.words.refusals import Refusal, not_found
from tests.world import World

if TYPE_CHECKING:
    from lineclear.app.ports import Tx

ANN = Caller("ann")


@pytest.fixture
def world() -> World:
    return World()


class Joining:
    """Work that writes once: its agent joins."""

    def __init__(self) -> None:
        self.runs = 0

    def __call__(self, tx: Tx) -> int:
        self.runs += 1
        ensure_agent(tx, ANN)
        return len(tx.scan(AGENT, "key"))


@pytest.mark.parametrize(("is_write_likely", "runs"), [(True, 1), (False, 2)])
def test_a_wrong_guess_runs_the_work_again_and_nothing_is_written_twice(
    world: World, is_write_likely: bool, runs: int
) -> None:
    joining = Joining()
    assert in_one_step(world.store, ANN, joining, is_write_likely=is_write_likely) == 1
    assert joining.runs == runs
    assert len(world.events("AgentJoined")) == 1


def test_work_that_writes_nothing_is_one_read(world: World) -> None:
    world.store.transact(ANN, lambda tx: ensure_agent(tx, ANN))
    before = world.events()
    joining = Joining()
    assert in_one_step(world.store, ANN, joining, is_write_likely=False) == 1
    assert joining.runs == 1
    assert world.events() == before


def test_a_refusal_on_a_snapshot_is_the_answer(world: World) -> None:
    def refuse(_tx: Tx) -> int:
        raise not_found("agent", "ann", "lineclear")

    with pytest.raises(Refusal, match="ann"):
        in_one_step(world.store, ANN, refuse, is_write_likely=False)
