"""Phases: a person begins them, what is bound is written in them only, proposals are frozen."""

from __future__ import annotations

from typing import Any

import pytest

from lineclear.app import proposals, values
from lineclear.app.ports import Caller
from lineclear.app.queue import candidates as queue
from lineclear.app.queue import phases
from lineclear.app.status import status, who
from lineclear.core.claims.strategies import ISOLATED, OPTIMISTIC, Rule
from lineclear.core.log.tables import CANDIDATE
from lineclear.core.queue.candidates import DROPPED
from lineclear.core.queue.phases import INTEGRATE, PARALLEL, TEST, branch_of
from tests.world import World, refused, resource

ADA, BEN, PAT = Caller("ada"), Caller("ben"), Caller("pat", is_person=True)
RULES = [
    Rule(resource("migrations/"), ISOLATED, origin="rule 1", phase=INTEGRATE),
    Rule(resource("value:schema"), OPTIMISTIC, origin="rule 2", phase=INTEGRATE),
    Rule(resource("src/"), ISOLATED, origin="rule 3"),
]


@pytest.fixture
def world() -> World:
    return World()


def begin(world: World, phase: str, caller: Caller = PAT, note: str = "") -> dict[str, Any]:
    return phases.begin(world.store, caller, RULES, phase, note)


def propose(world: World, caller: Caller = ADA, text: str = "migrations/1.sql", **how: Any) -> int:
    answer = proposals.propose(world.store, caller, RULES, resource(text), "1", **how)
    number: int = answer["proposal"]["id"]
    return number


def submit(world: World, proposal: int) -> int:
    branch = queue.SubmittedBranch(branch_of(proposal), "tip", "base")
    return int(queue.submit(world.store, Caller("integrator"), branch, agent="integrator")["candidate"][2:])


# -- beginning ------------------------------------------------------------------------------------


def test_everything_begins_in_parallel(world: World) -> None:
    assert world.store.read(phases.show_brief) == {"phase": PARALLEL, "since": "", "by": "", "note": ""}


def test_a_person_begins_a_phase_and_everybody_sees_since_when_and_why(world: World) -> None:
    assert begin(world, INTEGRATE, note="Friday")["began"] is True
    seen = world.store.read(lambda view: status(view, world.presence, "ada"))["phase"]
    assert seen == {"phase": INTEGRATE, "since": "2026-01-01T12:00:00Z", "by": "pat", "note": "Friday"}


def test_an_agent_begins_none(world: World) -> None:
    with refused("person.only"):
        begin(world, INTEGRATE, ADA)
    assert world.store.read(phases.phase_of) == PARALLEL


def test_the_phase_that_it_is_goes_on_and_nothing_is_written(world: World) -> None:
    begin(world, INTEGRATE)
    assert begin(world, INTEGRATE, note="again")["began"] is False
    assert len(world.events("PhaseBegan")) == 1


def test_no_phase_is_left_out(world: World) -> None:
    with refused("phase.order"):
        begin(world, TEST)


def test_tests_do_not_begin_before_every_proposal_is_decided(world: World) -> None:
    number = propose(world)
    begin(world, INTEGRATE)
    with refused("phase.unfinished") as caught:
        begin(world, TEST)
    assert caught.value.facts == {"open": 1, "waiting": 0}
    submit(world, number)
    with refused("phase.unfinished") as caught:
        begin(world, TEST)
    assert caught.value.facts == {"open": 1, "waiting": 1}
    proposals.reject(world.store, PAT, RULES, number, "no")
    assert begin(world, TEST)["phase"] == TEST
    assert world.findings() == []


# -- writing --------------------------------------------------------------------------------------


def test_a_value_that_is_bound_is_written_in_its_phase_only_and_by_people_always(world: World) -> None:
    with refused("write.phase") as caught:
        values.put(world.store, world.liveness, ADA, RULES, "schema", "1")
    assert caught.value.next == "lineclear propose value:schema JSON"
    values.put(world.store, world.liveness, PAT, RULES, "schema", "1")
    values.put(world.store, world.liveness, ADA, RULES, "other", "1")


def test_accepting_a_value_is_a_write_and_waits_for_the_phase(world: World) -> None:
    rules = [Rule(resource("value:schema"), "single-writer", "ada", "rule 1", INTEGRATE)]
    made = proposals.propose(world.store, BEN, rules, resource("value:schema"), "2")["proposal"]["id"]
    with refused("write.phase"):
        proposals.accept(world.store, world.liveness, ADA, rules, made)
    begin(world, INTEGRATE)
    assert proposals.accept(world.store, world.liveness, ADA, rules, made)["version"] == 1


def test_who_says_in_which_phase_a_file_is_written(world: World) -> None:
    assert world.store.read(lambda view: who(view, resource("migrations/9.sql"), RULES))["phase"] == INTEGRATE
    assert world.store.read(lambda view: who(view, resource("src/a.py"), RULES))["phase"] == ""


# -- proposals ------------------------------------------------------------------------------------


def test_what_is_proposed_while_it_is_integrated_waits_for_the_next_time(world: World) -> None:
    early = propose(world)
    begin(world, INTEGRATE)
    late = propose(world, BEN, "migrations/2.sql")
    frozen = world.store.read(lambda view: phases.frozen_proposals(view, RULES))
    assert [row.id for row in frozen] == [early]
    begin(world, PARALLEL)
    proposals.reject(world.store, PAT, RULES, early, "no")
    begin(world, INTEGRATE)
    assert [row.id for row in world.store.read(lambda view: phases.frozen_proposals(view, RULES))] == [late]


def test_proposals_for_what_is_not_bound_are_none_of_the_phases_business(world: World) -> None:
    propose(world, text="src/a.py")
    begin(world, INTEGRATE)
    assert world.store.read(lambda view: phases.frozen_proposals(view, RULES)) == []


def test_each_bound_resource_is_shown_with_its_open_proposals(world: World) -> None:
    first, second = propose(world), propose(world, BEN, "migrations/2.sql")
    shown = world.store.read(lambda view: phases.show(view, RULES))
    assert [(bound["resource"], bound["proposals"]) for bound in shown["bound"]] == [
        ("file:migrations/", [first, second]),
        ("value:schema", []),
    ]
    assert shown["progress"] == {}


def test_progress_counts_what_was_decided_since_the_phase_began(world: World) -> None:
    before, first, second = propose(world), propose(world), propose(world, BEN, "migrations/2.sql")
    proposals.reject(world.store, PAT, RULES, before, "no")
    begin(world, INTEGRATE)
    submit(world, second)
    proposals.reject(world.store, PAT, RULES, first, "no")
    progress = world.store.read(lambda view: phases.show(view, RULES))["progress"]
    assert progress == {"queued": 1, "undecided": 0, "accepted": 0, "rejected": 1}


@pytest.mark.parametrize("how", ["reject", "supersede"])
def test_a_proposal_that_is_no_longer_wanted_takes_its_candidate_out_of_the_queue(
    world: World, how: str
) -> None:
    number = propose(world)
    begin(world, INTEGRATE)
    candidate = submit(world, number)
    if how == "reject":
        proposals.reject(world.store, PAT, RULES, number, "no")
    else:
        propose(world, supersedes=number)
    row = world.store.read(lambda view: view.get(CANDIDATE, (candidate,)))
    assert row is not None
    assert row.state == DROPPED
    assert world.findings() == []
