"""Is there an order of the operations that explains every answer? A checker for recorded histories.

Depth-first over (set of operations already ordered, state of the model), each pair visited once. An
operation may come next if it was called before the earliest return of those still to be ordered.
An operation whose outcome is unknown never returned: it may have happened at any time, or not at all.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass
from itertools import combinations
from typing import Any

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


# -- models: for an operation whose outcome is unknown, the states after any answer that changes something

FREE = ("", 0)  # (holder, the last fence that anybody heard of)


def fenced_lock(state: State, operation: Operation) -> Iterable[State]:
    """claim -> the fence, or the holder's name when refused; release -> whether it was the caller's."""
    assert isinstance(state, tuple)
    holder, fence = state
    is_mine, answer = holder == operation.agent, operation.answer
    if operation.verb == "release":
        changed = [("", fence)] if is_mine else []
        return [state] if answer is False and not is_mine else changed if answer is not False else []
    if operation.is_unknown:
        return [(operation.agent, fence)] if not holder else []
    if isinstance(answer, str):
        return [state] if answer == holder != operation.agent else []
    assert isinstance(answer, int)
    if is_mine:
        return [state] if answer == fence else []  # asked again: renewed, under the same fence
    return [(operation.agent, answer)] if not holder and answer > fence else []


ABSENT = (0, None)  # (version, value)


def versioned_register(state: State, operation: Operation) -> Iterable[State]:
    """get -> (version, value); put of (expected version, value) -> the new version, or None when stale."""
    assert isinstance(state, tuple)
    version, _ = state
    if operation.verb == "get":
        return [state] if operation.answer == state else []
    assert isinstance(operation.given, tuple)
    expected, value = operation.given
    if expected != version:
        return [state] if operation.answer is None else []
    return [(version + 1, value)] if operation.is_unknown or operation.answer == version + 1 else []


EMPTY: State = ()  # for each task, by number: (number, its state, agent, attempt, has a brief lease)
OPEN, TAKEN, ENDED = "open", "taken", "ended"
ATTEMPTS = 4


def leased_queue(state: State, operation: Operation) -> Iterable[State]:
    """add -> its number; take, given whether the lease is brief -> (number, attempt) of the first open one,
    or None; finish and give back, given the number -> whether it was the caller's. A brief lease may have
    run out, and somebody may have noticed, before any of them."""
    assert isinstance(state, tuple)
    step = {"add": _add, "take": _take}.get(operation.verb, _end)
    return [after for lapsed in _lapsed(state) for after in step(lapsed, operation)]


def _add(state: tuple[Any, ...], operation: Operation) -> list[State]:
    newest, number = state[-1][0] if state else 0, operation.answer
    assert isinstance(number, int), "whoever adds lives to tell"
    return [(*state, (number, OPEN, "", 0, False))] if number > newest else []


def _end(state: tuple[Any, ...], operation: Operation) -> list[State]:
    task = next(task for task in state if task[0] == operation.given)
    is_mine = task[1:3] == (TAKEN, operation.agent)
    if not is_mine or operation.answer is False:
        return [state] if not is_mine and operation.answer is False else []
    if operation.verb == "give back":
        return [_returned(state, task)]
    return [_changed(state, task[0], (ENDED, operation.agent, task[3], False))]


def _take(state: tuple[Any, ...], operation: Operation) -> list[State]:
    first = next((task for task in state if task[1] == OPEN), None)
    if first is None:
        return [state] if operation.answer is None and not operation.is_unknown else []
    number, attempt = first[0], first[3] + 1
    if not operation.is_unknown and operation.answer != (number, attempt):
        return []
    return [_changed(state, number, (TAKEN, operation.agent, attempt, operation.given))]


def _lapsed(state: tuple[Any, ...]) -> Iterable[tuple[Any, ...]]:
    """The state with each possible choice of brief leases run out."""
    brief = [task for task in state if task[1] == TAKEN and task[4]]
    for count in range(len(brief) + 1):
        for chosen in combinations(brief, count):
            after = state
            for task in chosen:
                after = _returned(after, task)
            yield after


def _returned(state: tuple[Any, ...], task: tuple[Any, ...]) -> tuple[Any, ...]:
    number, _, agent, attempt, _ = task
    return _changed(state, number, (ENDED if attempt >= ATTEMPTS else OPEN, agent, attempt, False))


def _changed(state: tuple[Any, ...], number: int, columns: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple((number, *columns) if task[0] == number else task for task in state)
