"""Racers that write down what they asked and were answered, for the linearizability checker.

The careless ones at the end decide on facts from one transaction and write in another: planted bugs,
which the checker must convict.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Hashable
from typing import TYPE_CHECKING, Any

from lineclear.app import claims, tasks, values
from lineclear.app.ports import Caller, NobodyDies
from lineclear.core.claims import EXCLUSIVE, Request, resource_of
from lineclear.core.events import Draft
from lineclear.core.refusals import Refusal
from lineclear.core.tables import CLAIM, VALUE
from tests.linearizability import Operation
from tests.racing import Rounds
from tests.verbs import Desk

if TYPE_CHECKING:
    from lineclear.app.ports import Store

FILES = ("file:a.py", "file:b.py", "file:c.py")
KEYS = ("x", "y", "z")
QUEUE = "queue"
LEASE_MS = 600_000
# Between looking and writing; long enough for another process to be in between.
CARELESS_PAUSE_S = 0.0005


def recorder(desk: Desk, number: int, rounds: Rounds, extra: Any) -> list[Operation]:
    """Each round one random operation, timed. `extra` is (seed, careless)."""
    seed, is_careless = extra
    dice = random.Random(f"{seed}/{number}")
    worker = Worker(desk.store, f"agent-{number}", is_careless=is_careless)
    rounds.meet()
    for _ in range(rounds.count):
        dice.choice((worker.claim_or_release, worker.put, worker.get, worker.take))(dice)
    return worker.history


class Worker:
    def __init__(self, store: Store, name: str, *, is_careless: bool) -> None:
        self._store, self._caller, self._is_careless = store, Caller(name), is_careless
        self._held: set[str] = set()
        self._read: dict[str, int] = dict.fromkeys(KEYS, 0)
        self.history: list[Operation] = []

    def claim_or_release(self, dice: random.Random) -> None:
        text = dice.choice(FILES)
        if text in self._held:
            self._held.discard(text)
            self._record(text, "release", None, lambda: bool(self._release(text)))
        else:
            fence = self._record(text, "claim", None, lambda: self._claim(text))
            if fence is not None:
                self._held.add(text)

    def put(self, dice: random.Random) -> None:
        key, value = dice.choice(KEYS), dice.randrange(10**6)
        expected = self._read[key]
        new = self._record(key, "put", (expected, value), lambda: self._put(key, expected, value))
        if isinstance(new, int):
            self._read[key] = new

    def get(self, dice: random.Random) -> None:
        key = dice.choice(KEYS)
        found = self._record(key, "get", None, lambda: self._get(key))
        assert isinstance(found, tuple)
        self._read[key] = found[0]

    def take(self, _dice: random.Random) -> None:
        self._record(QUEUE, "take", None, self._take)

    def _record(self, target: str, verb: str, given: Hashable, act: Callable[[], Hashable]) -> Hashable:
        called_ns = time.monotonic_ns()
        answer = act()
        returned_ns = time.monotonic_ns()
        self.history.append(Operation(target, verb, self._caller.name, given, answer, called_ns, returned_ns))
        return answer

    def _claim(self, text: str) -> int | None:
        if self._is_careless:
            return self._claim_carelessly(text)
        request = Request(self._caller.name, "main", EXCLUSIVE, [resource_of(text)], ttl_ms=LEASE_MS)
        try:
            fence: int = claims.ask(self._store, NobodyDies(), self._caller, request)["fence"]
        except Refusal as refusal:
            assert refusal.code == "claim.held"
            return None
        return fence

    def _release(self, text: str) -> list[str]:
        released: list[str] = claims.release(self._store, self._caller, [resource_of(text)])["released"]
        return released

    def _put(self, key: str, expected: int, value: int) -> int | None:
        if self._is_careless:
            return self._put_carelessly(key, expected, value)
        try:
            new: int = values.put(self._store, self._caller, [], key, str(value), version=expected)["version"]
        except Refusal as refusal:
            assert refusal.code in ("value.stale", "value.exists")
            return None
        return new

    def _get(self, key: str) -> tuple[int, int | None]:
        found = self._store.read(lambda view: view.get(VALUE, (key,)))
        return (0, None) if found is None else (found.version, int(found.json))

    def _take(self) -> str | None:
        try:
            task: str = tasks.take(self._store, NobodyDies(), self._caller, lease_ms=LEASE_MS)["task"]["id"]
        except Refusal as refusal:
            assert refusal.code == "task.none"
            return None
        return task

    # -- planted bugs: check, then act ----------------------------------------------------------

    def _claim_carelessly(self, text: str) -> int | None:
        resource = resource_of(text)
        if self._store.read(lambda view: view.pick(CLAIM, "node", (resource.node,))):
            return None
        time.sleep(CARELESS_PAUSE_S)
        draft = Draft(
            "ClaimGranted", text, resource=text, node=resource.node, mode=EXCLUSIVE, tree="main", note="",
            task=0, ttl_ms=LEASE_MS, bond="", until_ns=1 << 62,
        )  # fmt: skip
        return self._store.transact(self._caller, lambda tx: tx.append(draft).position)

    def _put_carelessly(self, key: str, expected: int, value: int) -> int | None:
        if self._get(key)[0] != expected:
            return None
        time.sleep(CARELESS_PAUSE_S)
        draft = Draft(
            "ValuePut", f"value:{key}", key=key, version=expected + 1, base=expected, json=str(value)
        )
        self._store.transact(self._caller, lambda tx: tx.append(draft).position)
        return expected + 1
