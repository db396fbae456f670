"""Any command: its output is for people, its exit code is its end.

75 ("try again later") and 77 ("no permission"), codes of sysexits.h, are no failures of the work.
"""

from __future__ import annotations

from lineclear.clients.launch import NO_INPUT, PROMPT_INPUT, Started, filled

TYPE_CHECKING = False
if TYPE_CHECKING:
    from lineclear.clients.launch import Launch
    from lineclear.clients.stream_reader import Reader
    from lineclear.core.signs import Usage

PROGRAM = ""
INSTALL = ""
LOGIN = ""
TELLS_COST = False

CODES = {75: "limited", 77: "login"}


def launch(asked: Launch) -> Started:
    """The prompt comes where the command names it; a command that does not, gets it as its input."""
    argv = filled(asked.command, asked)
    names_it = any("{prompt}" in word or "{prompt_file}" in word for word in asked.command)
    return Started(argv, stdin=NO_INPUT if names_it else PROMPT_INPUT)


def reader(worktree: str = "", before: Usage | None = None) -> Reader:
    from lineclear.clients.stream_reader import Reader

    return Reader("the command", None, codes=CODES, worktree=worktree, before=before)
