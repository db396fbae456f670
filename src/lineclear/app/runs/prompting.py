"""Gather what a new run should know: its task, earlier attempts, agents that work nearby, its messages."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lineclear.app.claims import holders
from lineclear.app.messages import inbox
from lineclear.core.agents.names import is_family
from lineclear.core.claims.resources import overlaps, resource_of
from lineclear.core.log.codec import decode_body
from lineclear.core.log.tables import LOG, TASK, split_names
from lineclear.core.runs.ends import DONE
from lineclear.core.runs.first_prompt import Earlier, Letter, Nearby, PromptFacts
from lineclear.core.runs.states import ENDED
from lineclear.core.tasks.states import TAKEN, show_id

if TYPE_CHECKING:
    from lineclear.app.ports import View
    from lineclear.app.runs.workers import RunPlace, WorkerSlot
    from lineclear.core.log.tables import Claim, Run, Task

MOST_NOTES = 20
# A run that ended well is followed by another only if its work came back.
_HOW = {DONE: "its work came back"}


def gather(
    view: View, task: Task, before: list[Run], slot: WorkerSlot, place: RunPlace, *, main: str,
    returned: str = "", most_bytes: int,
) -> PromptFacts:  # fmt: skip
    return PromptFacts(
        agent=slot.agent,
        task_id=task.id,
        title=task.title,
        place=place.path,
        has_worktree=bool(place.tree),
        branch=place.branch,
        main=main,
        ports=place.env.get("LINECLEAR_PORTS", ""),
        body=task.body,
        scope=tuple(split_names(task.scope)),
        produces=tuple(split_names(task.produces)),
        attempt=task.attempt,
        attempts_max=task.attempts_max,
        returned=returned,
        earlier=tuple(_earlier(before)),
        notes=tuple(_notes(view, task)),
        nearby=tuple(_nearby(view, task, slot.agent)),
        messages=tuple(_messages(view, slot.agent)),
        most_bytes=most_bytes,
    )


def _earlier(before: list[Run]) -> list[Earlier]:
    return [
        Earlier(attempt=run.attempt, agent=run.agent, branch=run.branch, snapshot=run.snapshot[:12],
                reason=run.reason or _HOW.get(run.how, run.how))
        for run in before if run.state == ENDED
    ]  # fmt: skip


def _notes(view: View, task: Task) -> list[Letter]:
    """The newest notes on the task, oldest first."""
    entries = view.scan(LOG, "subject", (show_id(task.id),), reverse=True)
    notes = [entry for entry in entries if entry.kind == "TaskNoted"][:MOST_NOTES]
    return [
        Letter(id=entry.position, author=entry.actor, text=decode_body(entry.body)["text"])
        for entry in reversed(notes)
    ]


def _nearby(view: View, task: Task, me: str) -> list[Nearby]:
    """The other agents that work on or claim something in this task's scope; without a scope, all at work."""
    scopes = [resource_of(text) for text in split_names(task.scope)]
    held: dict[str, list[Claim]] = {}
    for scope in scopes:
        for claim in holders(view, scope):
            held.setdefault(claim.agent, []).append(claim)
    tasks = {other.agent: other for other in view.scan(TASK, "ready", (TAKEN,)) if other.id != task.id}
    near = [
        name
        for name, other in tasks.items()
        if name in held
        or not scopes
        or any(overlaps(scope, resource_of(text)) for scope in scopes for text in split_names(other.scope))
    ]
    names = [name for name in dict.fromkeys([*near, *held]) if not is_family(name, me)]
    return [_neighbour(name, tasks.get(name), held.get(name, [])) for name in names]


def _neighbour(name: str, task: Task | None, claims: list[Claim]) -> Nearby:
    return Nearby(
        agent=name,
        task_id=task.id if task is not None else 0,
        title=task.title if task is not None else "",
        scope=tuple(split_names(task.scope)) if task is not None else (),
        claims=tuple((claim.resource, claim.mode, claim.note) for claim in claims),
    )


def _messages(view: View, me: str) -> list[Letter]:
    return [
        Letter(
            id=message["id"], author=message["from"], text=message["text"], is_urgent=bool(message["urgent"])
        )
        for message in inbox(view, me)["messages"]
    ]
