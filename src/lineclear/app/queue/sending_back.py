"""A candidate's end, as its task sees it: sent back to its author with a reason, or merged.

The runner (runner.py), reviews (reviewing.py) and people (candidates.py) decide it; these functions write it.
What the author of returned work reads is core/queue/return_letter.py.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lineclear.core.claims.granting import INTENT
from lineclear.core.claims.leases import claim_released
from lineclear.core.claims.resources import resource_of
from lineclear.core.log.events import Draft
from lineclear.core.log.tables import CLAIM, TASK, WORKTREE
from lineclear.core.queue.candidates import show_number
from lineclear.core.tasks.states import HANDED_OVER, give_back, show_id

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lineclear.app.ports import Tx, View
    from lineclear.core.log.tables import Candidate, Claim, Task


def send_back(
    tx: Tx, row: Candidate, kind: str, why: str, *, files: Sequence[str] = (), others: Sequence[int] = (),
    output: str = "",
) -> None:  # fmt: skip
    """End the candidate. Its task gets its next attempt, or fails if that was the last one."""
    tx.append(
        Draft(
            "CandidateSentBack",
            show_number(row.id),
            id=row.id,
            kind=kind,
            why=why,
            files=list(files),
            others=list(others),
            output=output,
        )
    )
    task = task_of(tx, row)
    if task is not None:
        tx.append(give_back(task, why))


def end_task(tx: Tx, row: Candidate, text: str, touched: Sequence[str] = ()) -> None:
    """Mark the candidate's task as merged, if it is still handed over. Release the claims made for the task,
    and the author's intents on the files that landed (`touched`)."""
    task = task_of(tx, row)
    if task is not None:
        tx.append(Draft("TaskNoted", show_id(task.id), id=task.id, text=text))
        tx.append(Draft("TaskMerged", show_id(task.id), id=task.id))
    if not row.task and not row.agent:
        return
    landed = set(touched)
    trees = {tree.name for tree in tx.scan(WORKTREE, "key") if tree.branch == row.branch}
    for claim in tx.scan(CLAIM, "key"):
        if (row.task and claim.task == row.task) or _is_landed(claim, row, landed, trees):
            tx.append(claim_released(claim, "landed"))


def _is_landed(claim: Claim, row: Candidate, landed: set[str], trees: set[str]) -> bool:
    """Is it an intent on a file that landed, by the candidate's author or its sub-agent, in its worktree?"""
    if claim.mode != INTENT or not row.agent or not f"{claim.agent}/".startswith(f"{row.agent}/"):
        return False
    resource = resource_of(claim.resource)
    is_its_copy = not trees or claim.tree in trees
    return is_its_copy and resource.kind in ("file", "symbol") and resource.path in landed


def task_of(view: View, row: Candidate) -> Task | None:
    """The candidate's task, if nobody has ended, returned or taken it again since."""
    task = view.get(TASK, (row.task,)) if row.task else None
    is_same = task is not None and task.state == HANDED_OVER and task.attempt == row.attempt
    return task if is_same else None
