"""The report on a supervisor's work, from the outcomes of its runs and the state of the tasks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lineclear.app.runs.workers import LANDED, NEEDS_YOU
from lineclear.core.log.tables import RUN, TASK
from lineclear.core.runs import ends
from lineclear.core.tasks.states import FAILED, FINISHED, HANDED_OVER, show_id

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
    return {
        "runs": [_show(outcome) for outcome in outcomes],
        "landed": [show_id(o.task) for o in outcomes if o.landing is not None and o.landing.state == LANDED],
        "needs_you": [
            show_id(o.task) for o in outcomes if o.landing is not None and o.landing.state == NEEDS_YOU
        ],
        "failed": [show_id(task.id) for task in rows if task.state == FAILED],
        "unfinished": [show_id(task.id) for task in rows if task.state not in (*FINISHED, HANDED_OVER)],
        "tokens": sum(max(0, run.tokens_in) + max(0, run.tokens_out) for run in used),
        "cost_usd": sum(max(0, run.cost_micros) for run in used) / 1_000_000,
        "runs_without_cost": sum(run.cost_micros < 0 for run in used),
        "blocked": supervisor.blocked,
        "broken": supervisor.broken,
        "is_interrupted": supervisor.is_stopping,
    }


def _show(outcome: Outcome) -> dict[str, Any]:
    landing = outcome.landing
    is_passed_on = outcome.how == ends.DONE and landing is not None
    return {
        "run": outcome.run,
        "agent": outcome.agent,
        "task": show_id(outcome.task),
        "how": outcome.how,
        "result": landing.state if is_passed_on and landing is not None else outcome.how,
        "why": landing.why if is_passed_on and landing is not None else outcome.reason,
    }
