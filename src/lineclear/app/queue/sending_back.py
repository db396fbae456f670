"""Gather what the author of work that came back should know. Reads; sends nothing and changes nothing."""

from __future__ import annotations

from lineclear.app.queue.sides import hands, known_owners, owner_from
from lineclear.core.queue.sending_back import Brief, symbols_of
from lineclear.core.tasks.states import show_id

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from lineclear.app.ports import View
    from lineclear.core.log.tables import Task
    from lineclear.core.queue.sides import Touch


def brief_for(
    view: View, kind: str, task: Task, *, branch: str, main: str, why: str, files: Sequence[str] = (),
    conflicts: Sequence[dict[str, Any]] = (), touches: Sequence[Touch] = (), own: Sequence[Touch] = (),
    command: str = "", output: str = "", is_prepared: bool = False,
) -> Brief:  # fmt: skip
    """`conflicts` as a merge report tells them; `touches` are main's steps since both parted, `own` those of
    the branch, which may be another agent's."""
    known = known_owners(view, (*touches, *own))
    paths = [*files, *(conflict["path"] for conflict in conflicts if conflict["path"])]
    return Brief(
        kind,
        task=show_id(task.id),
        branch=branch,
        main=main,
        why=why,
        files=list(dict.fromkeys(paths)),
        symbols=symbols_of(conflicts),
        others=[hand for hand in hands(view, touches, known) if hand.task != show_id(task.id)],
        own=hands(view, own, known, owner_from(task.id, "")),
        command=command,
        output=output,
        is_prepared=is_prepared,
    )
