"""Ends processes that a check or a package manager left behind, found by a variable in their environment."""

from __future__ import annotations

import os
import signal
import time

from lineclear.host import processes

# Everything that we start in a check tree or a scratch directory has this variable, with the directory's
# path.
MARK = "LINECLEAR_CHECK_TREE"
# Killed processes end at once, except those that wait for a disk that does not answer.
_WITHIN_S, _POLL_S = 10.0, 0.01


def end_strays(path: str) -> bool:
    """End the processes marked with this path: those that began their own session, or outlived a killed
    process of ours. They would write into the next candidate's tree.

    False if one of them cannot be ended. True where environments cannot be read: there, ending the process
    group has to be enough.
    """
    deadline = time.monotonic() + _WITHIN_S
    while strays := processes.marked(f"{MARK}={path}") if processes.HAS_MARKS else []:
        if time.monotonic() > deadline:
            return False
        for pid in strays:
            try:
                os.kill(pid, signal.SIGKILL)
            except (ProcessLookupError, PermissionError):
                pass
        time.sleep(_POLL_S)
    return True
