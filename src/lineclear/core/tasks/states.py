"""The states of a task, and the one table of legal moves."""

from __future__ import annotations

from lineclear.core.log.events import Draft

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from lineclear.core.instants import Instant
    from lineclear.core.log.tables import Task

OPEN, TAKEN, HANDED_OVER = "open", "taken", "handed over"
MERGED, ACCEPTED, FAILED, CANCELLED = "merged", "accepted", "failed", "cancelled"
STATES = (OPEN, TAKEN, HANDED_OVER, MERGED, ACCEPTED, FAILED, CANCELLED)

# A task becomes ready when all tasks that it waits for are finished; ended tasks never move by themselves.
FINISHED = frozenset((MERGED, ACCEPTED))
ENDED = frozenset((MERGED, ACCEPTED, FAILED, CANCELLED))

MOVES: dict[tuple[str, str], str] = {
    (OPEN, "TaskTaken"): TAKEN,
    (OPEN, "TaskCancelled"): CANCELLED,
    (OPEN, "TaskSame"): CANCELLED,
    (OPEN, "TaskFailed"): FAILED,
    (TAKEN, "TaskReturned"): OPEN,
    (TAKEN, "TaskPutBack"): OPEN,
    (TAKEN, "TaskHandedOver"): HANDED_OVER,
    (TAKEN, "TaskAccepted"): ACCEPTED,
    (TAKEN, "TaskFailed"): FAILED,
    (TAKEN, "TaskCancelled"): CANCELLED,
    (TAKEN, "TaskSame"): CANCELLED,
    (HANDED_OVER, "TaskReturned"): OPEN,
    (HANDED_OVER, "TaskMerged"): MERGED,
    (HANDED_OVER, "TaskAccepted"): ACCEPTED,
    (HANDED_OVER, "TaskFailed"): FAILED,
    (HANDED_OVER, "TaskCancelled"): CANCELLED,
    (FAILED, "TaskReopened"): OPEN,
    (CANCELLED, "TaskReopened"): OPEN,
}

DEFAULT_PRIORITY, LEAST_PRIORITY = 5, 9


def show_id(task_id: int) -> str:
    return f"T-{task_id}"


def end_lapsed(
    taken: Iterable[Task],
    now: Instant,
    is_gone: Callable[[str], bool],
    is_unstarted: Callable[[Task], bool],
) -> list[Draft]:
    """Give back each task whose lease ran out or whose holder died; it fails if its attempts are used up."""
    drafts = []
    for task in taken:
        if is_gone(task.agent):
            drafts.append(give_back(task, f"{task.agent} is gone", is_unstarted=is_unstarted(task)))
        elif task.until_ns <= now.tick_ns:
            why = f"the lease of {task.agent} ran out"
            drafts.append(give_back(task, why, is_unstarted=is_unstarted(task)))
    return drafts


def give_back(task: Task, why: str, *, is_unstarted: bool = False) -> Draft:
    """Return the task for its next attempt, or fail it if its attempts are used up. `is_unstarted`: no client
    was started for this attempt, so it does not count."""
    subject = show_id(task.id)
    if is_unstarted:
        return Draft("TaskPutBack", subject, id=task.id, why=why)
    if task.attempt >= task.attempts_max:
        times = "1 attempt" if task.attempt == 1 else f"{task.attempt} attempts, the last one"
        reason = f"given up after {times}: {why}"
        return Draft("TaskFailed", subject, id=task.id, reason=reason)
    return Draft("TaskReturned", subject, id=task.id, why=why)


def closes_cycle(task_id: int, after: int, deps_of: Callable[[int], list[int]]) -> list[int]:
    """The cycle task -> after -> ... -> task that a new dependency would close; [] if there is none."""
    paths = [[task_id, after]]
    seen: set[int] = set()
    while paths:
        path = paths.pop()
        if path[-1] == task_id:
            return path
        if path[-1] in seen:
            continue
        seen.add(path[-1])
        paths.extend([*path, dep] for dep in deps_of(path[-1]))
    return []
