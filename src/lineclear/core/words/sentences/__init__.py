"""Every refusal that we can give, by its code. The rows stand in the modules of their nouns."""

from __future__ import annotations

from lineclear.core.words.sentences import (
    agents,
    claims,
    queue,
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
    **store.ROWS,
    **serve.ROWS,
    **settings.ROWS,
    **surface.ROWS,
}
