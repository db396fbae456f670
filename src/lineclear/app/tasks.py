"""Use cases for tasks: add, edit, take, report, and end them exactly once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lineclear.app.agents.dead_agents import is_unstarted
from lineclear.app.agents.membership import ensure_agent
from lineclear.app.claims import holders, near_claims
from lineclear.app.free_text import check_words
from lineclear.app.operations import once
from lineclear.app.radar.troubled_files import troubled_files
from lineclear.app.runs.records import live_run_of
from lineclear.core.agents.names import is_family, task_id
from lineclear.core.claims.paths import normalise
from lineclear.core.claims.resources import overlaps, resource_of
from lineclear.core.instants import show_wall
from lineclear.core.log.codec import decode_body
from lineclear.core.log.events import Draft
from lineclear.core.log.queries import any_of, by_index, by_key
from lineclear.core.log.tables import AGENT, CLAIM, FINDING, LOG, RUN, TASK, TASK_DEP, join_names, split_names
from lineclear.core.runs.states import ENDED as RUN_ENDED
from lineclear.core.tasks.assignment import calm_first, choose_next, meets
from lineclear.core.tasks.duplicates import telling_words
from lineclear.core.tasks.states import (
    ENDED,
    HANDED_OVER,
    LEAST_PRIORITY,
    MOVES,
    OPEN,
    STATES,
    TAKEN,
    closes_cycle,
    end_lapsed,
    give_back,
    show_id,
)  # fmt: skip
from lineclear.core.words.computed.tasks import no_task, task_cycle, task_needs, task_not_yours, task_taken
from lineclear.core.words.refusals import Refusal, not_found, refuse

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

    from lineclear.app.ports import Caller, Liveness, Store, Tx, View
    from lineclear.core.log.queries import Question
    from lineclear.core.log.tables import Task
    from lineclear.core.tasks.lists import TaskDraft

DEFAULT_LEASE_MS = 30 * 60_000
DEFAULT_ATTEMPTS, MOST_ATTEMPTS = 3, 100
MOST_TITLE, MOST_BODY, MOST_NOTE, MOST_BRANCH = 200, 20_000, 4_000, 250
SHORTLIST = 5
FEW = 20
MOST_UNFIT = 3
EDITABLE = frozenset(("title", "body", "priority", "scope", "produces", "labels", "needs", "attempts_max"))


def add(
    store: Store, caller: Caller, draft: TaskDraft, *, attempts_max: int = DEFAULT_ATTEMPTS
) -> dict[str, Any]:
    """Add a task; the answer lists tasks that may be the same work."""
    check_texts(draft.title, draft.body)
    check_numbers(draft.priority, attempts_max)

    def work(tx: Tx) -> dict[str, Any]:
        ensure_agent(tx, caller)
        similar = find_similar(tx, f"{draft.title} {draft.body}")
        task = append_task(tx, draft, [number_of(tx, ref) for ref in draft.after], attempts_max)
        return {"task": show_task(tx, task), "similar": [show_brief(other) for other in similar]}

    arguments = {"title": draft.title, "body": draft.body, "priority": draft.priority, "scope": draft.scope,
                 "produces": draft.produces, "labels": draft.labels, "needs": draft.needs,
                 "after": draft.after, "attempts_max": attempts_max}  # fmt: skip
    return once(store, caller, "task add", arguments, work)


def take(
    store: Store,
    liveness: Liveness,
    caller: Caller,
    *,
    number: int = 0,
    skills: frozenset[str] = frozenset(),
    lease_ms: int = DEFAULT_LEASE_MS,
) -> dict[str, Any]:
    """Take one task, or the next suitable one. Tasks whose lease is over, or whose agent is gone, are given
    back first."""

    def work(tx: Tx) -> dict[str, Any]:
        me = ensure_agent(tx, caller)
        taken = tx.scan(TASK, "ready", (TAKEN,))
        tx.prefetch(*(by_key(AGENT, task.agent) for task in taken))
        ended = _lapsed(tx, liveness, taken)
        for draft in ended:
            tx.append(draft)
        lapsed = {draft.body["id"] for draft in ended}
        busy = [task for task in taken if task.id not in lapsed]
        has = skills | {me.client, caller.name} - {""}
        if number:
            task, crowded = _takeable(tx, known_task(tx, number), caller, has), False
        else:
            task, crowded = _next_fit(tx, caller, has, busy)
        tx.append(
            Draft(
                "TaskTaken", show_id(task.id), id=task.id, agent=caller.name, attempt=task.attempt + 1,
                ttl_ms=lease_ms, until_ns=tx.now.in_ms(lease_ms),
            )
        )  # fmt: skip
        also = [show_id(other.id) for other in busy if other.agent == caller.name]
        return {"task": show_task(tx, known_task(tx, task.id)), "crowded": crowded, "also_yours": also}

    arguments = {"number": number, "skills": sorted(skills), "lease_ms": lease_ms}
    near = (
        near_task(number)
        if number
        else [by_index(TASK, "ready", OPEN, 0, limit=FEW), by_index(FINDING, "key")]
    )
    near.append(by_index(TASK, "ready", TAKEN))
    try:
        return once(store, caller, "task next", arguments, work, _still_mine, near)
    except Refusal:
        # The refusal has rolled back the ended leases too, and nobody else may ever ask: end them now.
        end_lapses(store, liveness, caller)
        raise


def end_lapses(store: Store, liveness: Liveness, caller: Caller) -> int:
    """Give back, or fail for good, the tasks whose lease is over or whose agent is gone; returns how many.
    Writes only if there is one."""

    def find(view: View) -> list[Draft]:
        taken = view.scan(TASK, "ready", (TAKEN,))
        view.prefetch(*(by_key(AGENT, task.agent) for task in taken))
        return _lapsed(view, liveness, taken)

    def work(tx: Tx) -> int:
        return len([tx.append(draft) for draft in find(tx)])

    return store.transact(caller, work) if store.read(find) else 0


def _lapsed(view: View, liveness: Liveness, taken: list[Task]) -> list[Draft]:
    def is_lost(name: str) -> bool:
        """The agent of a run without an end is its supervisor's to judge: its work may be good."""
        return is_gone(view, liveness, name) and live_run_of(view, name) is None

    return end_lapsed(taken, view.now, is_lost, lambda task: is_unstarted(view, task))


