"""Spreads independent jobs over all cores when there are enough of them."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from lineclear.app.queue.merge_trees import Job
    from lineclear.merge import MergeResult

# With fewer files a second process costs more than it saves.
_WORTH_SPREADING = 8


def spread(merge: Callable[[Job], MergeResult], jobs: list[Job]) -> Iterable[MergeResult]:
    """The results in the order of the jobs."""
    if len(jobs) < _WORTH_SPREADING:
        return [merge(job) for job in jobs]
    # Imported here, since loading it takes longer than merging one file, the usual work of a merge driver.
    from concurrent.futures import ProcessPoolExecutor

    with ProcessPoolExecutor(min(len(jobs), os.cpu_count() or 1)) as pool:
        return list(pool.map(merge, jobs))
