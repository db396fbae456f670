"""Histories: what several processes asked of one store at once and were answered, each with its times.

Every process writes a line before it asks and a line when it is answered: of one that dies in between, the
question is there and the answer is not.
"""

from __future__ import annotations

import json
import os
import random
import signal
import time
from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from lineclear.app import tasks
from lineclear.app.ports import Caller
from lineclear.core.log.tables import VALUE
from lineclear.core.tasks.lists import TaskDraft
from lineclear.core.words.refusals import Refusal
from tests.engines import Place
from tests.linearizability import ATTEMPTS, NEVER, Operation
from tests.mutants import mutated
from tests.racing import Rounds
from tests.verbs import Desk

if TYPE_CHECKING:
    from lineclear.app.ports import Store, Tx
    from lineclear.core.log.queries import Question

T = TypeVar("T")
RACERS, THINGS, TASKS_EACH = 6, 3, 2
QUICK_TO_RELEASE = 0.7
LOCK, REGISTER, QUEUE = "lock", "value", "queue"


@dataclass(frozen=True)
class Plan:
    """How histories are made, one per round. With deaths, one process of each round dies inside it."""

    place: Place
    directory: str
    steps: int
    mutant: str = ""
    has_deaths: bool = False


def recorder(desk: Desk, number: int, rounds: Rounds, plan: Plan) -> None:
    """A racer: every round is a history of its own, about things of its own."""
    desk = mutated(desk, plan.mutant)
    for seed in rounds:
        if plan.has_deaths and number == seed % RACERS:
            _die_in_a_fork(number, seed, rounds, plan)
        else:
            worker = Worker(desk, number, seed, plan)
            worker.add_tasks()
            rounds.meet()
            worker.act()


