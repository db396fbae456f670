"""Use cases for whole lists of tasks: import and export."""

from __future__ import annotations

from graphlib import CycleError, TopologicalSorter
from typing import TYPE_CHECKING

from lineclear.app.agents.membership import ensure_agent
from lineclear.app.operations import once
from lineclear.app.tasks import (
    DEFAULT_ATTEMPTS,
    append_task,
    check_numbers,
    check_texts,
    deps_of,
    known_task,
    next_number,
    number_of,
    show_brief,
)
from lineclear.core.log.events import Draft
from lineclear.core.log.tables import TASK, split_names
from lineclear.core.tasks.duplicates import likely_twins
from lineclear.core.tasks.lists import TaskDraft
from lineclear.core.tasks.states import ENDED, FAILED, show_id
from lineclear.core.words.refusals import refuse

if TYPE_CHECKING:
    from typing import Any

    from lineclear.app.ports import Caller, Store, Tx, View


def import_all(
    store: Store, caller: Caller, drafts: list[TaskDraft], *, attempts_max: int = DEFAULT_ATTEMPTS
) -> dict[str, Any]:
    """Add the whole list or nothing, without the tasks that are done. References in it become
    dependencies."""
    for draft in drafts:
        check_texts(draft.title, draft.body)
        check_numbers(draft.priority, attempts_max)
    wanted = [draft for draft in drafts if not draft.done]
    done = {draft.ref for draft in drafts if draft.done}

    def work(tx: Tx) -> dict[str, Any]:
        ensure_agent(tx, caller)
        first = next_number(tx)
        numbers = {draft.ref: first + place for place, draft in enumerate(wanted)}
        known = [(task.id, task.title) for task in tx.scan(TASK, "key") if task.state not in ENDED]
        _refuse_import_cycle(wanted)
        twins = likely_twins([(numbers[draft.ref], draft.title) for draft in wanted], known)
        added = []
        # Add all tasks before the links: a task may depend on one that is later in the list.
        for draft in wanted:
            added.append(append_task(tx, draft, [], attempts_max))
        for draft in wanted:
            number = numbers[draft.ref]
            refs = [ref for ref in draft.after if ref not in done]
            for after in dict.fromkeys(numbers.get(ref) or number_of(tx, ref) for ref in refs):
                tx.append(Draft("TaskLinked", show_id(number), id=number, after=after, linked=1))
        tasks = [known_task(tx, task.id) for task in added]
        similar = [
            {"id": show_id(number), "title": known_task(tx, number).title, "similar_to": show_id(twin)}
            for number, twin in twins
        ]
        return {"tasks": [show_brief(task) for task in tasks], "similar": similar, "left_out": sorted(done)}

    arguments = {"tasks": [draft.as_data() for draft in drafts], "attempts_max": attempts_max}
    return once(store, caller, "task import", arguments, work)


def export_all(view: View) -> list[TaskDraft]:
    """Every task, as a list for `import_all`; tasks that nobody has to do any more are done."""
    return [
        TaskDraft(
            show_id(task.id),
            task.title,
            body=task.body,
            priority=task.priority,
            scope=split_names(task.scope),
            produces=split_names(task.produces),
            labels=split_names(task.labels),
            needs=split_names(task.needs),
            after=[show_id(dep) for dep in sorted(deps_of(view, task.id))],
            done=task.state in ENDED and task.state != FAILED,
        )
        for task in view.scan(TASK, "key")
    ]


def _refuse_import_cycle(drafts: list[TaskDraft]) -> None:
    refs = {draft.ref for draft in drafts}
    order = TopologicalSorter({draft.ref: [ref for ref in draft.after if ref in refs] for draft in drafts})
    try:
        order.prepare()
    except CycleError as error:
        raise refuse("task.cycle/import", cycle=[str(ref) for ref in error.args[1]]) from error