def note(store: Store, caller: Caller, number: int, text: str) -> dict[str, Any]:
    check_words("note", text, MOST_NOTE, least_chars=1)

    def work(tx: Tx) -> dict[str, Any]:
        ensure_agent(tx, caller)
        task = known_task(tx, number)
        event = tx.append(Draft("TaskNoted", show_id(task.id), id=task.id, text=text))
        return {"task": show_brief(task), "note": event.position}

    return once(store, caller, "task note", {"number": number, "text": text}, work, near=near_task(number))


def edit(
    store: Store,
    caller: Caller,
    number: int,
    changes: dict[str, Any],
    *,
    after: Iterable[str] = (),
    not_after: Iterable[str] = (),
) -> dict[str, Any]:
    """Change the fields and the dependencies of a task that has not ended."""
    unknown = sorted(set(changes) - EDITABLE)
    if unknown:
        raise refuse(
            "input.bad",
            name="field",
            given=unknown[0],
            why=f"a task's fields are {', '.join(sorted(EDITABLE))}",
        )
    check_texts(changes.get("title", "x"), changes.get("body", ""))
    check_numbers(changes.get("priority", 0), changes.get("attempts_max", 1))
    columns = {
        name: join_names(value) if isinstance(value, list) else value for name, value in changes.items()
    }
    if "scope" in changes:
        columns["scope"] = _scope(changes["scope"])
    if "produces" in changes:
        columns["produces"] = _produces(changes["produces"])
    linked, unlinked = list(after), list(not_after)

    def work(tx: Tx) -> dict[str, Any]:
        ensure_agent(tx, caller)
        task = known_task(tx, number)
        if task.state in ENDED:
            raise refuse("task.state", task=show_id(number), state=task.state, verb="edit")
        if columns:
            tx.append(Draft("TaskEdited", show_id(number), id=number, changes=columns))
        for ref in linked:
            dep = number_of(tx, ref)
            _refuse_cycle(tx, number, dep)
            if tx.get(TASK_DEP, (number, dep)) is None:
                tx.append(Draft("TaskLinked", show_id(number), id=number, after=dep, linked=1))
        for ref in unlinked:
            dep = number_of(tx, ref)
            if tx.get(TASK_DEP, (number, dep)) is not None:
                tx.append(Draft("TaskLinked", show_id(number), id=number, after=dep, linked=0))
        return {"task": show_task(tx, known_task(tx, number))}

    arguments = {"number": number, "changes": changes, "after": linked, "not_after": unlinked}
    return once(store, caller, "task edit", arguments, work, near=near_task(number))


