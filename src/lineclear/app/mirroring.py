"""The files for agents that can only read files: what they show of the store, and what an edit of them
does."""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import sha256
from typing import TYPE_CHECKING

from lineclear.app import tasks
from lineclear.app.agents.membership import agent_of_tree
from lineclear.app.claims import live_waits, show_claim
from lineclear.app.ports import Caller
from lineclear.app.status import show_wait
from lineclear.core.agents.names import agent_name, is_kin
from lineclear.core.claims.coordination import write_coordination
from lineclear.core.claims.granting import EXCLUSIVE
from lineclear.core.claims.leases import is_over
from lineclear.core.claims.lock_files import Lock
from lineclear.core.claims.resources import resource_of
from lineclear.core.log.tables import AGENT, CLAIM, TASK, TASK_DEP, WORKTREE, split_names
from lineclear.core.tasks import page as task_page
from lineclear.core.tasks.lists import read_markdown
from lineclear.core.tasks.page import PageTask
from lineclear.core.tasks.states import ENDED, HANDED_OVER, OPEN, TAKEN, show_id
from lineclear.core.words.refusals import Refusal, not_found, refuse, shorten

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from lineclear.app.ports import Liveness, Store, View
    from lineclear.core.log.tables import Task
    from lineclear.core.tasks.page import Edit

# How many of the newest tasks are searched for ended ones to show.
LOOKED_AT = 400


@dataclass(frozen=True, slots=True)
class MirroredState:
    """Everything that the files show, at one log position."""

    head: int
    tasks: dict[int, PageTask]
    newest: int
    coordination: str
    locks: list[Lock]


@dataclass(frozen=True, slots=True)
class Editor:
    """Who edits in one worktree: its agent, else the name in the edited line, else the person. `branch`: the
    worktree's branch; "" if it has nothing to land."""

    tree: str
    tree_agent: str
    person: str
    branch: str
    keep_ms: int


def editor_of(
    store: Store, tree: str, person: str, keep_ms: int, unlanded: Callable[[str], str] | None
) -> Editor:
    """Who edits a file in this worktree. `unlanded` returns the worktree's branch if it has commits that the
    given base ("" for main) lacks; None if no work can be handed over."""

    def look(view: View) -> tuple[str, str]:
        row = view.get(WORKTREE, (tree,))
        return agent_of_tree(view, tree), row.base if row is not None else ""

    agent, base = store.read(look)
    return Editor(tree, agent, person, unlanded(base) if unlanded is not None and agent else "", keep_ms)


# -- what is shown ----------------------------------------------------------------------------


def head_of(view: View) -> int:
    return view.head


def picture(view: View) -> MirroredState:
    found = {task.id: _page_task(view, task) for task in _shown_tasks(view)}
    newest = view.scan(TASK, "key", reverse=True, limit=1)
    claims = [claim for claim in view.scan(CLAIM, "key") if not is_over(claim.until_ns, view.now)]
    locks = []
    for claim in claims:
        resource = resource_of(claim.resource)
        if claim.mode == EXCLUSIVE and resource.scheme == "file" and resource.kind != "glob":
            shown = show_claim(claim, view)
            locks.append(
                Lock(resource.path, claim.resource, claim.agent, shown["until_at"], shown["task"], claim.note)
            )
    sections: dict[str, list[dict[str, Any]]] = {
        "agents": [
            {"name": agent.name, "kind": agent.kind, "client": agent.client, "tree": agent.tree}
            for agent in view.scan(AGENT, "key")
            if agent.state == "here"
        ],
        "claims": [
            # Without the value that changes every second.
            {name: value for name, value in show_claim(claim, view).items() if name != "seconds_left"}
            for claim in claims
        ],
        "waits": [show_wait(wait) for wait in live_waits(view)],
        "tasks": [
            {"id": show_id(task.number), "title": task.title, "agent": task.agent, "scope": task.scope}
            for task in found.values()
            if task.state == TAKEN
        ],
    }
    # An agent and its sub-agent may both hold a path; its lock file names one of them.
    by_path = {lock.path: lock for lock in sorted(locks, key=lambda lock: lock.agent)}
    return MirroredState(
        view.head, found, newest[0].id if newest else 0, write_coordination(sections), list(by_path.values())
    )


def _shown_tasks(view: View) -> list[Task]:
    """Taken and handed-over tasks, then open ones by priority, then the newest that have ended."""
    live = [*view.scan(TASK, "ready", (TAKEN,)), *view.scan(TASK, "ready", (HANDED_OVER,))]
    live += view.scan(TASK, "ready", (OPEN,), limit=task_page.MOST_OPEN)
    recent = view.scan(TASK, "key", reverse=True, limit=LOOKED_AT)
    ended = [task for task in recent if task.state in ENDED][: task_page.MOST_ENDED]
    return [*live, *ended]


def _page_task(view: View, task: Task) -> PageTask:
    is_held = task.state in (TAKEN, HANDED_OVER)
    return PageTask(
        task.id,
        task.title.replace("\n", " "),
        task.state,
        priority=task.priority,
        agent=task.agent if is_held else "",
        scope=split_names(task.scope),
        after=sorted(link.dep for link in view.pick(TASK_DEP, "key", (task.id,))),
    )


# -- what an edit does ------------------------------------------------------------------------


