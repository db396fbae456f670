"""Any command: its output is for people, and only its exit code says how it ended.

The codes 75 ("try again later") and 77 ("no permission") of sysexits.h do not mean that the work failed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lineclear.clients.stream_reader import StreamReader

if TYPE_CHECKING:
    from lineclear.core.runs.client_events import Usage

CODES = {75: "limited", 77: "login"}


def reader(worktree: str = "", before: Usage | None = None) -> StreamReader:
    return StreamReader("the command", None, codes=CODES, worktree=worktree, before=before)
