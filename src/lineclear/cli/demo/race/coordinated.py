"""The same five steps over lineclear, through its use cases."""

from __future__ import annotations

from lineclear.app import claims, tasks, values, waiting
from lineclear.core.claims.rules import EXCLUSIVE, Request
from lineclear.core.words.refusals import NOT_FOUND, Refusal
from lineclear.wiring.repo import open_repo

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

COUNTER = "demo/counter"
LEASE_MS, WAIT_MS = 60_000, 30_000


class Coordinated:
    def __init__(self, directory: str, name: str, environ: Mapping[str, str]) -> None:
        self._repo = open_repo(directory, environ)
        self._directory = directory
        self._caller = self._repo.caller(name)

    def take_task(self) -> str:
        try:
            taken = tasks.take(self._repo.store, self._repo.liveness, self._caller)
        except Refusal as refusal:
            if refusal.exit_code == NOT_FOUND:
                return ""
            raise
        return str(taken["task"]["id"])

    def claim(self, path: str) -> bool:
        resource = self._repo.resource(path, self._directory)
        request = Request(self._caller.name, "main", EXCLUSIVE, [resource], ttl_ms=LEASE_MS)
        waiting.claim_or_wait(self._repo.store, self._repo.liveness, self._caller, request, WAIT_MS)
        return True

    def release(self, path: str) -> None:
        claims.release(self._repo.store, self._caller, [self._repo.resource(path, self._directory)])

    def count_up(self) -> None:
        values.update(
            self._repo.store, self._repo.liveness, self._caller, [], COUNTER, lambda count: (count or 0) + 1,
            tries=1_000,
        )  # fmt: skip

    def finish(self, task: str) -> None:
        tasks.finish(self._repo.store, self._caller, int(task[2:]))
