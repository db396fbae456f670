"""The report on a supervisor's work, from the outcomes of its runs, the queue and the state of the tasks.

Each run is reported with its own candidate: a task that was sent back and tried again has several.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lineclear.app.queue.candidates import why_waiting
from lineclear.app.runs.workers import LANDED, NEEDS_YOU, LandingResult
from lineclear.core.log.tables import CANDIDATE, RUN, TASK
from lineclear.core.queue.candidates import HELD, WAITING
from lineclear.core.runs import ends
from lineclear.core.tasks.states import ENDED, FAILED, FINISHED, HANDED_OVER, show_id

if TYPE_CHECKING:
    from typing import Any

    from lineclear.app.ports import View
    from lineclear.app.runs.one_run import Outcome
    from lineclear.app.runs.supervisor import Supervisor


def report(view: View, supervisor: Supervisor) -> dict[str, Any]:
    outcomes = supervisor.outcomes
    tasks = {outcome.task for outcome in outcomes}
    rows = [row for number in sorted(tasks) if (row := view.get(TASK, (number,))) is not None]
    used = [run for outcome in outcomes if (run := view.get(RUN, (outcome.run,))) is not None]
    runs = [_show(outcome, _landing(view, outcome)) for outcome in outcomes]
    return {
        "runs": runs,
        "landed": [*supervisor.landed_before, *(run["task"] for run in runs if run["result"] == LANDED)],
        "needs_you": [run["task"] for run in runs if run["result"] == NEEDS_YOU],
        "failed": [show_id(task.id) for task in rows if task.state == FAILED],
        "unfinished": [show_id(task.id) for task in rows if task.state not in (*FINISHED, HANDED_OVER)],
        "tokens": sum(max(0, run.tokens_in) + max(0, run.tokens_out) for run in used),
        "cost_usd": sum(max(0, run.cost_micros) for run in used) / 1_000_000,
        "runs_without_cost": sum(run.cost_micros < 0 for run in used),
        "landed_before": supervisor.landed_before,
        "ended": sum(task.state in ENDED for task in view.scan(TASK, "key")),
        "blocked": supervisor.blocked + ([] if supervisor.is_stopping else why_waiting(view)),
        "broken": supervisor.broken,
        "is_interrupted": supervisor.is_stopping,
    }


def _landing(view: View, outcome: Outcome) -> LandingResult | None:
    """What became of the run's branch by now, whichever process ran the queue."""
    landing = outcome.landing
    row = view.get(CANDIDATE, (landing.candidate,)) if landing is not None and landing.candidate else None
    if row is None or row.state in (WAITING, HELD):
        return landing
    return LandingResult(row.state, row.reason, row.commit, row.id)


def _show(outcome: Outcome, landing: LandingResult | None) -> dict[str, Any]:
    is_passed_on = outcome.how == ends.DONE and landing is not None
    return {
        "run": outcome.run,
        "agent": outcome.agent,
        "task": show_id(outcome.task),
        "how": outcome.how,
        "result": landing.state if is_passed_on and landing is not None else outcome.how,
        "why": landing.why if is_passed_on and landing is not None else outcome.reason,
    }
