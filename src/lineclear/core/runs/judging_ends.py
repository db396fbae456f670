"""How did a run end? Facts in; one of the ends of ends.py and a clear reason out.

The rules are in one list, and the first that answers decides. What we did to the client comes before how it
then died; leaving its worktree or branch comes before its own report; a cause outside the client (memory,
disk, login, the model's server) comes before the bare signal or exit code.
A reason continues "the last one stopped because": at most 300 characters.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from lineclear.core.runs import ends
from lineclear.core.runs.budgets import show_bytes
from lineclear.core.words.refusals import shorten

if TYPE_CHECKING:
    from collections.abc import Callable

MOST_REASON_CHARS = 300
MOST_QUOTED_CHARS = 140

# Why the supervisor stopped a client; "budget" may be followed by ":" and the limit.
BY_PERSON, BY_INTERRUPT, BY_HANG, BY_LOOP = "person", "supervisor-interrupt", "hang", "loop"
BY_BUDGET, BY_MEMORY, BY_DISK, BY_LOST, BY_STRAYING = "budget", "memory", "disk", "lost", "strayed"

# stopped by -> (how, the reason if nothing more is known)
STOPS: dict[str, tuple[str, str]] = {
    BY_PERSON: (ends.STOPPED, "a person stopped it"),
    BY_INTERRUPT: (ends.INTERRUPTED, "the supervisor was stopped while it was working"),
    BY_HANG: (ends.HUNG, "it gave no output, did no work and changed no file for too long"),
    BY_LOOP: (ends.LOOPED, "it kept repeating itself"),
    BY_BUDGET: (ends.BUDGET, "it used up its budget"),
    BY_MEMORY: (ends.MEMORY, "it used more memory than allowed"),
    BY_DISK: (ends.DISK, "it filled the disk"),
    BY_LOST: (ends.LOST, "its lease on the task had passed to another agent"),
    BY_STRAYING: (ends.STRAYED, "it left its worktree or branch"),
}

# Signals that have the same number on Linux and macOS.
_SIGNALS = {
    1: "SIGHUP", 2: "SIGINT", 3: "SIGQUIT", 4: "SIGILL", 5: "SIGTRAP", 6: "SIGABRT", 8: "SIGFPE",
    9: "SIGKILL", 11: "SIGSEGV", 13: "SIGPIPE", 14: "SIGALRM", 15: "SIGTERM",
}  # fmt: skip
_SIGKILL = 9
# Signals of a program that runs out of memory on its own: Node.js aborts or traps, others crash.
_BROKEN_BY_MEMORY = (5, 6, 11)
_MEMORY_WORDS = ("heap out of memory", "out of memory", "cannot allocate memory", "memoryerror", "bad_alloc")
_DISK_WORDS = ("no space left on device", "enospc", "disk quota exceeded")
_LARGEST_SIGNAL = 64
# A shell's exit codes for a program that cannot be run, or does not exist.
_NOT_RUNNABLE = (126, 127)


@dataclass(frozen=True, slots=True, kw_only=True)
class EndFacts:
    """What is known when the client's process is gone. The default of each field means "nothing known"."""

    exit_code: int | None = None  # negative, or 128 and more: a signal; None: nobody saw it end
    stopped_by: str = ""
    detail: str = ""  # why it was stopped: which loop, which budget
    start_error: str = ""  # why its program could not be started
    program: str = ""
    # From the client's own stream; `end_ok` is None if it reported no end.
    end_ok: bool | None = None
    end_reason: str = ""
    # Judged by clients/error_words.py from the client's output.
    is_limited: bool = False
    is_login: bool = False
    has_stream: bool = False  # this client is known to write a stream that we can read
    lines_read: int = 0
    lines_unread: int = 0
    last_words: str = ""  # the end of its output outside the stream
    oom_kills: int = 0  # how often the kernel killed one of its processes for memory
    peak_memory_bytes: int = -1
    memory_limit_bytes: int = 0
    is_disk_full: bool = False
    is_worktree_gone: bool = False
    head_moved_to: str = ""  # a branch or commit that is not the run's own
    main_moved_to: str = ""  # this run itself moved main
    is_rebooted: bool = False


