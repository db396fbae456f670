"""Which task `task next` gives to an agent; which tasks `run` starts, on which workers; why some never start.

Workers are matched to tasks so that as many as possible work. A task goes first if nobody works in its
scope; but a crowded task is better than an idle worker, since agents see each other's work and it is merged.
Of tasks with the same priority, those go last whose scope the radar has found trouble in.
A task whose scope somebody holds exclusively is not started. Nothing here takes a task: the store does.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING

from lineclear.core.agents.names import is_family
from lineclear.core.claims.resources import overlaps, resource_of
from lineclear.core.log.tables import split_names
from lineclear.core.tasks.states import CANCELLED, FAILED, FINISHED, OPEN, TAKEN, show_id
from lineclear.core.words.refusals import shorten

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

    from lineclear.core.claims.resources import Resource
    from lineclear.core.log.tables import Task


def is_fit(task: Task, skills: frozenset[str]) -> bool:
    """Does this agent have everything that the task needs (a client's name, a skill)?"""
    return all(need in skills for need in task.needs.split("\n")) if task.needs else True


def choose_next(
    ready: Iterable[Task], skills: frozenset[str], is_crowded: Callable[[Task], bool]
) -> tuple[Task | None, bool]:
    """(the first fitting task whose scope nobody else works in, else the first fitting one; is it crowded?)

    `ready` comes in order of priority, then age.
    """
    crowded: Task | None = None
    for task in ready:
        if not is_fit(task, skills):
            continue
        if not is_crowded(task):
            return task, False
        crowded = crowded or task
    return crowded, crowded is not None


def calm_first(ready: Iterable[Task], troubled: Sequence[str]) -> Iterator[Task]:
    """The tasks by priority as they come, but within a priority those that meet trouble last.

    `troubled`: the files of open findings, as resources in stored form. No task is left out.
    """
    places = [resource_of(text) for text in troubled]
    for _, tasks in groupby(ready, key=lambda task: task.priority):
        late = []
        for task in tasks:
            if meets(task, places):
                late.append(task)
            else:
                yield task
        yield from late


def meets(task: Task, places: Iterable[Resource]) -> bool:
    """Does the task's scope overlap one of these?"""
    scope = [resource_of(text) for text in split_names(task.scope)]
    return any(overlaps(own, place) for place in places for own in scope)


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskWorker:
    """A worker that could run a task: its name, its skills, and whether it gets a worktree."""

    name: str
    client: str = ""
    labels: frozenset[str] = frozenset()
    has_worktree: bool = True

    def skills(self) -> frozenset[str]:
        return self.labels | ({self.client, self.name} - {""})


@dataclass(frozen=True, slots=True)
class TaskStart:
    """A task and its worker. `is_crowded`: somebody already works in the task's scope."""

    task_id: int
    worker: str
    is_crowded: bool


@dataclass(frozen=True, slots=True)
class Stuck:
    """A task that no worker can ever start as things are, and the reason as text for a person."""

    task_id: int
    reason: str


# -- what starts now --------------------------------------------------------------------------


def choose_starts(
    *,
    workers: Iterable[TaskWorker],
    ready: Iterable[Task],
    busy_scopes: Iterable[str] = (),
    exclusive: Iterable[tuple[str, str]] = (),
    avoid: Mapping[int, str] | None = None,
    troubled: Sequence[str] = (),
) -> list[TaskStart]:
    """The tasks to start, at most one for each idle worker, in the order of `calm_first`.

    `ready` comes in order of priority, then age. `busy_scopes` are the scopes of tasks in progress and
    the claims of agents, as stored; `exclusive` are (holder, resource) of exclusive claims. `avoid`
    maps a task to the worker that just failed at it, which gets it again only if no other worker can.
    `troubled` are the files of open findings: a task that meets one waits behind its equals.
    """
    held = [(holder, resource_of(text)) for holder, text in exclusive]
    busy = [resource_of(text) for text in busy_scopes]
    matching = _Matching(sorted(workers, key=_narrowness))
    seen: list[_Wish] = []
    crowded: list[_Wish] = []
    for task in calm_first(ready, troubled):
        # The list of tasks may be much longer than the team: stop as soon as every worker has a task.
        if matching.is_full():
            break
        wish = _Wish(task, held, avoid.get(task.id, "") if avoid else "")
        seen.append(wish)
        if wish.touches(busy):
            crowded.append(wish)
        elif matching.seat(wish):
            busy.extend(wish.scope)
    late = {wish.task.id for wish in crowded if matching.seat(wish)}
    pairs = matching.pairs()
    ids = [wish.task.id for wish in seen if wish.task.id in pairs]
    return [TaskStart(task_id, pairs[task_id], task_id in late) for task_id in ids]


def _narrowness(worker: TaskWorker) -> tuple[int, str]:
    """Workers with fewer skills are tried first, so that the others stay free for what only they can do."""
    return len(worker.labels), worker.name


class _Wish:
    """A ready task with its parsed scope, the exclusive holders inside it, and the worker to avoid."""

    def __init__(self, task: Task, held: list[tuple[str, Resource]], avoided: str) -> None:
        self.task, self.avoided = task, avoided
        self.scope = [resource_of(text) for text in split_names(task.scope)]
        self.holders = [holder for holder, resource in held if self.touches([resource])]

    def touches(self, others: list[Resource]) -> bool:
        return any(overlaps(own, other) for own in self.scope for other in others)

    def suits(self, worker: TaskWorker) -> bool:
        if not can_do(worker, self.task):
            return False
        return all(is_family(worker.name, holder) for holder in self.holders)


def can_do(worker: TaskWorker, task: Task) -> bool:
    """Does the worker have every skill that the task needs?

    A worker without a worktree cannot change files: it takes only tasks that name one of its skills.
    """
    return is_fit(task, worker.skills()) and (worker.has_worktree or bool(task.needs))


class _Matching:
    """A matching of tasks to workers. A matched task stays matched, but may move to another worker to make
    room for a new one."""

    def __init__(self, workers: list[TaskWorker]) -> None:
        self._workers = workers
        self._seated: dict[str, _Wish] = {}

    def is_full(self) -> bool:
        return len(self._seated) == len(self._workers)

    def seat(self, wish: _Wish) -> bool:
        return not self.is_full() and self._try(wish, set())

    def _try(self, wish: _Wish, asked: set[str]) -> bool:
        suitable = [worker.name for worker in self._workers if wish.suits(worker)]
        others = [name for name in suitable if name != wish.avoided]
        return self._try_among(wish, others, asked) or self._try_among(wish, suitable, asked)

    def _try_among(self, wish: _Wish, names: list[str], asked: set[str]) -> bool:
        for name in names:
            if name not in self._seated:
                self._seated[name] = wish
                return True
        for name in names:
            if name in asked:
                continue
            asked.add(name)
            if self._try(self._seated[name], asked):
                self._seated[name] = wish
                return True
        return False

    def pairs(self) -> dict[int, str]:
        return {wish.task.id: name for name, wish in self._seated.items()}


# -- what never starts ------------------------------------------------------------------------


def blocked_forever(
    *, tasks: Iterable[Task], workers: Iterable[TaskWorker], deps: Mapping[int, Iterable[int]]
) -> list[Stuck]:
    """Open tasks that can never start as things are, by number, each with the nearest reason.

    `tasks` includes all tasks that the open ones depend on, also ended ones; `deps` maps a task to those it
    comes after; `workers` is the whole team, busy or not.
    """
    known = {task.id: task for task in tasks}
    team = list(workers)
    reasons = {task.id: _own_reason(task, known, team, deps) for task in known.values() if task.state == OPEN}
    _spread(reasons, deps)
    return [Stuck(number, reason) for number, reason in sorted(reasons.items()) if reason]


def not_now(
    *,
    tasks: Iterable[Task],
    deps: Mapping[int, Iterable[int]],
    exclusive: Iterable[tuple[str, str, str]],
    only: Collection[int],
) -> list[Stuck]:
    """Tasks that cannot start now but may start later, by number, each with the reason. Of `only`, the tasks
    that were asked for, also those that have ended.

    `exclusive`: (holder, resource, until when as text) of exclusive claims; `deps` as in `blocked_forever`.
    """
    known = {task.id: task for task in tasks}
    held = [(resource_of(text), f"{holder} holds {text} {until}") for holder, text, until in exclusive]
    found = []
    for number, task in sorted(known.items()):
        reason = ""
        if task.state == OPEN:
            before = [known[dep] for dep in sorted(deps.get(number, ())) if dep in known]
            waits = [dep for dep in before if dep.state not in FINISHED]
            scope = [resource_of(text) for text in split_names(task.scope)]
            holds = [words for other, words in held if any(overlaps(own, other) for own in scope)]
            if waits:
                reason = f"it comes after {show_id(waits[0].id)}, which is {waits[0].state}"
            elif holds:
                reason = holds[0]
        elif task.state == TAKEN:
            reason = f"{task.agent} works on it"
        elif number in only:
            reason = f"it is {task.state}"
        if reason:
            found.append(Stuck(number, reason))
    return found


def _own_reason(
    task: Task, known: Mapping[int, Task], team: list[TaskWorker], deps: Mapping[int, Iterable[int]]
) -> str:
    for dep in sorted(deps.get(task.id, ())):
        if dep in known and known[dep].state in (FAILED, CANCELLED):
            return f"it comes after {show_id(dep)}, which is {known[dep].state}"
    if any(can_do(worker, task) for worker in team):
        return ""
    if not team:
        return "there is no worker"
    everything = frozenset().union(*(worker.skills() for worker in team))
    missing = [need for need in split_names(task.needs) if need not in everything]
    if missing:
        return f"it needs {_listed(missing)}, which no worker has"
    if task.needs:
        return f"it needs {_listed(split_names(task.needs))}, and no single worker has all of these"
    return "no worker has a worktree"


def _listed(names: list[str]) -> str:
    return shorten(", ".join(names), 120)


def _spread(reasons: dict[int, str], deps: Mapping[int, Iterable[int]]) -> None:
    """Adds the tasks that come after a stuck task: they are stuck too."""
    after: dict[int, list[int]] = {}
    for number in sorted(reasons):
        for dep in deps.get(number, ()):
            after.setdefault(dep, []).append(number)
    found = sorted(number for number, reason in reasons.items() if reason)
    while found:
        stuck = found.pop(0)
        for number in after.get(stuck, ()):
            if not reasons[number]:
                reasons[number] = f"it comes after {show_id(stuck)}, which cannot start"
                found.append(number)