def finish(
    store: Store,
    caller: Caller,
    number: int,
    *,
    branch: str = "",
    result: str = "",
    has_branch: Callable[[str], bool] = lambda _: True,
) -> dict[str, Any]:
    """Finish a task: with a branch it is handed over to land, without one it is accepted.

    If a person finishes a task that was handed over, its branch is on main. `has_branch` is called before the
    transaction; a repeat gets the first answer even if the branch is gone by then.
    """
    check_words("branch", branch, MOST_BRANCH)
    check_words("result", result, MOST_NOTE)
    is_there = not branch or has_branch(branch)

    def work(tx: Tx) -> dict[str, Any]:
        ensure_agent(tx, caller)
        task = known_task(tx, number)
        subject = show_id(number)
        if task.state == HANDED_OVER and caller.is_person:
            is_merged = bool(task.branch) and not result
            draft = Draft("TaskMerged", subject, id=number)
            if not is_merged:
                draft = Draft("TaskAccepted", subject, id=number, result=result)
        else:
            _refuse_unless_held(task, caller, tx, "done")
            if not is_there:
                raise refuse("branch.unknown", branch=branch, task=subject)
            draft = Draft("TaskHandedOver", subject, id=number, branch=branch)
            if not branch:
                _refuse_in_run(tx, task)
                draft = Draft("TaskAccepted", subject, id=number, result=result)
        held = [claim.resource for claim in tx.pick(CLAIM, "key", (task.agent,)) if claim.task == number]
        return {**_move(tx, task, draft), "still_held": held}

    arguments = {"number": number, "branch": branch, "result": result}
    last_run = by_index(RUN, "task", number, reverse=True, limit=1)
    near = [*near_task(number), any_of(CLAIM, "key", caller.name), last_run]
    return once(store, caller, "task done", arguments, work, near=near)


def fail(store: Store, caller: Caller, number: int, reason: str) -> dict[str, Any]:
    """Give up a task: it gets its next attempt, or fails if that was the last one. A person fails it at
    once."""
    check_words("reason", reason, MOST_NOTE)

    def work(tx: Tx) -> dict[str, Any]:
        ensure_agent(tx, caller)
        task = known_task(tx, number)
        if caller.is_person and task.state not in ENDED:
            return _move(tx, task, Draft("TaskFailed", show_id(number), id=number, reason=reason))
        _refuse_unless_held(task, caller, tx, "fail")
        return _move(tx, task, give_back(task, reason))

    arguments = {"number": number, "reason": reason}
    return once(store, caller, "task fail", arguments, work, near=near_task(number))


def cancel(store: Store, caller: Caller, number: int, reason: str) -> dict[str, Any]:
    check_words("reason", reason, MOST_NOTE)

    def work(tx: Tx) -> dict[str, Any]:
        ensure_agent(tx, caller)
        task = known_task(tx, number)
        if task.state == TAKEN and not caller.is_person:
            _refuse_unless_held(task, caller, tx, "cancel")
        return _move(tx, task, Draft("TaskCancelled", show_id(number), id=number, reason=reason))

    arguments = {"number": number, "reason": reason}
    return once(store, caller, "task cancel", arguments, work, near=near_task(number))


