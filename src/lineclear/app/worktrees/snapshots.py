"""Find the work that a name stands for, and the snapshot that a number or ref stands for."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING

from lineclear.core.agents.names import is_main_tree
from lineclear.core.log.tables import AGENT, TASK, WORKTREE
from lineclear.core.words.refusals import refuse
from lineclear.core.worktrees.snapshots import PREFIX, Kept, ref_prefix

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lineclear.app.ports import Presence, View
    from lineclear.core.log.tables import Worktree


@dataclass(slots=True, eq=False)
class Work:
    """Somebody's work: who does it, where, on which branch. Unknown texts are ""."""

    agent: str
    _: KW_ONLY
    tree: str = ""
    path: str = ""
    branch: str = ""
    base: str = ""
    task: int = 0


def find_work(view: View, name: str, *, scope: str = "") -> Work:
    """The work that an agent's name, a task's id or a worktree's name stands for; the newest of several."""
    number = task_id(name)
    all_rows = view.scan(WORKTREE, "key") if name else []
    if number:
        rows = [row for row in all_rows if row.task == number]
    else:
        rows = [row for row in all_rows if name in (row.name, row.agent, row.name.removeprefix(scope))]
    if rows:
        return _of_row(max(rows, key=lambda row: row.made))
    task = view.get(TASK, (number,)) if number else None
    if task is not None and (task.agent or task.branch):
        return Work(task.agent, branch=task.branch, task=task.id)
    agent = view.get(AGENT, (name,))
    if agent is None or agent.kind == "person":
        raise refuse("look.nothing", name=name)
    return Work(agent.name, tree=agent.tree)


def _of_row(row: Worktree) -> Work:
    return Work(
        row.agent, tree=row.name, path=row.path, branch=row.branch, base=row.base, task=row.task
    )  # fmt: skip


def work_in(view: View, presence: Presence, tree: str, path: str, silence_ms: int) -> list[Work]:
    """The work of a worktree's live agents. Only those with a recent sign of life count; if there is none,
    the one that joined last, but not in the main tree, which others share."""
    here = [
        agent
        for agent in view.pick(AGENT, "tree", (tree,))
        if agent.kind == "agent" and agent.state == "here" and "/" not in agent.name
    ]
    row = view.get(WORKTREE, (tree,))
    if not here and row is not None and row.agent and view.get(AGENT, (row.agent,)) is None:
        return [_of_row(row)]  # its agent has not joined yet
    idle_ns = {agent.name: presence.idle_ns(agent.name) for agent in here}
    recent = [
        agent for agent in here if (idle := idle_ns[agent.name]) is not None and idle < silence_ms * 1_000_000
    ]
    is_main = is_main_tree(tree)
    chosen = recent or ([] if is_main else sorted(here, key=lambda agent: agent.joined)[-1:])
    task = row.task if row is not None else 0
    return [Work(agent.name, tree=tree, path=path, task=task) for agent in chosen]


def task_id(name: str) -> int:
    """12 for `T-12`; 0 if the name is not a task's id."""
    digits = name[2:] if name[:2] in ("T-", "t-") else ""
    return int(digits) if digits.isdecimal() and len(digits) <= 15 else 0


def choose(found: Sequence[Kept], name: str) -> Kept:
    """The snapshot that a ref, its last parts (`ada/3`), a commit id, or an agent's name (its newest) stands
    for."""
    wanted = name.removeprefix(PREFIX)
    agent, _, number = wanted.rpartition("/")
    for kept in found:
        if number.isdecimal() and kept.ref in (f"{ref_prefix(agent)}{int(number)}", PREFIX + wanted):
            return kept
    for kept in found:
        if kept.agent == name:
            return kept
    same = [kept for kept in found if len(name) >= 7 and kept.commit.startswith(name.lower())]
    if not same:
        raise refuse("snapshot.none", snapshot=name)
    return same[0]
