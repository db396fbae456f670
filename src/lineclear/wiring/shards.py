"""The full check in parts: the same command in check trees of their own, each told which part it is."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

from lineclear.core.queue.checks import Check, verdict_key
from lineclear.core.words.refusals import refuse
from lineclear.settings.stated_checks import full_check
from lineclear.wiring.checks import check_pool, check_trees, repo_at, require_trusted

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from lineclear.app.queue.ports import EndedCheck
    from lineclear.wiring.repo import Repo

_WAIT_S = 1.0


class ShardedFullCheck:
    """The `FullCheck` of app/queue/full_checks.py, by what `main`, a commit, states."""

    def __init__(self, repo: Repo, main: str) -> None:
        at_main = repo_at(repo, main)
        check = full_check(at_main.settings)
        if check is None:
            raise refuse("phase.no_check")
        self._repo, self._main, self._check, self._at_main = repo, main, check, at_main
        self.parts = at_main.settings.checks_shards
        self._provisioning = check_trees(at_main).provisioning_digest()

    def require_trust(self) -> None:
        require_trusted(self._at_main, [self._check])

    def name(self, part: int) -> str:
        return self._check.command if self.parts == 1 else f"{self._check.command} [{part}/{self.parts}]"

    def key(self, tree: str, part: int) -> str:
        return verdict_key(tree, self.name(part), self._provisioning)

    def run(
        self, commit: str, tree: str, parts: Sequence[int], done: Callable[[int, EndedCheck], None]
    ) -> None:
        with closing(check_pool(self._repo, self.parts, lambda _: self._at_main.settings)) as pool:
            pool.prepare(self._main)
            for part in parts:
                pool.start(part, commit, tree, [self._part(part)])
            left = set(parts)
            while left:
                pool.wait(_WAIT_S)
                for part, results in pool.ended():
                    left.discard(part)
                    if results:
                        done(part, results[-1])

    def _part(self, part: int) -> Check:
        check = self._check
        return Check(
            check.command,
            timeout_ms=check.timeout_ms,
            retries=check.retries,
            name=check.name,
            where=check.where,
            env={"LINECLEAR_SHARD": str(part), "LINECLEAR_SHARDS": str(self.parts)},
        )
