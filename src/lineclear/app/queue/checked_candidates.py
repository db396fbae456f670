"""The candidates that the runner has checked: those in its stack, and the suspects that fail."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lineclear.core.queue.stack import UNKNOWN, Search

if TYPE_CHECKING:
    from lineclear.app.queue.stacking import Level
    from lineclear.core.log.tables import Candidate


class StackedCandidate:
    """A candidate in the stack: what main would become with it and all below it, and whether that passes."""

    def __init__(self, row: Candidate, level: Level, below: StackedCandidate | None) -> None:
        self.row, self.level = row, level
        self.files: set[str] = set(level.files) | (below.files if below is not None else set())
        self.ids: list[int] = [*(below.ids if below is not None else ()), row.id]
        self.known, self.job, self.output, self.is_set_up = UNKNOWN, 0, "", False


class Suspect:
    """A candidate that fails on main, while the runner searches for the landing with which it fails. `chain`:
    the commit where its branch began, then each commit of main up to the one on which it fails."""

    def __init__(self, placed: StackedCandidate, chain: list[str]) -> None:
        self.row, self.chain, self.output = placed.row, chain, placed.output
        self.files, self.ids = placed.files, [placed.row.id]
        self.search = Search(len(chain) - 1)
        self.job, self.point = 0, -1
        self.is_main_asked, self.main_known = False, UNKNOWN
        # A set-up command failed, not a check: then main must be checked again even if it passed before.
        self.is_set_up = placed.is_set_up