def carry_out(store: Store, liveness: Liveness, editor: Editor, edit: Edit, once: str) -> tuple[int, str]:
    """(the task's number, why the edit was refused or "").

    `once` identifies this edit of this text, so that repeating an interrupted pass has no further effect.
    """
    act = _ACTS.get(edit.kind)
    if act is None:
        return edit.number, _WORDS[edit.kind].format(id=show_id(edit.number))
    try:
        return act(store, liveness, editor, edit, once), ""
    except Refusal as refusal:
        who = editor.tree_agent or (edit.value if edit.kind == task_page.TAKE else edit.name)
        words = f"{refusal.what} {refusal.who}".strip()
        return edit.number, f"{who}: {words}" if who else words


_WORDS = {
    task_page.UNKNOWN: "There is no {id}. Remove the id to make this a new task.",
    task_page.TWICE: "{id} is already on this page. Remove the id to make this a new task.",
    task_page.FIXED: "Only title, priority, box and name can change here; use `lineclear task edit {id}`.",
}


def _add(store: Store, _liveness: Liveness, editor: Editor, edit: Edit, once: str) -> int:
    line = task_page.parse_line(edit.value)
    text = edit.value
    if line is not None and line.agent:
        text = text[: text.rindex(line.agent)].rstrip().removesuffix("@").rstrip()
    drafts = read_markdown(text)
    if not drafts:
        raise refuse("input.bad", name="task", given=edit.value, why="it has no title")
    _refuse_signing_for_others(editor, edit.name)
    caller = _caller(store, editor, editor.tree_agent, once)
    answer = tasks.add(store, caller, drafts[0])
    number = int(answer["task"]["id"][2:])
    if edit.name:
        _take_for(store, _liveness, editor, number, edit.name, once + "-take")
    return number


def _retitle(store: Store, _liveness: Liveness, editor: Editor, edit: Edit, once: str) -> int:
    task = _known(store, edit.number)
    if task.title == edit.value:
        return edit.number
    _refuse_stale("title", edit, task.title)
    tasks.edit(store, _caller(store, editor, editor.tree_agent, once), edit.number, {"title": edit.value})
    return edit.number


def _reorder(store: Store, _liveness: Liveness, editor: Editor, edit: Edit, once: str) -> int:
    task = _known(store, edit.number)
    if str(task.priority) == edit.value:
        return edit.number
    _refuse_stale("priority", edit, str(task.priority))
    changes = {"priority": int(edit.value)}
    tasks.edit(store, _caller(store, editor, editor.tree_agent, once), edit.number, changes)
    return edit.number


def _refuse_stale(field: str, edit: Edit, now: str) -> None:
    """Refuse an edit of a text that somebody else has changed since the page was written."""
    if now != edit.old:
        raise refuse("input.bad", name=field, given=edit.value, why=f'it is now "{shorten(now, 60)}"')


def _take(store: Store, liveness: Liveness, editor: Editor, edit: Edit, once: str) -> int:
    return _take_for(store, liveness, editor, edit.number, edit.value, once)


def _take_for(store: Store, liveness: Liveness, editor: Editor, number: int, name: str, once: str) -> int:
    task = _known(store, number)
    if task.state == TAKEN and task.agent == name:
        return number
    _refuse_signing_for_others(editor, name)
    tasks.take(store, liveness, _caller(store, editor, agent_name(name), once), number=number)
    return number


def _refuse_signing_for_others(editor: Editor, name: str) -> None:
    """In an agent's own worktree nobody but the agent writes, so it may sign only for its own family."""
    if editor.tree_agent and name and not is_kin(name, editor.tree_agent):
        raise refuse("person.only", what=f"take a task for {name}", agent=editor.tree_agent)


def _done(store: Store, liveness: Liveness, editor: Editor, edit: Edit, once: str) -> int:
    """Finish the task as the worktree's agent, else as the name in the line; take it first if it is open."""
    task = _known(store, edit.number)
    if task.state in ENDED:
        return edit.number
    name = editor.tree_agent or edit.name
    if task.state == OPEN:
        tasks.take(store, liveness, _caller(store, editor, name, once + "-take"), number=edit.number)
    branch = editor.branch if editor.tree_agent and not task.branch else ""
    tasks.finish(store, _caller(store, editor, name, once), edit.number, branch=branch)
    return edit.number


def _reopen(store: Store, _liveness: Liveness, editor: Editor, edit: Edit, once: str) -> int:
    if _known(store, edit.number).state == OPEN:
        return edit.number
    name = editor.tree_agent or edit.name
    tasks.reopen(store, _caller(store, editor, name, once), edit.number, "its box was emptied")
    return edit.number


_ACTS: dict[str, Callable[[Store, Liveness, Editor, Edit, str], int]] = {
    task_page.ADD: _add,
    task_page.RETITLE: _retitle,
    task_page.REORDER: _reorder,
    task_page.TAKE: _take,
    task_page.DONE: _done,
    task_page.REOPEN: _reopen,
}


def _known(store: Store, number: int) -> Task:
    task = store.read(lambda view: view.get(TASK, (number,)))
    if task is None:
        raise not_found("task", show_id(number), "lineclear task list")
    return task


def _caller(store: Store, editor: Editor, name: str, once: str) -> Caller:
    """The caller for an edit. A known agent keeps its own worktree: signing a line does not move it here."""
    name = agent_name(name or editor.person)
    known = store.read(lambda view: view.get(AGENT, (name,)))
    return Caller(
        name,
        is_person=name == editor.person and not editor.tree_agent,
        tree=known.tree if known is not None else editor.tree,
        op=f"page-{sha256(once.encode('utf-8', 'surrogateescape')).hexdigest()[:32]}",
        keep_ms=editor.keep_ms,
    )
