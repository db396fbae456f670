"""The reviewer that main states, run in a check tree: the `Reviewer` of app/queue/ports.py."""

from __future__ import annotations

import os
import threading
from typing import TYPE_CHECKING

from lineclear.core.queue.candidates import show_number
from lineclear.core.queue.checks import Check
from lineclear.git.snapshots.refs import diff
from lineclear.host.files import write_atomically
from lineclear.wiring.checks import check_logs, check_runner, check_trees

if TYPE_CHECKING:
    from collections.abc import Callable

    from lineclear.app.queue.stacking import Level
    from lineclear.core.log.tables import Candidate
    from lineclear.wiring.repo import Repo

_WHERE = "queue.reviewer"
# The author needs the end of it, not a book.
_MOST_NOTE = 2_000


class CommandReviewer:
    """`at_main` is the repository by the settings that main has committed."""

    def __init__(self, repo: Repo, at_main: Repo) -> None:
        self._repo, self._at_main = repo, at_main

    def review(
        self, row: Candidate, main: str, level: Level, is_over: Callable[[], bool]
    ) -> tuple[bool, str] | None:
        settings, cancel = self._at_main.settings, _Over(is_over)
        check = Check(
            settings.queue_reviewer, timeout_ms=settings.checks_gate_timeout_ms, name="review", where=_WHERE
        )
        place = check_trees(self._repo, self._at_main).hold_any(settings.queue_workers + 1, cancel)
        if place is None:
            return None
        name = show_number(row.id)
        patch = os.path.join(check_logs(self._repo), f"{name}.diff")
        os.makedirs(os.path.dirname(patch), mode=0o700, exist_ok=True)
        try:
            with place:
                text = diff(self._repo.layout.common_dir, main, level.commit, [])
                write_atomically(patch, text.encode("utf-8", "surrogateescape"))
                env = {"LINECLEAR_CANDIDATE": name, "LINECLEAR_DIFF": patch}
                ended = check_runner(self._at_main).run(level.commit, place, [check], cancel=cancel, env=env)
        finally:
            if os.path.exists(patch):
                os.unlink(patch)
        if not ended:
            return None
        last = ended[-1]
        note = last.tail if last.is_green or not last.is_set_up else last.words
        return last.is_green, (note.strip() or last.words.strip())[-_MOST_NOTE:]


class _Over(threading.Event):
    """Set as soon as somebody says stop; asked again and again by who waits for it."""

    def __init__(self, is_over: Callable[[], bool]) -> None:
        super().__init__()
        self._is_over = is_over

    def is_set(self) -> bool:
        return self._is_over()
