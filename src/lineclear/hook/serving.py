"""Answers hooks in a server: the same answers, from a running interpreter and an open store.

Calls share only open stores, and any number of threads may call at once. There is no time limit here: a
client that has waited long enough answers in its own process.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from lineclear.hook import answering, on_error
from lineclear.hook.answering import Elsewhere, Situation
from lineclear.wiring.store_pool import StorePool

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["Elsewhere", "Hooks"]


class Hooks:
    """Answers hooks of one repository. `common_dir`: the git directory that all its worktrees share."""

    def __init__(self, common_dir: str, *, saves: bool = False) -> None:
        """`saves`: take snapshots as a single hook does, since no other process takes them."""
        self._common_dir, self._saves = common_dir, saves
        self._stores = StorePool()

    def answer(
        self, client: str, event: str, body: bytes, environ: Mapping[str, str], cwd: str
    ) -> tuple[bytes, int]:
        """(output, exit code) for one event, in the client's own protocol.

        `environ` and `cwd` are those of the hook's process. An error is logged, and the call passes. Raises
        `Elsewhere` for a call from another repository, which the hook's own process has to answer.
        """
        now = Situation(
            client, event, environ, cwd, stores=self._stores, only=self._common_dir, saves=self._saves
        )
        try:
            output, code = answering.answer(now, lambda: body)
        except Elsewhere:
            raise
        except Exception as error:  # noqa: BLE001  the boundary of this surface
            output, code = on_error.after_error(now, error)
        if not output and answering.is_worktree_wanted(now):
            output = answering.plain_worktree(now)
        if now.mirror is not None and now.mirror.is_stale:
            threading.Thread(target=_publish, args=(now,), daemon=True).start()
        return output, code

    def close(self) -> None:
        self._stores.close()


def _publish(now: Situation) -> None:
    try:
        answering.publish(now)
    except Exception as error:  # noqa: BLE001  the answer was already given
        on_error.log(now, error)
