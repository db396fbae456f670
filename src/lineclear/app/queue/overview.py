"""What people see of the queue: who waits for what, every decision about a candidate, how long a review took.
Only reads the log and the tables.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lineclear.app.queue import candidates as queue
from lineclear.core.instants import NS_PER_MS
from lineclear.core.log.codec import event_of
from lineclear.core.log.tables import CANDIDATE, LOG, split_ids
from lineclear.core.queue.candidates import HELD, LANDED, LIVE, STOPPED, show_number
from lineclear.core.tasks.states import show_id

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any

    from lineclear.app.ports import View
    from lineclear.core.log.events import Event
    from lineclear.core.log.tables import Candidate

NO_REVIEW, PERSON = "none", "person"
# The events about several candidates at once that belong in the history of each, and their fields.
_SHARED = ("CheckEnded", "LandingBegan")
_OF_SHARED = ("ids", "green", "flaky", "took_ms", "command")


def overview(
    view: View, *, review: str, commands: Iterable[str] = (), at_once: int = 1, ended: int = 0
) -> dict[str, Any]:
    """The candidates that wait, in landing order, then the newest `ended` of those that have ended.

    `at_once`: how many are checked together, to estimate the time left (`eta_ms`; -1 if unknown).
    """
    state, who, why = queue.state(view)
    run_ms = queue.eta_ms(view, commands)
    rows = queue.in_line(view)
    shown = []
    for place, row in enumerate(rows):
        wait = waits_for(view, row, review)
        rounds = place // at_once + 1
        shown.append(
            {
                **queue.show_brief(row),
                "position": place + 1,
                "waits_for": wait,
                "eta_ms": -1 if run_ms < 0 or wait or state == queue.PAUSED else run_ms * rounds,
            }
        )
    over = queue.list_all(view, ended=ended)[len(rows) :]
    return {"queue": state, "by": who, "why": why, "candidates": shown, "ended": over}


def waits_for(view: View, row: Candidate, review: str) -> str:
    """What blocks the candidate; "" if nothing does and it is simply in line."""
    if row.state == HELD:
        return "held" + (f": {row.reason}" if row.reason else "")
    if row.state == STOPPED:
        return row.reason
    if row.state not in LIVE:
        return ""
    if row.reason:  # a claim, which ends by itself
        return row.reason
    needed = [number for number in split_ids(row.after) if queue.known(view, number).state != LANDED]
    tasks = queue.unmet_tasks(view, row.task)
    names = [*map(show_number, needed), *map(show_id, tasks)]
    if is_unreviewed(row, review):
        names = ["a person's review" if review == PERSON else "another agent's review", *names]
    return f"waits for {', '.join(names)}" if names else ""


def is_unreviewed(row: Candidate, review: str) -> bool:
    return review != NO_REVIEW and row.state in LIVE and not row.review


def explain(view: View, number: int, review: str) -> dict[str, Any]:
    """Everything about one candidate, with every decision and check, oldest first."""
    row = queue.known(view, number)
    shown = queue.show(view, number)
    checks = [
        {"position": event.position, "at_ns": event.at_ns, "actor": event.actor, "event": event.kind,
         **{name: event.body[name] for name in _OF_SHARED if name in event.body}}
        for event in _shared(view, row)
    ]  # fmt: skip
    history = sorted([*shown["history"], *checks], key=lambda item: item["position"])
    return {
        **shown,
        "history": history,
        "waits_for": waits_for(view, row, review),
        "review_waited_ms": review_waited_ms(view, row, review),
    }


def _shared(view: View, row: Candidate) -> list[Event]:
    """The checks and landings that it shared with other candidates, while it waited."""
    own = view.scan(LOG, "subject", (show_number(row.id),), reverse=True, limit=1)
    last = own[0].position if own and row.state not in LIVE else None
    entries = view.scan(LOG, "subject", ("queue",), low=row.submitted, high=last)
    events = [event_of(entry) for entry in entries if entry.kind in _SHARED]
    return [event for event in events if row.id in event.body["ids"]]


def review_waited_ms(view: View, row: Candidate, review: str) -> int:
    """How long its last commit waited, or has waited, for a review; -1 if it needs none."""
    events = [event_of(entry) for entry in view.scan(LOG, "subject", (show_number(row.id),))]
    asked_ns = answered_ns = 0
    for event in events:
        if event.kind in ("CandidateSubmitted", "CandidateRenewed"):
            asked_ns, answered_ns = event.at_ns, 0
        elif event.kind == "CandidateReviewed" and not answered_ns:
            answered_ns = event.at_ns
    if answered_ns:
        return max(0, answered_ns - asked_ns) // NS_PER_MS
    return max(0, view.now.wall_ns - asked_ns) // NS_PER_MS if is_unreviewed(row, review) else -1


def below_of(view: View, row: Candidate) -> str:
    """The commit on which a candidate landed; "" if main did not move for it.

    This is not always its first parent: a fast-forwarded branch brings several commits.
    """
    landings = [event for event in _shared(view, row) if event.kind == "LandingBegan"]
    for event in reversed(landings):
        steps = [event.body["old"], *event.body["commits"]]
        place = event.body["ids"].index(row.id)
        if steps[place + 1] == row.commit:
            return str(steps[place])
    return ""


def last_landed(view: View, agent: str, skip: Sequence[int] = ()) -> Candidate | None:
    """The newest landing of an agent ("" for anybody) that is not in `skip`."""
    rows = [row for row in view.scan(CANDIDATE, "state", (LANDED,)) if row.id not in skip]
    mine = [row for row in rows if not agent or row.agent == agent]
    return max(mine, key=lambda row: (row.ended_ns, row.id), default=None)