def judge(facts: EndFacts) -> tuple[str, str]:
    """(how, reason). Never raises; `how` is always a key of `ends.ENDS`."""
    for rule in RULES:
        found = rule(facts)
        if found is not None:
            return found[0], shorten(found[1], MOST_REASON_CHARS)
    return ends.DONE, "it ended well"


# -- what we did, or could not do -------------------------------------------------------------


def _could_not_start(facts: EndFacts) -> tuple[str, str] | None:
    if not facts.start_error:
        return None
    return ends.MISSING, f"{_program(facts)} could not be started: {_quoted(facts.start_error)}"


def _was_silent_for_its_server(facts: EndFacts) -> tuple[str, str] | None:
    """A client that silently retries its server did not hang: its server is unavailable."""
    return _login(facts) or _limited(facts) if facts.stopped_by == BY_HANG else None


def _was_stopped(facts: EndFacts) -> tuple[str, str] | None:
    if not facts.stopped_by:
        return None
    why, _, which = facts.stopped_by.partition(":")
    if why not in STOPS:
        return ends.FAILED, f"it was stopped ({_quoted(facts.stopped_by)})"
    how, words = STOPS[why]
    detail = facts.detail or which
    return how, f"{words}: {_quoted(detail, 240)}" if detail else words


# -- where it went ----------------------------------------------------------------------------


def _lost_its_worktree(facts: EndFacts) -> tuple[str, str] | None:
    return (ends.STRAYED, "its worktree was gone when it ended") if facts.is_worktree_gone else None


def _moved_main(facts: EndFacts) -> tuple[str, str] | None:
    if not facts.main_moved_to:
        return None
    return ends.STRAYED, f"it moved main itself, to {_quoted(facts.main_moved_to, 60)}; main was put back"


def _left_its_branch(facts: EndFacts) -> tuple[str, str] | None:
    if not facts.head_moved_to:
        return None
    return ends.STRAYED, f"it left its branch for {_quoted(facts.head_moved_to, 80)}"


# -- causes outside the client ----------------------------------------------------------------


def _rebooted(facts: EndFacts) -> tuple[str, str] | None:
    if facts.exit_code is not None or not facts.is_rebooted or facts.end_ok:
        return None
    return ends.INTERRUPTED, "the machine restarted while it was working"


def _program_missing(facts: EndFacts) -> tuple[str, str] | None:
    if facts.exit_code not in _NOT_RUNNABLE or facts.lines_read:
        return None
    words = "is not installed" if facts.exit_code == 127 else "cannot be run"
    return ends.MISSING, f"{_program(facts)} {words}{_said(facts)}"


def _out_of_memory(facts: EndFacts) -> tuple[str, str] | None:
    number = signal_of(facts.exit_code)
    if facts.oom_kills > 0 and number == _SIGKILL:
        return ends.MEMORY, f"the system had no memory left and killed it{_peak(facts)}"
    is_over = 0 < facts.memory_limit_bytes <= facts.peak_memory_bytes
    if is_over and facts.exit_code:
        return ends.MEMORY, f"it used more memory than allowed{_peak(facts)}"
    if number in _BROKEN_BY_MEMORY and _mentions(facts, _MEMORY_WORDS):
        return ends.MEMORY, f"it ran out of memory{_peak(facts)}{_said(facts)}"
    return None


def _disk_full(facts: EndFacts) -> tuple[str, str] | None:
    if not facts.exit_code and facts.end_ok is not False:
        return None
    if facts.is_disk_full or _mentions(facts, _DISK_WORDS):
        return ends.DISK, f"the disk was full{_said(facts)}"
    return None


def _login(facts: EndFacts) -> tuple[str, str] | None:
    if not facts.is_login or facts.end_ok:
        return None
    return ends.LOGIN, f"{_program(facts)} is not logged in, or its login has expired{_reason(facts)}"