def reopen(store: Store, caller: Caller, number: int, why: str) -> dict[str, Any]:
    """Open a failed or cancelled task again, or one that its holder or a person gives back."""
    check_words("reason", why, MOST_NOTE)

    def work(tx: Tx) -> dict[str, Any]:
        ensure_agent(tx, caller)
        task = known_task(tx, number)
        if task.state == TAKEN and not caller.is_person:
            _refuse_unless_held(task, caller, tx, "reopen")
        if task.state in (TAKEN, HANDED_OVER):
            return _move(tx, task, give_back(task, why or f"given back by {caller.name}"))
        return _move(tx, task, Draft("TaskReopened", show_id(number), id=number))

    return once(store, caller, "task reopen", {"number": number, "why": why}, work, near=near_task(number))


def mark_same(store: Store, caller: Caller, number: int, same_as: int) -> dict[str, Any]:
    """Record that a task is the same work as another; its dependents now wait for the other."""

    def work(tx: Tx) -> dict[str, Any]:
        ensure_agent(tx, caller)
        task, other = known_task(tx, number), known_task(tx, same_as)
        if number == same_as:
            raise refuse(
                "input.bad", name="task", given=show_id(number), why="a task cannot be a duplicate of itself"
            )
        if other.same_as:
            raise refuse("task.same", task=show_id(other.id), same_as=show_id(other.same_as))
        if task.state == TAKEN and not caller.is_person:
            _refuse_unless_held(task, caller, tx, "same")
        for link in tx.pick(TASK_DEP, "dep", (number,)):
            _refuse_cycle(tx, link.task, same_as)
        return _move(tx, task, Draft("TaskSame", show_id(number), id=number, same_as=same_as))

    return once(store, caller, "task same", {"number": number, "same_as": same_as}, work)


# -- reading ----------------------------------------------------------------------------------


def list_tasks(view: View, *, states: Iterable[str] = STATES, label: str = "") -> list[dict[str, Any]]:
    found: list[Task] = []
    states = list(states)
    view.prefetch(*(by_index(TASK, "ready", state) for state in states))
    for state in states:
        found.extend(view.scan(TASK, "ready", (state,)))
    return [show_brief(task) for task in found if not label or label in split_names(task.labels)]


def list_ready(view: View, limit: int = 0) -> list[dict[str, Any]]:
    return [show_brief(task) for task in view.scan(TASK, "ready", (OPEN, 0), limit=limit)]


def show(view: View, number: int) -> dict[str, Any]:
    task = known_task(view, number)
    shown = show_task(view, task)
    shown["notes"] = [
        {"position": entry.position, "at": show_wall(entry.at_ns), "by": entry.actor, "kind": entry.kind,
         **{name: value for name, value in decode_body(entry.body).items() if name != "id"}}
        for entry in view.scan(LOG, "subject", (show_id(number),))
        if entry.kind != "TaskAdded"
    ]  # fmt: skip
    return shown


def find_similar(view: View, text: str) -> list[Task]:
    words = telling_words(text)
    numbers = view.search_tasks(words, SHORTLIST) if words else []
    view.prefetch(*(by_key(TASK, number) for number in numbers))
    found = [view.get(TASK, (number,)) for number in numbers]
    return [task for task in found if task is not None]


def show_brief(task: Task) -> dict[str, Any]:
    return {
        "id": show_id(task.id),
        "title": task.title,
        "state": task.state,
        "priority": task.priority,
        "waits_for": task.unmet,
        "agent": task.agent,
        "scope": split_names(task.scope),
        "labels": split_names(task.labels),
    }


def near_task(number: int) -> list[Question]:
    return [by_key(TASK, number), *_near_links(number)]


def _near_links(number: int) -> list[Question]:
    return [any_of(TASK_DEP, "key", number), any_of(TASK_DEP, "dep", number)]


