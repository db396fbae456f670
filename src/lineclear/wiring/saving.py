"""Builds what keeps the work of all live agents of this clone in snapshots."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from lineclear.app.runs.records import live_runs
from lineclear.app.worktrees.saver import Saver, SaverPorts
from lineclear.host.threads import start_thread
from lineclear.wiring.mirroring import live_trees
from lineclear.wiring.runs import supervision_of, traces_of
from lineclear.wiring.worktrees import saved_work_in

if TYPE_CHECKING:
    from lineclear.wiring.repo import Repo


def saver_in(repo: Repo) -> Saver:
    ports = SaverPorts(
        store=repo.store,
        presence=repo.presence,
        saved=saved_work_in(repo),
        trees=lambda: live_trees(repo),
        left_to_others=lambda: _supervised(repo),
        start=start_thread,
        monotonic=time.monotonic,
    )
    settings = repo.settings
    return Saver(ports, every_ms=settings.snapshots_every_ms, silence_ms=settings.agents_silence_ms)


def _supervised(repo: Repo) -> set[str]:
    """A supervisor that died saves nothing any more, though its agents may work on."""
    if not supervision_of(repo).is_running():
        return set()
    traces = traces_of(repo)
    return {run.tree for run in repo.store.read(live_runs) if run.tree and traces.is_of_this_clone(run)}
