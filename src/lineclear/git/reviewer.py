"""The reviewer that main states, run in a check tree: the `Reviewer` of app/queue/ports.py."""

from __future__ import annotations

import os
import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING

from lineclear.core.queue.candidates import show_number
from lineclear.git.snapshots.refs import diff
from lineclear.host.files import write_atomically

if TYPE_CHECKING:
    from collections.abc import Callable

    from lineclear.app.queue.check_runner import CheckRunner
    from lineclear.app.queue.stacking import Level
    from lineclear.core.log.tables import Candidate
    from lineclear.core.queue.checks import Check
    from lineclear.git.check_trees import HeldCheckTree

# The author needs the end of it, not a book.
_MOST_NOTE = 2_000


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandReviewer:
    """`check` is the command as main states it; `logs`: the directory for the diff that it reads;
    `hold_tree` waits for a check tree, and returns None if the event is set before."""

    check: Check
    runner: CheckRunner
    common_dir: str
    logs: str
    hold_tree: Callable[[threading.Event], HeldCheckTree | None]

    def review(
        self, row: Candidate, main: str, level: Level, is_over: Callable[[], bool]
    ) -> tuple[bool, str] | None:
        cancel = _Over(is_over)
        place = self.hold_tree(cancel)
        if place is None:
            return None
        name = show_number(row.id)
        patch = os.path.join(self.logs, f"{name}.diff")
        os.makedirs(os.path.dirname(patch), mode=0o700, exist_ok=True)
        try:
            with place:
                text = diff(self.common_dir, main, level.commit, [])
                write_atomically(patch, text.encode("utf-8", "surrogateescape"))
                env = {"LINECLEAR_CANDIDATE": name, "LINECLEAR_DIFF": patch}
                ended = self.runner.run(level.commit, place, [self.check], cancel=cancel, env=env)
        finally:
            if os.path.exists(patch):
                os.unlink(patch)
        if not ended:
            return None
        last = ended[-1]
        note = last.tail if last.is_green or not last.is_set_up else last.words
        return last.is_green, (note.strip() or last.words.strip())[-_MOST_NOTE:]


class _Over(threading.Event):
    """Set as soon as `is_over` says so; a waiting check asks it again and again."""

    def __init__(self, is_over: Callable[[], bool]) -> None:
        super().__init__()
        self._is_over = is_over

    def is_set(self) -> bool:
        return self._is_over()
