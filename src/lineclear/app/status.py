"""The facts of the status page, and everything known about one resource."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lineclear.app.claims import holders, live_waits, near_claims, show_claim
from lineclear.app.messages import inbox, near_reader
from lineclear.app.queue.candidates import counts, in_line
from lineclear.app.queue.candidates import state as queue_state
from lineclear.app.queue.overview import NO_REVIEW, PERSON, is_unreviewed
from lineclear.app.queue.phases import show_brief as show_phase
from lineclear.app.runs.records import LIVE as LIVE_RUNS
from lineclear.app.runs.records import live_runs, show_run
from lineclear.app.tasks import show_brief, show_task
from lineclear.core.claims.leases import is_over
from lineclear.core.claims.resources import overlaps, resource_of
from lineclear.core.claims.strategies import rules_inside, strategy_for
from lineclear.core.instants import show_wall
from lineclear.core.log.queries import any_of, by_index, by_key, how_many
from lineclear.core.log.tables import (
    AGENT,
    CANDIDATE,
    CLAIM,
    LOG,
    MODE,
    PROPOSAL,
    RUN,
    TASK,
    WAIT,
    split_names,
)
from lineclear.core.queue.candidates import LIVE, STOPPED, show_number
from lineclear.core.tasks.states import FAILED, HANDED_OVER, OPEN, TAKEN

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from lineclear.app.ports import Presence, View
    from lineclear.core.claims.resources import Resource
    from lineclear.core.claims.strategies import Rule
    from lineclear.core.log.queries import Question
    from lineclear.core.log.tables import Agent, Candidate, Wait

MOST_CLAIMS = 200


def status(
    view: View, presence: Presence, me: str, review: Callable[[], str] = lambda: NO_REVIEW
) -> dict[str, Any]:
    """Everything that is going on, as seen by `me`. `review`: who must approve landings; called only if
    something waits to land."""
    view.prefetch(*_near_status(me))
    claims = [claim for claim in view.scan(CLAIM, "key") if not is_over(claim.until_ns, view.now)]
    waits = live_waits(view)
    taken = [task for task in view.scan(TASK, "ready", (TAKEN,)) if not is_over(task.until_ns, view.now)]
    agents = [agent for agent in view.scan(AGENT, "key") if agent.state == "here"]
    news = inbox(view, me)
    queue, queue_by, queue_why = queue_state(view)
    return {
        "me": me,
        "head": view.head,
        "needs_you": _needs_you(view, review),
        "phase": show_phase(view),
        "agents": [_show_agent(agent, taken, claims, presence) for agent in agents],
        "runs": [show_run(run) for run in live_runs(view)],
        "claims": [show_claim(claim, view) for claim in claims[:MOST_CLAIMS]],
        "claims_hidden": max(0, len(claims) - MOST_CLAIMS),
        "waits": [show_wait(wait) for wait in waits],
        "tasks": {
            "ready": view.count(TASK, "ready", (OPEN, 0)),
            "open": view.count(TASK, "ready", (OPEN,)),
            "taken": [show_brief(task) for task in taken],
            "handed_over": view.count(TASK, "ready", (HANDED_OVER,)),
        },
        "queue": {"state": queue, "by": queue_by, "why": queue_why, **counts(view)},
        "unread": len(news["messages"]) + news["more"],
    }


def _near_status(me: str) -> list[Question]:
    return [
        *(by_index(table, "key") for table in (CLAIM, WAIT, AGENT)),
        *(by_index(TASK, "ready", state) for state in (TAKEN, FAILED, HANDED_OVER)),
        *(how_many(TASK, "ready", *prefix) for prefix in ((OPEN,), (OPEN, 0), (HANDED_OVER,))),
        *(by_index(RUN, "state", state) for state in LIVE_RUNS),
        any_of(CANDIDATE, "state", *LIVE),
        by_key(MODE, "phase"),
        by_key(MODE, "queue"),
        *near_reader(me),
    ]


def _needs_you(view: View, review: Callable[[], str]) -> list[dict[str, Any]]:
    """What waits for a person: stopped and unreviewed candidates, failed tasks, and handed-over tasks that
    are not in the queue."""
    waiting = in_line(view)
    needs = [_candidate_need(row) for row in waiting if row.state == STOPPED]
    if waiting and review() == PERSON:
        needs += [_review_need(row) for row in waiting if is_unreviewed(row, PERSON) and row.state != STOPPED]
    needs += [
        {
            "what": f"T-{task.id} failed: {task.title}",
            "why": task.reason,
            "next": f"lineclear task reopen T-{task.id}",
        }
        for task in view.scan(TASK, "ready", (FAILED,))
    ]
    submitted = {row.task for row in waiting}
    needs += [
        {"what": f"T-{task.id} is ready to land: {task.title}", "why": f"branch {task.branch}",
         "next": f"lineclear land --task T-{task.id}"}
        for task in view.scan(TASK, "ready", (HANDED_OVER,))
        if task.id not in submitted
    ]  # fmt: skip
    return needs


def _candidate_need(row: Candidate) -> dict[str, Any]:
    name = show_number(row.id)
    return {
        "what": f"{name} cannot land: {row.branch}",
        "why": row.reason,
        "next": f"lineclear queue show {name}",
    }


def _review_need(row: Candidate) -> dict[str, Any]:
    name = show_number(row.id)
    return {
        "what": f"{name} waits for your review: {row.branch}",
        "why": f"by {row.agent or 'a person'}",
        "next": f"lineclear queue show {name} --diff",
    }


def _show_agent(agent: Agent, taken: list[Any], claims: list[Any], presence: Presence) -> dict[str, Any]:
    idle_ns = presence.idle_ns(agent.name)
    return {
        "name": agent.name,
        "kind": agent.kind,
        "client": agent.client,
        "tree": agent.tree,
        "tasks": [f"T-{task.id} {task.title}" for task in taken if task.agent == agent.name],
        "claims": sum(1 for claim in claims if claim.agent == agent.name),
        "idle_seconds": None if idle_ns is None else idle_ns // 1_000_000_000,
    }


def show_wait(wait: Wait) -> dict[str, Any]:
    return {
        "ticket": wait.ticket,
        "agent": wait.agent,
        "resources": split_names(wait.resources),
        "mode": wait.mode,
        "note": wait.note,
    }


def who(view: View, resource: Resource, rules: list[Rule]) -> dict[str, Any]:
    """How a resource is shared, who holds it, who waits for it, which tasks expect to change it, and its last
    events."""
    view.prefetch(
        *near_claims([resource]),
        by_index(WAIT, "key"),
        by_index(TASK, "ready", TAKEN),
        by_index(PROPOSAL, "resource", resource.text),
        by_index(LOG, "subject", resource.text, reverse=True, limit=5),
    )
    sharing = strategy_for(resource, rules)
    waiting = [
        wait
        for wait in live_waits(view)
        if any(overlaps(resource, resource_of(text)) for text in split_names(wait.resources))
    ]
    expecting = [
        task
        for task in view.scan(TASK, "ready", (TAKEN,))
        if any(overlaps(resource, resource_of(text)) for text in split_names(task.scope))
    ]
    inside = rules_inside(resource, rules) if resource.kind in ("dir", "glob") else []
    return {
        "resource": resource.text,
        "strategy": sharing.strategy,
        "owner": sharing.owner,
        "phase": sharing.phase,
        "strategy_from": sharing.origin,
        "inside": [{"resource": rule.resource.text, "strategy": rule.strategy} for rule in inside],
        "holders": [show_claim(claim, view) for claim in holders(view, resource)],
        "waiters": [show_wait(wait) for wait in waiting],
        "tasks": [show_task(view, task) for task in expecting],
        "proposals": sum(1 for p in view.scan(PROPOSAL, "resource", (resource.text,)) if p.state == "open"),
        "last": [
            {"position": entry.position, "at": show_wall(entry.at_ns), "by": entry.actor, "what": entry.kind}
            for entry in view.scan(LOG, "subject", (resource.text,), reverse=True, limit=5)
        ],
    }