def show_task(view: View, task: Task) -> dict[str, Any]:
    view.prefetch(*_near_links(task.id))
    shown = show_brief(task)
    shown |= {
        "body": task.body,
        "produces": split_names(task.produces),
        "needs": split_names(task.needs),
        "after": [show_id(dep) for dep in deps_of(view, task.id)],
        "unblocks": [show_id(link.task) for link in view.pick(TASK_DEP, "dep", (task.id,))],
        "attempt": task.attempt,
        "attempts_max": task.attempts_max,
        "branch": task.branch,
        "reason": task.reason,
        "same_as": show_id(task.same_as) if task.same_as else "",
    }
    if task.state == TAKEN:
        shown["until_at"] = show_wall(view.now.wall_of(task.until_ns))
        shown["seconds_left"] = view.now.ms_until(task.until_ns) // 1000
    return shown


# -- inside one transaction -------------------------------------------------------------------


def known_task(view: View, number: int) -> Task:
    task = view.get(TASK, (number,))
    if task is None:
        raise not_found("task", show_id(number), "lineclear task list")
    return task


def number_of(view: View, ref: str) -> int:
    number = int(task_id(ref)[2:])
    return known_task(view, number).id


def next_number(view: View) -> int:
    newest = view.scan(TASK, "key", reverse=True, limit=1)
    return newest[0].id + 1 if newest else 1


def append_task(tx: Tx, draft: TaskDraft, after: list[int], attempts_max: int = DEFAULT_ATTEMPTS) -> Task:
    """`add` inside another transaction."""
    number = next_number(tx)
    tx.append(
        Draft(
            "TaskAdded", show_id(number), id=number, title=draft.title, body=draft.body,
            priority=draft.priority, scope=_scope(draft.scope), labels=join_names(draft.labels),
            needs=join_names(draft.needs), attempts_max=attempts_max, after=sorted(set(after)),
            produces=_produces(draft.produces),
        )
    )  # fmt: skip
    return known_task(tx, number)


def _scope(texts: list[str]) -> str:
    """The scope as stored. It is parsed here, to refuse a bad one to its author and not to others later."""
    return join_names([resource_of(text).text for text in texts])


def _produces(texts: list[str]) -> str:
    """The paths as stored: files or directories relative to the repository's root, without wildcards."""
    found = [normalise(text) for text in texts]
    for path, text in zip(found, texts, strict=True):
        if not path or ".git" in path.lower().split("/"):
            raise refuse(
                "input.bad",
                name="produced path",
                given=text,
                why="name a file or directory of the repository",
            )
    return join_names(list(dict.fromkeys(found)))


def deps_of(view: View, number: int) -> list[int]:
    return [link.dep for link in view.pick(TASK_DEP, "key", (number,))]


def _refuse_cycle(view: View, number: int, after: int) -> None:
    cycle = closes_cycle(number, after, lambda n: deps_of(view, n))
    if cycle:
        raise task_cycle(cycle)


def is_gone(view: View, liveness: Liveness, name: str) -> bool:
    agent = view.get(AGENT, (name,))
    return agent is not None and (agent.state == "gone" or bool(agent.bond and liveness.is_dead(agent.bond)))


def _takeable(tx: Tx, task: Task, caller: Caller, skills: frozenset[str] | set[str]) -> Task:
    if task.state == TAKEN:
        raise task_taken(show_id(task.id), task.agent, task.until_ns, tx.now)
    if task.state != OPEN:
        raise refuse("task.state", task=show_id(task.id), state=task.state, verb="take")
    if task.unmet:
        waits = [
            show_id(dep)
            for dep in deps_of(tx, task.id)
            if known_task(tx, dep).state not in ("merged", "accepted")
        ]
        raise refuse("task.not_ready", task=show_id(task.id), waits_for=waits)
    missing = [need for need in split_names(task.needs) if need not in skills]
    if missing and not caller.is_person:
        raise task_needs(show_id(task.id), missing)
    return task


