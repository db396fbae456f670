"""Use cases for the radar's findings: record what a pass found, show them, mute a kind below a path."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lineclear.app.agents.membership import ensure_agent
from lineclear.app.operations import once
from lineclear.core.claims.paths import normalise
from lineclear.core.instants import show_wall
from lineclear.core.log.events import Draft
from lineclear.core.log.queries import by_index, by_key
from lineclear.core.log.tables import FINDING, MUTE, TASK, WORKTREE, split_names
from lineclear.core.radar.findings import KINDS
from lineclear.core.radar.recording import MUTED, end, muted_by, plan
from lineclear.core.tasks.states import HANDED_OVER, TAKEN
from lineclear.core.words.findings import next_command, show_number
from lineclear.core.words.refusals import refuse

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from typing import Any

    from lineclear.app.ports import Caller, Store, Tx, View
    from lineclear.core.log.tables import FindingRow
    from lineclear.core.radar.findings import Finding

_NEAR_OPEN = (by_index(FINDING, "key"), by_index(MUTE, "key"))
_NEAR_TASKS = (by_index(WORKTREE, "key"), *(by_index(TASK, "ready", state) for state in (HANDED_OVER, TAKEN)))


def everything(_agents: Sequence[str]) -> bool:
    """The scope of a pass that compared all sides."""
    return True


def record(
    store: Store,
    caller: Caller,
    found: Sequence[Finding],
    is_in_scope: Callable[[Sequence[str]], bool] = everything,
) -> tuple[list[int], list[int], list[int]]:
    """Bring the stored findings up to date with what a pass found: (made, changed, ended), by id. A finding
    between sides that are not in scope stays as it is. Writes nothing if nothing has changed."""

    def work(view: View) -> list[Draft]:
        view.prefetch(*_NEAR_OPEN, *_NEAR_TASKS)
        rows, mutes = view.scan(FINDING, "key"), view.scan(MUTE, "key")
        return plan(rows, mutes, found, is_in_scope, _tasks_of_sides(view))

    def write(tx: Tx) -> tuple[list[int], list[int], list[int]]:
        drafts = work(tx)
        if drafts:
            ensure_agent(tx, caller)
        events = [tx.append(draft) for draft in drafts]
        made = [event.position for event in events if event.kind == "FindingMade"]
        changed = [event.body["id"] for event in events if event.kind == "FindingChanged"]
        ended = [event.body["id"] for event in events if event.kind == "FindingEnded"]
        return made, changed, ended

    if not store.read(work):
        return [], [], []
    return store.transact(caller, write, (*_NEAR_OPEN, *_NEAR_TASKS))


def _tasks_of_sides(view: View) -> dict[str, int]:
    """Side -> the task that it works on. The side of a worktree without an agent goes by its branch."""
    tasks = {row.agent or row.branch: row.task for row in view.scan(WORKTREE, "key") if row.task}
    for state in (HANDED_OVER, TAKEN):
        tasks |= {task.agent: task.id for task in view.scan(TASK, "ready", (state,)) if task.agent}
    return tasks


def open_findings(view: View) -> list[FindingRow]:
    """Everything that holds now, what interrupts first."""
    return sorted(view.scan(FINDING, "key"), key=lambda row: not row.interrupts)


def between(rows: Iterable[FindingRow], names: Sequence[str]) -> list[FindingRow]:
    """The findings in which each of the names is a side; all of them for no name."""
    return [row for row in rows if set(names) <= set(split_names(row.agents))]


def show(row: FindingRow, reader: str = "") -> dict[str, Any]:
    """A finding as data. `next`: the command for `reader`, or for the side that it concerns."""
    return {
        "id": show_number(row.id),
        "kind": row.kind,
        "agents": split_names(row.agents),
        "files": split_names(row.files),
        "symbol": row.symbol,
        "old": row.old,
        "new": row.new,
        "detail": row.detail,
        "confidence": row.confidence,
        "interrupts": bool(row.interrupts),
        "task": f"T-{row.task}" if row.task else "",
        "since": show_wall(row.since_ns),
        "next": next_command(row, reader),
    }


def check_kind(kind: str) -> str:
    if kind not in KINDS:
        raise refuse("radar.kind", kind=kind, known=list(KINDS))
    return kind


def mute(store: Store, caller: Caller, kind: str, path: str, *, muted: bool = True) -> dict[str, Any]:
    """Silence a kind of finding at or below a path, or no longer. What is open there ends at once; the next
    pass finds again what is no longer muted."""
    kind, path = check_kind(kind), normalise(path)

    def work(tx: Tx) -> dict[str, Any]:
        ended = []
        if (tx.get(MUTE, (kind, path)) is not None) != muted:
            ensure_agent(tx, caller)
            subject = f"file:{path}" if path else "radar"
            tx.append(Draft("FindingMuted", subject, kind=kind, path=path, muted=int(muted)))
        if muted:
            ended = muted_by(tx.scan(FINDING, "key"), kind, path)
            for row in ended:
                tx.append(end(row, MUTED))
        return {"kind": kind, "path": path, "muted": muted, "ended": [show_number(row.id) for row in ended]}

    arguments = {"kind": kind, "path": path, "muted": muted}
    near = (by_key(MUTE, kind, path), by_index(FINDING, "key"))
    return once(store, caller, "radar mute", arguments, work, near=near)


def mutes(view: View) -> list[dict[str, Any]]:
    return [{"kind": row.kind, "path": row.path, "by": row.agent} for row in view.scan(MUTE, "key")]
