"""Hooks in a process that stays: the same answers, from a warm interpreter and a warm store.

Nothing of one call is left for the next but opened stores. Any number of threads may ask at once. There is no
time limit here: who asks gives up when it is tired of waiting, and asks in its own process.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from lineclear.hook import answering
from lineclear.hook.answering import Elsewhere, Situation
from lineclear.wiring.store_pool import StorePool

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["Elsewhere", "Hooks"]


class Hooks:
    """Answers for one repository, which is given by its git directory (the one that all worktrees share)."""

    def __init__(self, common_dir: str, *, saves: bool = False) -> None:
        """`saves`: as for a hook alone, since nobody beside us keeps every worktree safe."""
        self._common_dir, self._saves = common_dir, saves
        self._stores = StorePool()

    def answer(
        self, client: str, event: str, body: bytes, environ: Mapping[str, str], cwd: str
    ) -> tuple[bytes, int]:
        """(output, exit code) for one event, in the client's own protocol.

        `environ` is the hook's own environment, `cwd` where it was started. An error is written down, and the
        call passes. Raises `Elsewhere` for a call from another repository: it has to be asked directly.
        """
        now = Situation(
            client, event, environ, cwd, stores=self._stores, only=self._common_dir, saves=self._saves
        )
        try:
            output, code = answering.answer(now, lambda: body)
        except Elsewhere:
            raise
        except Exception as error:  # noqa: BLE001  the boundary of this surface
            output, code = answering.after_error(now, error)
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
    except Exception as error:  # noqa: BLE001  the answer is out
        answering.log(now, error)