def _next_fit(
    tx: Tx, caller: Caller, skills: frozenset[str] | set[str], taken: list[Task]
) -> tuple[Task, bool]:
    busy = [task for task in taken if not is_family(task.agent, caller.name)]
    busy_scopes = [resource_of(text) for task in busy for text in split_names(task.scope)]

    def is_crowded(task: Task) -> bool:
        return _is_crowded(tx, task, caller.name, busy_scopes)

    # The first few are nearly always enough; read the whole list only if they do not suffice.
    few = tx.scan(TASK, "ready", (OPEN, 0), limit=FEW)
    tx.prefetch(*near_claims(resource_of(text) for task in few for text in split_names(task.scope)))
    troubled = troubled_files(tx)
    task, crowded = choose_next(calm_first(few, troubled), frozenset(skills), is_crowded)
    if len(few) == FEW and (task is None or crowded or meets(task, map(resource_of, troubled))):
        ready = calm_first(tx.scan(TASK, "ready", (OPEN, 0)), troubled)
        task, crowded = choose_next(ready, frozenset(skills), is_crowded)
    if task is None:
        unfit = tx.scan(TASK, "ready", (OPEN, 0))
        needs = [f"{show_id(task.id)}: {', '.join(split_names(task.needs))}" for task in unfit[:MOST_UNFIT]]
        waiting = len(tx.scan(TASK, "ready", (OPEN,))) - len(unfit)
        is_new = not tx.scan(TASK, "key", limit=1)
        raise no_task(len(unfit), waiting, len(busy), needs=needs, is_new=is_new)
    return task, crowded


def _is_crowded(view: View, task: Task, me: str, busy_scopes: list[Any]) -> bool:
    for text in split_names(task.scope):
        scope = resource_of(text)
        if any(overlaps(scope, busy) for busy in busy_scopes):
            return True
        if any(not is_family(claim.agent, me) for claim in holders(view, scope)):
            return True
    return False


def _refuse_in_run(view: View, task: Task) -> None:
    """Refuse to finish without a branch while a supervisor runs the task in a worktree."""
    last = view.scan(RUN, "task", (task.id,), reverse=True, limit=1)
    if last and last[0].state != RUN_ENDED and last[0].agent == task.agent and last[0].tree:
        raise refuse("task.run", task=show_id(task.id), branch=last[0].branch)


def _refuse_unless_held(task: Task, caller: Caller, view: View, verb: str) -> None:
    if task.state != TAKEN:
        raise refuse("task.state", task=show_id(task.id), state=task.state, verb=verb)
    if task.agent != caller.name:
        raise task_not_yours(show_id(task.id), task.agent, task.until_ns, view.now)


def _move(tx: Tx, task: Task, draft: Draft) -> dict[str, Any]:
    if (task.state, draft.kind) not in MOVES:
        raise refuse(
            "task.state",
            task=show_id(task.id),
            state=task.state,
            verb=draft.kind.removeprefix("Task").lower(),
        )
    # Ending the task changes those that depend on it.
    tx.prefetch(*(by_key(TASK, link.task) for link in tx.pick(TASK_DEP, "dep", (task.id,))))
    tx.append(draft)
    return {"task": show_task(tx, known_task(tx, task.id))}


def _still_mine(view: View, caller: Caller, result: dict[str, Any]) -> bool:
    task = view.get(TASK, (int(result["task"]["id"][2:]),))
    return (
        task is not None
        and task.state == TAKEN
        and task.agent == caller.name
        and task.attempt == result["task"]["attempt"]
        and task.until_ns > view.now.tick_ns
    )


def check_texts(title: str, body: str) -> None:
    check_words("title", title, MOST_TITLE, least_chars=1)
    if not title.strip() or "\n" in title:
        raise refuse(
            "input.bad", name="title", given=title, why=f"it must be one line of 1 to {MOST_TITLE} characters"
        )
    check_words("body", body, MOST_BODY)


def check_numbers(priority: int, attempts_max: int) -> None:
    if not 0 <= priority <= LEAST_PRIORITY:
        raise refuse(
            "input.bad", name="priority", given=str(priority), why=f"it must be 0 (first) to {LEAST_PRIORITY}"
        )
    if not 1 <= attempts_max <= MOST_ATTEMPTS:
        raise refuse(
            "input.bad", name="attempts", given=str(attempts_max), why=f"it must be 1 to {MOST_ATTEMPTS}"
        )
