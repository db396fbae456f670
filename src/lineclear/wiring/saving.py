"""Builds what saves the work of all live agents of this clone in snapshots."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from lineclear.app.worktrees.saver import Saver, SaverPorts
from lineclear.host.session_marks import time_of
from lineclear.host.threads import start_thread
from lineclear.wiring.mirroring import live_trees
from lineclear.wiring.repo import edited_of
from lineclear.wiring.runs import supervision_of
from lineclear.wiring.worktrees import saved_work_in

if TYPE_CHECKING:
    from lineclear.wiring.repo import Repo


def saver_in(repo: Repo) -> Saver:
    ports = SaverPorts(
        store=repo.store,
        presence=repo.presence,
        saved=saved_work_in(repo),
        trees=lambda: live_trees(repo),
        left_to_others=supervision_of(repo).saved_trees,
        edited_ns=lambda tree: time_of(edited_of(repo, tree)),
        start=start_thread,
        monotonic=time.monotonic,
    )
    settings = repo.settings
    return Saver(ports, every_ms=settings.snapshots_every_ms, silence_ms=settings.agents_silence_ms)
