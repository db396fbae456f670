"""Is there an order of the operations that explains every answer? A checker for recorded histories.

Depth-first over (set of operations already ordered, state of the model), each pair visited once. An
operation may come next if it was called before the earliest return of those still to be ordered.
An operation whose outcome is unknown never returned: it may have happened at any time, or not at all.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass

NEVER = 1 << 63

State = Hashable


@dataclass(frozen=True)
class Operation:
    """What was asked of one object and answered, between two instants of the host's one clock."""

    target: str
    verb: str
    agent: str
    given: Hashable
    answer: Hashable
    called_ns: int
    returned_ns: int  # NEVER: the outcome is unknown

    @property
    def is_unknown(self) -> bool:
        return self.returned_ns == NEVER


# Gives the states after an operation with this answer; none if the answer is impossible in that state.
Model = Callable[[State, Operation], Iterable[State]]


def is_linearizable(history: list[Operation], start: State, model: Model) -> bool:
    operations = sorted(history, key=lambda operation: operation.called_ns)
    known = sum(1 << place for place, operation in enumerate(operations) if not operation.is_unknown)
    seen: set[tuple[int, State]] = set()
    open_paths: list[tuple[int, State]] = [(0, start)]
    while open_paths:
        ordered, state = open_paths.pop()
        if ordered & known == known:
            return True
        if (ordered, state) in seen:
            continue
        seen.add((ordered, state))
        waiting = [place for place in range(len(operations)) if not ordered >> place & 1]
        first_return = min(operations[place].returned_ns for place in waiting)
        for place in waiting:
            if operations[place].called_ns > first_return:
                break
            for after in model(state, operations[place]):
                open_paths.append((ordered | 1 << place, after))
    return False


def by_target(history: Iterable[Operation]) -> dict[str, list[Operation]]:
    parts: dict[str, list[Operation]] = {}
    for operation in history:
        parts.setdefault(operation.target, []).append(operation)
    return parts


# -- models -----------------------------------------------------------------------------------

FREE = ("", 0)  # (holder, last fence)


def fenced_lock(state: State, operation: Operation) -> Iterable[State]:
    """claim -> the fence, or None when refused; release -> True."""
    assert isinstance(state, tuple)
    holder, fence = state
    if operation.verb == "release":
        return [("", fence)] if holder == operation.agent else []
    if operation.answer is None:
        return [state] if holder not in ("", operation.agent) else []
    assert isinstance(operation.answer, int)
    return [(operation.agent, operation.answer)] if holder == "" and operation.answer > fence else []


ABSENT = (0, None)  # (version, value)


def versioned_register(state: State, operation: Operation) -> Iterable[State]:
    """get -> (version, value); put of (expected version, value) -> the new version, or None when stale."""
    assert isinstance(state, tuple)
    version, _ = state
    if operation.verb == "get":
        return [state] if operation.answer == state else []
    assert isinstance(operation.given, tuple)
    expected, value = operation.given
    if operation.answer is None:
        return [state] if expected != version else []
    return [(version + 1, value)] if expected == version and operation.answer == version + 1 else []


def work_queue(state: State, operation: Operation) -> Iterable[State]:
    """take -> a task that was open, or None when none is; the state is the set of open tasks."""
    assert isinstance(state, frozenset)
    if operation.answer is None:
        return [state] if not state else []
    return [state - {operation.answer}] if operation.answer in state else []
