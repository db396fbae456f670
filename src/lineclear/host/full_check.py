"""The full check in parts: the same command in check trees of their own, each with its number in the
environment."""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING

from lineclear.core.queue.checks import Check, verdict_key

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from lineclear.app.queue.ports import EndedCheck
    from lineclear.host.check_pool import ThreadedCheckPool

_WAIT_S = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class ShardedFullCheck:
    """The `FullCheck` of app/queue/full_checks.py, as `main`, a commit, states it.

    `provisioning`: the digest of what makes a check tree ready; `require_trusted` refuses commands that no
    person trusts; `open_pool` takes the number of check trees.
    """

    check: Check
    main: str
    parts: int
    provisioning: str
    require_trusted: Callable[[Sequence[Check]], None]
    open_pool: Callable[[int], ThreadedCheckPool]

    def require_trust(self) -> None:
        self.require_trusted([self.check])

    def name(self, part: int) -> str:
        return self.check.command if self.parts == 1 else f"{self.check.command} [{part}/{self.parts}]"

    def key(self, tree: str, part: int) -> str:
        return verdict_key(tree, self.name(part), self.provisioning)

    def run(
        self, commit: str, tree: str, parts: Sequence[int], done: Callable[[int, EndedCheck], None]
    ) -> None:
        with closing(self.open_pool(self.parts)) as pool:
            pool.prepare(self.main)
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
        check = self.check
        return Check(
            check.command,
            timeout_ms=check.timeout_ms,
            retries=check.retries,
            name=check.name,
            where=check.where,
            env={"LINECLEAR_SHARD": str(part), "LINECLEAR_SHARDS": str(self.parts)},
        )
