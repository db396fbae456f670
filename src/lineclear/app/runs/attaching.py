"""Follow an agent's output as it comes, raw or as a summary of its actions."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from lineclear.app.runs import records
from lineclear.app.runs.following import said_by
from lineclear.core.log.tables import RUN
from lineclear.core.runs.states import ENDED
from lineclear.core.words.refusals import refuse

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    from lineclear.app.ports import Store, View
    from lineclear.app.runs.ports import ClientStarter, OutputReader
    from lineclear.core.log.tables import Run

POLL_S = 0.2


def follow_run(
    store: Store,
    clients: ClientStarter,
    reader_of: Callable[[str], OutputReader],
    agent: str,
    *,
    is_raw: bool,
    is_whole: bool,
) -> Iterator[dict[str, Any]]:
    """Yield the output of the agent's live run until it ends; with `is_whole` from its beginning, and if no
    run is live, that of the last one.

    `reader_of` returns a reader for a client's output.
    """

    def find(view: View) -> Run | None:
        live = records.live_run_of(view, agent)
        if live is not None or not is_whole:
            return live
        return next((run for run in view.scan(RUN, "key", reverse=True) if run.agent == agent), None)

    run = store.read(find)
    if run is None:
        raise refuse("run.not_live", agent=agent)
    group, reader = clients.find_again(run), reader_of(run.client)
    if not is_whole:
        group.skip_to_now()
    while True:
        now = store.read(lambda view: view.get(RUN, (run.id,)))
        is_over = now is None or now.state == ENDED
        for line in group.new_lines() if not is_over else group.last_words():
            yield from _items(line, reader, is_raw)
        if is_over:
            return
        time.sleep(POLL_S)


def _items(line: bytes, reader: OutputReader, is_raw: bool) -> Iterator[dict[str, Any]]:
    text = line.decode("utf-8", "replace")
    if is_raw:
        yield {"text": text}
        return
    signs = reader.feed(line)
    for sign in signs:
        words = said_by(sign)
        if words:
            yield {"text": words}
    if not signs and text.strip() and not text.lstrip().startswith("{"):
        yield {"text": text}
