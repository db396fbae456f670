"""Phases: which may follow which, who writes what in them, and in which order proposals come."""

from __future__ import annotations

import pytest

from lineclear.core.claims.strategies import ISOLATED, LOCKED, SINGLE_WRITER, Rule, Sharing, strategy_for
from lineclear.core.queue.phases import (
    INTEGRATE,
    INTEGRATOR,
    MOVES,
    PARALLEL,
    PHASES,
    TEST,
    branch_of,
    check_move,
    in_order,
    judge_phase,
    proposal_on,
)
from tests.unit.core.claims.test_write_rule import claim
from tests.unit.core.claims.test_write_rule import judged as judged_at_the_gate
from tests.world import refused, resource

FILE = "file:migrations/0005_users.sql"


def judged(
    agent: str,
    phase: str,
    *,
    bound: str = INTEGRATE,
    strategy: str = ISOLATED,
    owner: str = "",
    is_landing: bool = False,
) -> str:
    sharing = Sharing(strategy, owner, "test", bound)
    refusal = judge_phase(FILE, sharing, phase, agent, is_landing=is_landing)
    return refusal.code if refusal is not None else ""


# -- moves ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(("now", "wanted"), [(now, wanted) for now in PHASES for wanted in MOVES[now]])
def test_a_phase_follows_its_own_predecessor(now: str, wanted: str) -> None:
    check_move(now, wanted)


@pytest.mark.parametrize(("now", "wanted"), [(PARALLEL, TEST), (TEST, INTEGRATE)])
def test_no_phase_is_left_out(now: str, wanted: str) -> None:
    with refused("phase.order"):
        check_move(now, wanted)


@pytest.mark.parametrize("now", [INTEGRATE, TEST])
def test_parallel_can_be_had_back_from_anywhere(now: str) -> None:
    check_move(now, PARALLEL)


# -- who writes -----------------------------------------------------------------------------------


@pytest.mark.parametrize("phase", PHASES)
def test_what_is_bound_to_no_phase_is_written_in_all_of_them(phase: str) -> None:
    assert judged("ada", phase, bound="") == ""


@pytest.mark.parametrize("phase", [PARALLEL, TEST])
def test_what_is_bound_is_not_written_in_another_phase_not_even_by_its_owner(phase: str) -> None:
    assert judged("ada", phase, strategy=SINGLE_WRITER, owner="ada") == "write.phase"
    assert judged("ben", phase) == "write.phase"


def test_in_its_phase_what_has_no_owner_is_the_integrators() -> None:
    assert judged("ada", INTEGRATE) == "write.integrated"
    assert judged(INTEGRATOR, INTEGRATE) == ""


def test_the_integrator_waits_for_the_phase_too_but_may_land_later() -> None:
    assert judged(INTEGRATOR, PARALLEL) == "write.phase"
    assert judged(INTEGRATOR, PARALLEL, is_landing=True) == ""
    assert judged("ada", PARALLEL, is_landing=True) == "write.phase"


def test_what_is_bound_to_test_is_everybodys_in_test() -> None:
    assert judged("ada", TEST, bound=TEST) == ""
    assert judged("ada", INTEGRATE, bound=TEST) == "write.phase"


def test_a_name_that_only_begins_like_the_integrators_is_not_the_integrator() -> None:
    assert judged("integrator2", INTEGRATE) == "write.integrated"


def test_the_last_rule_decides_about_the_phase_as_well() -> None:
    rules = [
        Rule(resource("migrations/"), ISOLATED, phase=INTEGRATE),
        Rule(resource("migrations/README.md"), ISOLATED),
    ]
    assert strategy_for(resource("migrations/1.sql"), rules).phase == INTEGRATE
    assert strategy_for(resource("migrations/README.md"), rules).phase == ""


# -- at the gate ----------------------------------------------------------------------------------


def gate(agent: str, phase: str, sharing: Sharing, *held: str) -> str:
    return judged_at_the_gate(sharing, [claim(name) for name in held], agent=agent, phase=phase)


def test_the_gate_asks_for_the_phase_first() -> None:
    owned = Sharing(SINGLE_WRITER, "ada", "test", INTEGRATE)
    assert gate("ada", PARALLEL, owned) == "write.phase"
    assert gate("ada", INTEGRATE, owned) == ""
    assert gate("ben", INTEGRATE, owned) == "write.not_owner"


def test_at_the_gate_the_integrator_counts_as_owner_and_needs_no_lock() -> None:
    assert gate(INTEGRATOR, INTEGRATE, Sharing(SINGLE_WRITER, "ada", "test", INTEGRATE)) == ""
    assert gate(INTEGRATOR, INTEGRATE, Sharing(LOCKED, "", "test", INTEGRATE)) == ""


def test_what_is_not_bound_is_nothing_special_for_the_integrator() -> None:
    assert gate(INTEGRATOR, INTEGRATE, Sharing(SINGLE_WRITER, "ada", "test")) == "write.not_owner"
    assert gate(INTEGRATOR, INTEGRATE, Sharing(LOCKED, "", "test")) == "write.unlocked"


def test_what_somebody_holds_the_integrator_leaves_alone() -> None:
    assert gate(INTEGRATOR, INTEGRATE, Sharing(ISOLATED, "", "test", INTEGRATE), "ben") == "write.held"


# -- order ----------------------------------------------------------------------------------------


def order(*proposals: tuple[int, int], **needs: set[int]) -> list[int]:
    return in_order(proposals, lambda task: needs.get(f"t{task}", set()))


def test_the_older_proposal_comes_first() -> None:
    assert order((9, 0), (3, 1), (5, 2)) == [3, 5, 9]


def test_a_proposal_comes_after_those_of_the_tasks_that_its_task_waits_for() -> None:
    assert order((3, 1), (5, 2), (9, 2), t1={2}) == [5, 9, 3]


def test_a_task_that_proposes_nothing_holds_nobody_up() -> None:
    assert order((3, 1), (5, 2), t1={7}) == [3, 5]


def test_should_tasks_wait_in_a_circle_age_decides() -> None:
    assert order((3, 1), (5, 2), t1={2}, t2={1}) == [3, 5]


def test_a_branch_tells_its_proposal() -> None:
    assert proposal_on(branch_of(12)) == 12
    assert [proposal_on(name) for name in ("ada", "lineclear/integrate-", "lineclear/integrate-x", "12")] == [
        0
    ] * 4