def _die_in_a_fork(number: int, seed: int, rounds: Rounds, plan: Plan) -> None:
    fork = os.fork()
    if fork == 0:
        desk = Desk(plan.place.open(), plan.place.liveness())
        worker = Worker(desk, number, seed, plan)
        worker.add_tasks()
        rounds.meet()
        _make_deadly(desk.store, worker.dice, plan.steps // 2)
        while True:
            worker.act()
    os.waitpid(fork, 0)


def _make_deadly(store: Store, dice: random.Random, longest: int) -> None:
    """One of the next transactions is the last one: dead before its commit, or right after it."""
    transact, left = store.transact, [dice.randrange(1, longest)]

    def deadly(caller: Caller, work: Callable[[Tx], T], near: Iterable[Question] = (), /) -> T:
        left[0] -= 1
        if left[0]:
            return transact(caller, work, near)
        try:
            if dice.random() < 0.5:
                transact(caller, work, near)
        finally:
            os.kill(os.getpid(), signal.SIGKILL)
        raise AssertionError("survived a kill -9")

    store.transact = deadly  # type: ignore[method-assign]


class Worker:
    """One process in one round: acts at random, and writes down what it asked and was answered."""

    def __init__(self, desk: Desk, number: int, seed: int, plan: Plan) -> None:
        self._desk, self._seed, self._plan = desk, seed, plan
        self._name = f"agent-{number}"
        self._taken: list[int] = []
        self._versions: dict[str, int] = defaultdict(int)
        self.dice = random.Random(f"{seed}/{number}")
        self._fd = os.open(f"{plan.directory}/{number}", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)

    def act(self) -> None:
        acts = (self._claim, self._release, self._put, self._get, self._take, self._end)
        for _ in range(self._plan.steps):
            self.dice.choice(acts)()

    def add_tasks(self) -> None:
        draft = TaskDraft("", "work", needs=[f"history-{self._seed}"])
        caller = Caller(self._name)
        for _ in range(TASKS_EACH):
            self._record(
                QUEUE,
                "add",
                None,
                lambda: _number(tasks.add(self._desk.store, caller, draft, attempts_max=ATTEMPTS)),
            )

    def _record(self, target: str, verb: str, given: Any, act: Callable[[], Any], **refusals: Any) -> Any:
        """`refusals`: what an expected one is as an answer, by its code with an underscore for the dot."""
        self._write("asked", target, verb, given)
        try:
            answer = act()
        except Refusal as refusal:
            code = refusal.code.replace(".", "_")
            if code not in refusals:
                return self._break(refusal)
            answer = refusal.facts.get(refusals[code], refusals[code])
        except Exception as error:  # noqa: BLE001  # a store with a planted bug may break in any way
            return self._break(error)
        self._write("answered", answer)
        return answer

    def _break(self, error: Exception) -> None:
        if not self._plan.mutant:
            raise error
        self._write("broken")

    def _write(self, what: str, *words: Any) -> None:
        os.write(self._fd, (json.dumps([what, time.monotonic_ns(), self._seed, *words]) + "\n").encode())

    # -- locks, values, tasks -------------------------------------------------------------------

    def _thing(self) -> str:
        return f"{self._seed}-{self.dice.randrange(THINGS)}"

    def _claim(self) -> None:
        thing = self._thing()
        fence = self._record(
            f"{LOCK} {thing}",
            "claim",
            None,
            lambda: self._desk.claim(self._name, f"api:{thing}")["fence"],
            claim_held="holder",
        )
        if isinstance(fence, int) and self.dice.random() < QUICK_TO_RELEASE:
            self._release(thing)

    def _release(self, thing: str = "") -> None:
        thing = thing or self._thing()
        self._record(
            f"{LOCK} {thing}",
            "release",
            None,
            lambda: bool(self._desk.release(self._name, f"api:{thing}")["released"]),
            claim_not_held=False,
            claim_not_yours=False,
        )

    def _put(self) -> None:
        key, value = self._thing(), self.dice.randrange(10**6)
        expected = self._versions[key]
        new = self._record(
            f"{REGISTER} {key}",
            "put",
            [expected, value],
            lambda: self._desk.put(self._name, key, str(value), version=expected)["version"],
            value_stale=None,
            value_exists=None,
        )
        if new is not None:
            self._versions[key] = new

    def _get(self) -> None:
        key = self._thing()
        found = self._record(f"{REGISTER} {key}", "get", None, lambda: self._read(key))
        if found is not None:
            self._versions[key] = found[0]

    def _read(self, key: str) -> list[int | None]:
        value = self._desk.store.read(lambda view: view.get(VALUE, (key,)))
        return [0, None] if value is None else [value.version, int(value.json)]

    def _take(self) -> None:
        is_brief = self.dice.random() < 0.2
        taken = self._record(QUEUE, "take", is_brief, lambda: self._take_next(is_brief), task_none=None)
        if taken is not None:
            self._taken.append(taken[0])

    def _take_next(self, is_brief: bool) -> list[int]:
        lease_ms = 1 if is_brief else 3_600_000
        taken = self._desk.take_task(self._name, lease_ms=lease_ms, skills=(f"history-{self._seed}",))
        return [_number(taken), taken["task"]["attempt"]]

    def _end(self) -> None:
        if not self._taken:
            return
        number = self.dice.choice(self._taken)
        verb, end = self.dice.choice(
            (("finish", self._desk.finish_task), ("give back", self._desk.fail_task)),
        )
        self._record(
            QUEUE, verb, number, lambda: bool(end(self._name, number)), task_not_yours=False, task_state=False
        )


def _number(answer: dict[str, Any]) -> int:
    return int(answer["task"]["id"].removeprefix("T-"))


def read_histories(directory: Path) -> dict[int, list[Operation]]:
    """Seed -> all that was asked in its round, by whomever."""
    histories: dict[int, list[Operation]] = defaultdict(list)
    for path in directory.iterdir():
        lines = [json.loads(line) for line in path.read_text().splitlines()]
        for line, following in zip(lines, [*lines[1:], ["broken"]], strict=True):
            if line[0] == "asked":
                histories[line[2]].append(_operation(f"agent-{path.name}", line, following))
    return histories


def _operation(agent: str, asked: list[Any], following: list[Any]) -> Operation:
    _, called_ns, _, target, verb, given = asked
    is_answered = following[0] == "answered"
    return Operation(
        target,
        verb,
        agent,
        _plain(given),
        _plain(following[3]) if is_answered else None,
        called_ns,
        following[1] if is_answered else NEVER,
    )


def _plain(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value