def _limited(facts: EndFacts) -> tuple[str, str] | None:
    if not facts.is_limited or facts.end_ok:
        return None
    return ends.LIMITED, f"the model's server was over its limit or unavailable{_reason(facts)}"


# -- the client itself ------------------------------------------------------------------------


def _killed(facts: EndFacts) -> tuple[str, str] | None:
    number = signal_of(facts.exit_code)
    if not number:
        return None
    # Without the exit code in the client's own words: the signal is already named.
    said = facts.end_reason.rpartition(f"exit code {facts.exit_code}")[2].removeprefix(": ").strip()
    words = f": {_quoted(said)}" if said else _said(facts)
    return ends.CRASHED, f"{_SIGNALS.get(number, f'signal {number}')} ended it{words}"


def _vanished(facts: EndFacts) -> tuple[str, str] | None:
    """Nobody saw the process end, and the client did not report success."""
    if facts.exit_code is not None or facts.end_ok:
        return None
    return ends.CRASHED, f"it was gone without having reported its end{_reason(facts)}"


def _said_it_failed(facts: EndFacts) -> tuple[str, str] | None:
    if facts.end_ok is not False:
        return None
    return ends.FAILED, f"it ended with an error{_reason(facts) or _exit(facts)}"


def _bad_exit(facts: EndFacts) -> tuple[str, str] | None:
    return (ends.FAILED, f"it ended with an error{_exit(facts)}") if facts.exit_code else None


def _wrote_nothing_readable(facts: EndFacts) -> tuple[str, str] | None:
    if not facts.has_stream or facts.lines_read or facts.end_ok:
        return None
    if facts.lines_unread:
        return (
            ends.FAILED,
            f"it wrote {facts.lines_unread} lines that are not in the format of {_program(facts)}",
        )
    return ends.FAILED, "it ended without any output"


RULES: tuple[Callable[[EndFacts], tuple[str, str] | None], ...] = (
    _could_not_start,
    _was_silent_for_its_server,
    _was_stopped,
    _lost_its_worktree,
    _moved_main,
    _left_its_branch,
    _rebooted,
    _program_missing,
    _out_of_memory,
    _disk_full,
    _login,
    _limited,
    _killed,
    _vanished,
    _said_it_failed,
    _bad_exit,
    _wrote_nothing_readable,
)


# -- words ------------------------------------------------------------------------------------


def signal_of(exit_code: int | None) -> int:
    """The signal that ended a process, or 0. A shell in between reports 128 + signal."""
    if exit_code is None:
        return 0
    number = -exit_code if exit_code < 0 else exit_code - 128
    return number if 0 < number <= _LARGEST_SIGNAL else 0


def _quoted(text: str, limit: int = MOST_QUOTED_CHARS) -> str:
    return shorten(text.strip(), limit)


def _program(facts: EndFacts) -> str:
    return _quoted(facts.program, 60) or "its program"


def _mentions(facts: EndFacts, words: tuple[str, ...]) -> bool:
    said = f"{facts.last_words} {facts.end_reason}".lower()
    return any(word in said for word in words)


def _reason(facts: EndFacts) -> str:
    return f": {_quoted(facts.end_reason)}" if facts.end_reason.strip() else _said(facts)


def _said(facts: EndFacts) -> str:
    """The last line it wrote, which a person would look at first."""
    lines = [line for line in facts.last_words.splitlines() if line.strip()]
    return f'; it last said "{_quoted(lines[-1])}"' if lines else ""


def _exit(facts: EndFacts) -> str:
    code = f" (exit code {facts.exit_code})" if facts.exit_code else ""
    return f"{code}{_said(facts)}"


def _peak(facts: EndFacts) -> str:
    if facts.peak_memory_bytes < 0:
        return ""
    limit = f" of {show_bytes(facts.memory_limit_bytes)}" if facts.memory_limit_bytes > 0 else ""
    return f" ({show_bytes(facts.peak_memory_bytes)}{limit})"
