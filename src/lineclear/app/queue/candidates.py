"""Use cases for candidates: submit, review, hold, order, drop and show them.

The runner (app/queue/runner.py) decides what lands; nothing here touches git.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lineclear.app.agents.membership import ensure_agent
from lineclear.app.log import entries_after
from lineclear.app.operations import once
from lineclear.app.queue.runner_turns import TURN
from lineclear.app.queue.sending_back import send_back, task_of
from lineclear.app.radar.findings import open_findings
from lineclear.core.agents.names import is_kin
from lineclear.core.log.codec import event_of
from lineclear.core.log.events import Draft
from lineclear.core.log.tables import (
    CANDIDATE,
    CHECK_RECORD,
    LOG,
    MODE,
    TASK,
    TASK_DEP,
    VERDICT,
    split_ids,
)
from lineclear.core.queue.candidates import (
    APPROVED,
    BY_REVIEW,
    HELD,
    LANDED,
    LIVE,
    REJECTED,
    STATES,
    STOPPED,
    WAITING,
    show_number,
)
from lineclear.core.queue.changed_interfaces import explaining, landing_pairs
from lineclear.core.queue.order import in_order, moved_first
from lineclear.core.tasks.states import (
    DEFAULT_PRIORITY,
    FINISHED,
    HANDED_OVER,
    MERGED,
    TAKEN,
    give_back,
    show_id,
)
from lineclear.core.words.computed.tasks import task_not_yours
from lineclear.core.words.refusals import not_found, refuse

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any

    from lineclear.app.ports import Caller, Store, Tx, View
    from lineclear.app.queue.ports import EndedCheck
    from lineclear.core.log.tables import Candidate, FindingRow, Task

OPEN, PAUSED = "open", "paused"


class SubmittedBranch:
    """A branch to submit, as git knows it. `on`: the live candidates whose commits it contains."""

    def __init__(self, name: str, tip: str, base: str, on: Sequence[int] = ()) -> None:
        self.name, self.tip, self.base, self.on = name, tip, base, list(on)


# -- submit ---------------------------------------------------------------------------------------


def submit(
    store: Store, caller: Caller, branch: SubmittedBranch, *, task: int = 0, agent: str = "",
    after: Sequence[int] = (), priority: int = 0,
) -> dict[str, Any]:  # fmt: skip
    """Queue the branch as it is now; if it waits already and has new commits, renew its candidate.

    A task that is still taken is handed over in the same transaction. A task that has ended is refused.
    """

    def work(tx: Tx) -> dict[str, Any]:
        ensure_agent(tx, caller)
        row = _task_to_land(tx, caller, task, branch.name) if task else None
        waits = live_on(tx, branch.name)
        if waits is not None and waits.task != task:
            other = show_id(waits.task) if waits.task else ""
            raise refuse("queue.twice", branch=branch.name, candidate=show_number(waits.id), task=other)
        if waits is not None:
            return _renew(tx, waits, branch)
        newest = tx.scan(CANDIDATE, "key", reverse=True, limit=1)
        number = newest[0].id + 1 if newest else 1
        tx.append(
            Draft(
                "CandidateSubmitted",
                show_number(number),
                id=number,
                branch=branch.name,
                tip=branch.tip,
                base=branch.base,
                agent=agent or (row.agent if row is not None else ""),
                task=task,
                attempt=row.attempt if row is not None else 0,
                priority=priority or (row.priority if row is not None else DEFAULT_PRIORITY),
                after=_still_waiting(tx, [*branch.on, *after]),
            )
        )
        return {**show_brief(known(tx, number)), "is_new": True, "renewed": False}

    arguments = {"branch": branch.name, "tip": branch.tip, "task": task, "after": list(after)}
    return once(store, caller, "land", arguments, work)


def _task_to_land(tx: Tx, caller: Caller, number: int, branch: str) -> Task:
    row = tx.get(TASK, (number,))
    if row is None:
        raise not_found("task", show_id(number), "lineclear task list")
    if row.state == TAKEN:
        if row.agent != caller.name and not caller.is_person:
            raise task_not_yours(show_id(number), row.agent, row.until_ns, tx.now)
        tx.append(Draft("TaskHandedOver", show_id(number), id=number, branch=branch))
        row = tx.get(TASK, (number,))
    if row is None or row.state != HANDED_OVER:
        raise refuse(
            "task.state", task=show_id(number), state=row.state if row is not None else "", verb="land"
        )
    if row.branch != branch:
        raise refuse("land.other_branch", task=show_id(number), branch=row.branch, given=branch)
    return row


def _renew(tx: Tx, waits: Candidate, branch: SubmittedBranch) -> dict[str, Any]:
    is_new = waits.tip != branch.tip
    if is_new:
        tx.append(Draft("CandidateRenewed", show_number(waits.id), id=waits.id, tip=branch.tip))
    elif waits.state == STOPPED:
        tx.append(Draft("CandidateFreed", show_number(waits.id), id=waits.id))
    return {**show_brief(known(tx, waits.id)), "is_new": False, "renewed": is_new}


def _still_waiting(tx: Tx, numbers: Iterable[int]) -> list[int]:
    """Those of the candidates that have not landed yet. Refuses one that ended without landing."""
    found = []
    for number in dict.fromkeys(numbers):
        row = known(tx, number)
        if row.state in LIVE:
            found.append(number)
        elif row.state != LANDED:
            raise refuse("queue.ended", candidate=show_number(number), state=row.state, verb="wait for")
    return found


# -- decisions of people and agents ---------------------------------------------------------------


def review(
    store: Store, caller: Caller, number: int, *, is_good: bool, note: str = "", tip: str = "",
    by_agents: bool = False,
) -> dict[str, Any]:  # fmt: skip
    """Approve or reject a candidate. `tip`: the commit that the reviewer saw, if known; refused if the
    candidate has another one now."""

    def work(tx: Tx) -> dict[str, Any]:
        ensure_agent(tx, caller)
        row = _live(tx, number, "review")
        if not caller.is_person:
            if not by_agents:
                raise refuse("person.only", what="review landings", agent=caller.name)
            if is_kin(caller.name, row.agent):
                family = row.agent.partition("/")[0]
                raise refuse("queue.own", candidate=show_number(number), agent=caller.name, family=family)
        if tip and tip != row.tip:
            raise refuse("queue.changed", candidate=show_number(number), branch=row.branch)
        verdict = APPROVED if is_good else REJECTED
        tx.append(
            Draft(
                "CandidateReviewed", show_number(number), id=number, tip=row.tip, verdict=verdict, note=note
            )
        )
        if not is_good:
            why = f"{caller.name} rejected it" + (f": {note}" if note else "")
            send_back(tx, row, BY_REVIEW, why)
        return show_brief(known(tx, number))

    arguments = {"number": number, "is_good": is_good, "note": note}
    return once(store, caller, "queue review", arguments, work)


def hold(store: Store, caller: Caller, number: int, why: str) -> dict[str, Any]:
    """Keep a candidate from landing until somebody retries it. Holding it again has no effect."""

    def work(tx: Tx) -> dict[str, Any]:
        ensure_agent(tx, caller)
        if _own(tx, caller, number, "hold").state != HELD:
            tx.append(Draft("CandidateHeld", show_number(number), id=number, why=why))
        return show_brief(known(tx, number))

    return once(store, caller, "queue hold", {"number": number, "id": number, "why": why}, work)


def retry(store: Store, caller: Caller, number: int) -> dict[str, Any]:
    """Let a candidate land again that was held, or stopped to wait for a person."""

    def work(tx: Tx) -> dict[str, Any]:
        ensure_agent(tx, caller)
        row = _own(tx, caller, number, "retry")
        if row.state not in (HELD, STOPPED):
            raise refuse("queue.not_held", candidate=show_number(number), state=row.state)
        tx.append(Draft("CandidateFreed", show_number(number), id=number))
        return show_brief(known(tx, number))

    return once(store, caller, "queue retry", {"number": number}, work)


def drop(store: Store, caller: Caller, number: int, why: str) -> dict[str, Any]:
    """Take a candidate out of the queue. Its branch stays; its task is open again."""

    def work(tx: Tx) -> dict[str, Any]:
        ensure_agent(tx, caller)
        row = _own(tx, caller, number, "drop")
        tx.append(Draft("CandidateDropped", show_number(number), id=number, why=why))
        task = task_of(tx, row)
        if task is not None:
            tx.append(
                give_back(task, f"its candidate was dropped by {caller.name}" + (f": {why}" if why else ""))
            )
        return show_brief(known(tx, number))

    return once(store, caller, "queue drop", {"number": number, "why": why}, work)


def move(store: Store, caller: Caller, number: int, *, before: int = 0) -> dict[str, Any]:
    """Move a candidate before another one, or with `before` 0 behind all that wait. For people only."""

    def work(tx: Tx) -> dict[str, Any]:
        ensure_agent(tx, caller)
        _require_person(caller, "order the queue")
        _live(tx, number, "move")
        if before:
            _live(tx, before, "move anything before")
        order = in_line(tx)
        ids = moved_first(order, number, before)
        places = {known_id: place for place, known_id in enumerate(ids)}
        for row in order:
            for dep in split_ids(row.after):
                if dep in places and places[dep] > places[row.id]:
                    raise refuse("queue.order", candidate=show_number(row.id), other=show_number(dep))
        tx.append(Draft("QueueOrdered", "queue", ids=ids))
        return {"order": [show_number(known_id) for known_id in ids]}

    return once(store, caller, "queue move", {"number": number, "before": before}, work)


def pause(store: Store, caller: Caller, why: str) -> dict[str, Any]:
    return _switch(store, caller, Draft("QueuePaused", "queue", why=why), PAUSED)


def resume(store: Store, caller: Caller) -> dict[str, Any]:
    return _switch(store, caller, Draft("QueueResumed", "queue"), OPEN)


def _switch(store: Store, caller: Caller, draft: Draft, value: str) -> dict[str, Any]:
    def work(tx: Tx) -> dict[str, Any]:
        ensure_agent(tx, caller)
        _require_person(caller, "pause or resume the queue")
        if state(tx)[0] != value:
            tx.append(draft)
        return {"queue": value}

    return once(store, caller, draft.kind, dict(draft.body), work)


def _require_person(caller: Caller, what: str) -> None:
    if not caller.is_person:
        raise refuse("person.only", what=what, agent=caller.name)


def _live(view: View, number: int, verb: str) -> Candidate:
    row = known(view, number)
    if row.state not in LIVE:
        raise refuse("queue.ended", candidate=show_number(number), state=row.state, verb=verb)
    return row


def _own(view: View, caller: Caller, number: int, verb: str) -> Candidate:
    """The candidate, if it waits and is the caller's own; a person may change everybody's."""
    row = _live(view, number, verb)
    if not caller.is_person and row.agent != caller.name:
        raise refuse("person.only", what=f"{verb} another's candidate", agent=caller.name)
    return row


# -- for the runner -------------------------------------------------------------------------------


def delay(store: Store, caller: Caller, number: int, why: str, files: Sequence[str]) -> bool:
    """Note the claims that a candidate waits for; with an empty `why`, that it waits no longer. False if that
    is known already."""

    def work(tx: Tx) -> bool:
        ensure_agent(tx, caller)
        row = known(tx, number)
        is_new = row.state in (WAITING, STOPPED) and row.reason != why
        name = show_number(number)
        if is_new and why:
            tx.append(Draft("CandidateDelayed", name, id=number, why=why, files=list(files)))
        elif is_new:
            tx.append(Draft("CandidateFreed", name, id=number))
        return is_new

    return store.transact(caller, work)


def remember_checks(store: Store, caller: Caller, results: Sequence[EndedCheck], ids: Sequence[int]) -> None:
    """Store how checks ended, with the candidates that were in the tree. A check that passed is not run
    again on that tree."""

    def work(tx: Tx) -> None:
        ensure_agent(tx, caller)
        for ended in results:
            tx.append(
                Draft(
                    "CheckEnded",
                    "queue",
                    key=ended.key,
                    tree=ended.tree,
                    command=ended.command,
                    green=ended.is_green,
                    flaky=ended.is_flaky,
                    took_ms=ended.took_ms,
                    ids=list(ids),
                )
            )

    store.transact(caller, work)


def passed_before(view: View, keys: Iterable[str]) -> set[str]:
    """Those of the keys whose check has passed."""
    return {key for key in keys if view.get(VERDICT, (key,)) is not None}


def unmet_tasks(view: View, task: int) -> list[int]:
    """The tasks that this one depends on and that have not ended."""
    found = [view.get(TASK, (link.dep,)) for link in view.pick(TASK_DEP, "key", (task,))] if task else []
    return [dep.id for dep in found if dep is not None and dep.state not in FINISHED]


def findings_explaining(view: View, row: Candidate, landed: Candidate | None) -> list[FindingRow]:
    """The findings that say what main changed under the candidate; see `explaining`."""
    findings = open_findings(view)
    tasks = [view.get(TASK, (number,)) for number in {finding.task for finding in findings} - {0}]
    merged = {task.id for task in tasks if task is not None and task.state == MERGED}
    return explaining(findings, row, landed, merged)


def landed_as(view: View, commit: str, most: int) -> Candidate | None:
    """The candidate whose landing made this commit, among the newest `most` landings."""
    rows = view.scan(CANDIDATE, "state", (LANDED,), reverse=True, limit=most)
    return next((row for row in rows if row.commit == commit), None)


# -- look -----------------------------------------------------------------------------------------


def known(view: View, number: int) -> Candidate:
    row = view.get(CANDIDATE, (number,))
    if row is None:
        raise refuse("queue.unknown", candidate=show_number(number))
    return row


def live(view: View) -> list[Candidate]:
    return view.pick(CANDIDATE, "state", LIVE)


def in_line(view: View) -> list[Candidate]:
    """The candidates that wait, in landing order."""
    waiting = live(view)
    return in_order(waiting, landing_pairs(open_findings(view), waiting) if len(waiting) > 1 else ())


def live_on(view: View, branch: str) -> Candidate | None:
    """The candidate that waits for a branch; there is at most one."""
    return next((row for row in view.scan(CANDIDATE, "branch", (branch,)) if row.state in LIVE), None)


def state(view: View) -> tuple[str, str, str]:
    """(open or paused, who said so, why)."""
    row = view.get(MODE, ("queue",))
    return (row.value, row.agent, row.note) if row is not None else (OPEN, "", "")


def list_all(view: View, *, ended: int = 0) -> list[dict[str, Any]]:
    """The candidates that wait, in landing order, then the newest `ended` of those that have ended."""
    waiting = [show_brief(row) for row in in_line(view)]
    over = (
        [row for row in view.scan(CANDIDATE, "key", reverse=True) if row.state not in LIVE] if ended else []
    )
    over.sort(key=lambda row: row.ended_ns, reverse=True)
    return waiting + [show_brief(row) for row in over[:ended]]


def show(view: View, number: int) -> dict[str, Any]:
    """Everything about one candidate, with its own events, oldest first."""
    row = known(view, number)
    events = [event_of(entry) for entry in view.scan(LOG, "subject", (show_number(number),))]
    task = view.get(TASK, (row.task,)) if row.task else None
    return {
        **show_brief(row),
        "tip": row.tip,
        "base": row.base,
        "title": task.title if task is not None else "",
        "history": [
            {"position": event.position, "at_ns": event.at_ns, "actor": event.actor, "event": event.kind,
             **{name: event.body[name] for name in _SHOWN if name in event.body}}
            for event in events
        ],
    }  # fmt: skip


_SHOWN = ("why", "kind", "verdict", "note", "files", "others", "output", "commit", "how", "tip")


def show_brief(row: Candidate) -> dict[str, Any]:
    return {
        "candidate": show_number(row.id),
        "branch": row.branch,
        "state": row.state,
        "task": show_id(row.task) if row.task else "",
        "agent": row.agent,
        "priority": row.priority,
        "after": [show_number(number) for number in split_ids(row.after)],
        "review": row.review,
        "reviewer": row.reviewer,
        "why": row.reason,
        "kind": row.kind,
        "others": [show_number(number) for number in split_ids(row.others)],
        "commit": row.commit,
        "submitted_ns": row.submitted_ns,
        "ended_ns": row.ended_ns,
    }


def has_waiting(view: View) -> bool:
    return any(row.state in (WAITING, STOPPED) for row in live(view))


def has_news(view: View, position: int) -> bool:
    """Has anything happened since this position that may concern the queue? That a process took its turn to
    run it is no news."""
    return any(entry.subject != TURN for entry in entries_after(view, position))


def is_delayed(view: View) -> bool:
    """Does a candidate wait for something that ends by itself, without an event?"""
    return state(view)[0] != PAUSED and any(row.state == WAITING and row.reason for row in live(view))


def why_waiting(view: View) -> list[str]:
    """For a person: each candidate that is left in the queue, and why."""
    rows = in_line(view)
    return [f"{show_number(row.id)} ({row.branch}) {row.reason or 'waits'}" for row in rows]


def counts(view: View) -> dict[str, int]:
    rows = view.pick(CANDIDATE, "state", LIVE)
    return {name: sum(row.state == name for row in rows) for name in STATES if name in LIVE}


def check_records(view: View) -> list[dict[str, Any]]:
    return [
        {
            "command": row.command, "runs": row.runs, "failed": row.reds, "flaky": row.flakes,
            "flake_rate": row.flakes / row.runs if row.runs else 0.0,
            "mean_ms": row.took_ms // row.runs if row.runs else 0, "last_ms": row.last_ms,
        }
        for row in view.scan(CHECK_RECORD, "key")
    ]  # fmt: skip


def eta_ms(view: View, commands: Iterable[str]) -> int:
    """How long one run of these commands takes on average; -1 if one of them has never run."""
    rows = [view.get(CHECK_RECORD, (command,)) for command in commands]
    if any(row is None or not row.runs for row in rows):
        return -1
    return sum(row.took_ms // row.runs for row in rows if row is not None)
