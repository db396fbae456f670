"""Gather what the author of work that came back should know. Reads; sends nothing and changes nothing."""

from __future__ import annotations

from lineclear.core.sending_back import Brief, others_of, symbols_of
from lineclear.core.tables import TASK
from lineclear.core.tasks import show_id

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any

    from lineclear.app.ports import View
    from lineclear.core.sending_back import Other, Touch
    from lineclear.core.tables import Task


def brief_for(
    view: View, kind: str, task: Task, *, branch: str, main: str, why: str, files: Sequence[str] = (),
    conflicts: Sequence[dict[str, Any]] = (), touches: Iterable[Touch] = (), command: str = "",
    output: str = "", is_prepared: bool = False,
) -> Brief:  # fmt: skip
    """`conflicts` as a merge report tells them, `touches` as git tells main's commits since both parted."""
    paths = [*files, *(conflict["path"] for conflict in conflicts if conflict["path"])]
    return Brief(
        kind,
        task=show_id(task.id),
        branch=branch,
        main=main,
        why=why,
        files=list(dict.fromkeys(paths)),
        symbols=symbols_of(conflicts),
        others=[other for other in others(view, touches) if other.task != show_id(task.id)],
        command=command,
        output=output,
        is_prepared=is_prepared,
    )


def others(view: View, touches: Iterable[Touch]) -> list[Other]:
    """Who made these steps of main; a task's title is the store's, not the commit's."""

    def title_of(number: int) -> str:
        row = view.get(TASK, (number,))
        return row.title if row is not None else ""

    return others_of(touches, title_of)


def with_others(
    view: View, conflicts: Iterable[dict[str, Any]], touches: Sequence[Touch]
) -> list[dict[str, Any]]:
    """Each conflict with those who changed its path on main."""
    return [
        {
            **conflict,
            "others": [
                other.as_data()
                for other in others(view, (touch for touch in touches if _is_about(touch, conflict)))
            ],
        }
        for conflict in conflicts
    ]


def _is_about(touch: Touch, conflict: dict[str, Any]) -> bool:
    return any(path in touch.paths for path in (conflict["path"], *conflict.get("paths", ())))
