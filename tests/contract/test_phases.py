"""Phases and proposals on every engine: two processes, one of which does not know what the other wrote."""

from __future__ import annotations

from lineclear.app import proposals
from lineclear.app.log import audit
from lineclear.app.ports import Caller
from lineclear.app.queue import candidates, phases
from lineclear.app.queue.integrating import settle
from lineclear.core.claims.strategies import ISOLATED, Rule
from lineclear.core.json_text import canonical
from lineclear.core.queue.phases import INTEGRATE, TEST, branch_of
from lineclear.core.values.file_changes import FileChange
from tests.contract.three_engines import Engine
from tests.world import FakeClock, refused, resource

ADA, PAT, INTEGRATOR = Caller("ada"), Caller("pat", is_person=True), Caller("integrator")
RULES = [Rule(resource("migrations/"), ISOLATED, phase=INTEGRATE)]
TEXT = "-- '\"\\ \u00e9 \U0001f600\n" * 1_000


def test_a_proposal_from_the_first_word_to_its_end(engine: Engine, clock: FakeClock) -> None:
    here, there = engine.open(clock), engine.open(clock)
    payload = canonical(FileChange(TEXT, commit="c" * 40, blob="").as_payload())
    made = proposals.propose(here, ADA, RULES, resource("migrations/1.sql"), payload)["proposal"]
    assert made["payload"]["text"] == TEXT
    phases.begin(there, PAT, RULES, INTEGRATE)
    late = proposals.propose(here, ADA, RULES, resource("migrations/2.sql"), payload)["proposal"]
    frozen = there.read(lambda view: phases.frozen_proposals(view, RULES))
    assert [row.id for row in frozen] == [made["id"]]
    branch = candidates.SubmittedBranch(branch_of(made["id"]), "tip", "base")
    candidate = candidates.submit(there, INTEGRATOR, branch, agent="integrator")["candidate"]
    with refused("phase.unfinished"):
        phases.begin(here, PAT, RULES, TEST)
    assert settle(here, INTEGRATOR) == []
    candidates.drop(there, PAT, int(candidate[2:]), "not now")
    assert [(one["proposal"], one["result"]) for one in settle(here, INTEGRATOR)] == [
        (made["id"], "rejected")
    ]
    assert settle(there, INTEGRATOR) == []
    assert phases.begin(here, PAT, RULES, TEST)["phase"] == TEST
    shown = there.read(lambda view: phases.show(view, RULES))
    assert (shown["phase"], shown["bound"][0]["proposals"]) == (TEST, [late["id"]])
    assert audit(there)["findings"] == []
