"""All refusals by code; each noun's module has its rows."""

from __future__ import annotations

from lineclear.core.words.sentences import (
    agents,
    claims,
    queue,
    radar,
    runs,
    serve,
    settings,
    store,
    surface,
    tasks,
    values,
    worktrees,
)

ROWS = {
    **claims.ROWS,
    **values.ROWS,
    **tasks.ROWS,
    **agents.ROWS,
    **worktrees.ROWS,
    **runs.ROWS,
    **queue.ROWS,
    **radar.ROWS,
    **store.ROWS,
    **serve.ROWS,
    **settings.ROWS,
    **surface.ROWS,
}
