"""The ways in which a run can end, and which of them use up an attempt of its task.

Which end it was is decided in judging_ends.py.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

DONE = "done"
# Ends that say nothing about the work: the same attempt continues later.
LIMITED, LOGIN, INTERRUPTED, MISSING = "limited", "login", "interrupted", "missing"
# Another agent has the task now; that is its attempt.
LOST = "lost"
# Ends that use up an attempt.
CRASHED, FAILED, HUNG, MEMORY, LOOPED, BUDGET = "crashed", "failed", "hung", "memory", "looped", "budget"
DISK, STRAYED, REJECTED = "disk", "strayed", "rejected"
# A person stopped it: the task goes back, and waits for that person.
STOPPED = "stopped"

# how -> (what it means, does it use up an attempt of the task?)
ENDS: dict[str, tuple[str, bool]] = {
    DONE: ("the client ended well", False),
    LIMITED: ("the model's server was unavailable or over its limit; tried again later", False),
    LOGIN: ("the client is not logged in, or its login has expired; waits for a person", False),
    INTERRUPTED: ("the supervisor was stopped; the next one continues here", False),
    STOPPED: ("a person stopped it", False),
    CRASHED: ("a signal ended the client", True),
    FAILED: ("the client ended with an error", True),
    HUNG: ("no output, work or file changes for too long", True),
    MEMORY: ("it used more memory than allowed, or the system had none left", True),
    LOOPED: ("it kept repeating itself", True),
    BUDGET: ("it used up its time, tokens or money", True),
    DISK: ("it filled the disk, or its output grew without end", True),
    MISSING: ("its program is not installed or could not be started; waits for a person", False),
    LOST: ("its lease had passed to another agent", False),
    STRAYED: ("it left its worktree or branch, or moved main itself", True),
    REJECTED: ("its result was not what the task asks for", True),
}


def counts_as_attempt(how: str) -> bool:
    return ENDS[how][1]


def has_session(how: str, tokens_out: Iterable[int]) -> bool:
    """Can the client resume the session whose last run ended like this? `tokens_out`: of each of its runs.

    A client whose first request is refused saves no session, and resuming it is then an error.
    """
    return how not in (LOGIN, LIMITED) or any(tokens > 0 for tokens in tokens_out)
