"""`lineclear hook CLIENT EVENT`: reads the client's JSON, answers in the client's own protocol.

Never raises, and never exits with the client's "block" code. On any error of ours the call passes (or, with
`on_error = "closed"`, an edit is denied with a reason), and the error goes into hook-errors.log.
"""

from __future__ import annotations

import os
import sys

from lineclear.hook import answering, on_error
from lineclear.hook.answering import MOST_INPUT_BYTES, Situation

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import NoReturn

# For reading the client's JSON and the settings, which contain the real limit.
FIRST_LIMIT_S = 5.0


class OutOfTime(BaseException):
    """Our own time limit. Not an Exception, so that no `except Exception` catches it."""


def main(argv: list[str], environ: Mapping[str, str]) -> int:
    """Return the exit code: 0, or 1 for a wrong command line, on which every client goes on."""
    if len(argv) != 2:
        os.write(2, b"usage: lineclear hook CLIENT EVENT < the client's JSON\n")
        return 1
    now = Situation(argv[0], argv[1], environ, _here(), limit=_limit_time, saves=True)
    try:
        _limit_time(FIRST_LIMIT_S)
        output, code = answering.answer(now, _read_input)
        _limit_time(0)
    except BaseException as error:  # noqa: BLE001  the one boundary: our error must never stop an agent
        _stop_clock()
        output, code = on_error.after_error(now, error)
    if now.hooking is None:
        os.write(2, f"lineclear hook: unknown client {argv[0]!r}\n".encode("utf-8", "replace")[:300])
    if not output and answering.is_worktree_wanted(now):
        output = answering.plain_worktree(now)
    try:
        while output:
            output = output[os.write(1, output) :]
    except OSError:
        pass  # the client no longer reads
    if now.mirror is not None and now.mirror.is_stale:
        _publish(now)
    return code


def _here() -> str:
    try:
        return os.getcwd()
    except OSError:
        return ""  # the directory was removed


def _publish(now: Situation) -> None:
    """Runs after the answer is written, so that an error here cannot affect it."""
    try:
        _limit_time(now.settings.hooks_timeout_ms / 1000 if now.settings is not None else FIRST_LIMIT_S)
        answering.publish(now)
        _limit_time(0)
    except BaseException as error:  # noqa: BLE001  as in main
        _stop_clock()
        try:
            on_error.log(now, error)
        except OSError:
            pass


def _read_input() -> bytes:
    pieces, size = [], 0
    while piece := os.read(0, 1 << 16):
        size += len(piece)
        if size <= MOST_INPUT_BYTES:  # read the rest, too: a client may take a closed pipe for a pass
            pieces.append(piece)
    if size > MOST_INPUT_BYTES:
        raise ValueError(f"the client's JSON is larger than {MOST_INPUT_BYTES} bytes")
    return b"".join(pieces)


# -- time -------------------------------------------------------------------------------------


def _limit_time(seconds: float) -> None:
    """Raise OutOfTime after this time; 0 cancels it. If something catches that, exit a second later."""
    # `_signal`, since `signal` itself imports `enum`.
    from _signal import (  # type: ignore[import-not-found]
        ITIMER_REAL,
        SIGALRM,
        setitimer,
        signal,
    )

    if seconds:
        signal(SIGALRM, _out_of_time)
    setitimer(ITIMER_REAL, seconds, 1.0 if seconds else 0.0)


_alarms = 0


def _out_of_time(_number: int, _frame: object) -> None:
    global _alarms  # noqa: PLW0603  a signal handler has no other place
    _alarms += 1
    if _alarms > 1:
        os._exit(0)
    raise OutOfTime("out of time")


def _stop_clock() -> None:
    try:
        _limit_time(0)
    except BaseException:  # noqa: BLE001  the alarm may fire at this very moment
        pass


def run(argv: list[str], environ: Mapping[str, str]) -> NoReturn:
    """Run as a program, without garbage collection and interpreter shutdown, which cost a process of a few
    milliseconds too much. By then all output is written and the store is closed."""
    import gc

    gc.disable()
    os._exit(main(argv, environ))


if __name__ == "__main__":
    run(sys.argv[1:], os.environ)
