"""The report of `run` is read at one moment: what another process landed meanwhile does not wait any more."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from lineclear.app.ports import Caller
from lineclear.app.runs.one_run import Outcome
from lineclear.app.runs.reporting import report
from lineclear.app.runs.workers import HANDED_OVER, LandingResult
from lineclear.core.log.events import Draft
from tests.world import World

WORKER = Caller("worker-1")


@pytest.mark.parametrize(
    ("is_landed", "result", "blocked"),
    [(False, "handed over", ["Q-1 (work) waits"]), (True, "landed", [])],
)
def test_a_candidate_is_reported_as_it_is_now(is_landed: bool, result: str, blocked: list[str]) -> None:
    store = World().store
    drafts = [
        Draft(
            "CandidateSubmitted", "Q-1", id=1, branch="work", tip="t", base="b", agent="worker-1", task=1,
            attempt=1, priority=5, after=[],
        )
    ]  # fmt: skip
    if is_landed:
        drafts.append(Draft("CandidateLanded", "Q-1", id=1, commit="c", how="merge"))
    store.transact(WORKER, lambda tx: [tx.append(draft) for draft in drafts])
    known = LandingResult(HANDED_OVER, "it waits as Q-1", candidate=1)  # as the supervisor last heard
    supervisor: Any = SimpleNamespace(
        outcomes=[Outcome(7, "worker-1", 1, "done", "", known)], landed_before=[], blocked=[], broken=[],
        is_stopping=False,
    )  # fmt: skip
    facts = store.read(lambda view: report(view, supervisor))
    assert (facts["runs"][0]["result"], facts["blocked"]) == (result, blocked)
