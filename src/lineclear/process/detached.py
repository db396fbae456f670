"""A process that nobody waits for: in a session of its own, without our terminal, input or output."""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


# Ended ones are waited for when the next one is started: a process that stays would gather them.
_started: set[int] = set()


def start(argv: Sequence[str], env: Mapping[str, str]) -> int:
    """Start it and come back at once; gives its pid. `argv[0]` is a path."""
    _started.difference_update([pid for pid in list(_started) if _has_ended(pid)])
    pid = _spawn(argv, env)
    _started.add(pid)
    return pid


def _has_ended(pid: int) -> bool:
    try:
        return os.waitpid(pid, os.WNOHANG)[0] != 0
    except ChildProcessError:
        return True


def _spawn(argv: Sequence[str], env: Mapping[str, str]) -> int:
    null = os.open(os.devnull, os.O_RDWR | os.O_CLOEXEC)
    actions = [(os.POSIX_SPAWN_DUP2, null, number) for number in (0, 1, 2)]
    try:
        try:
            return os.posix_spawn(argv[0], list(argv), dict(env), file_actions=actions, setsid=True)
        except NotImplementedError:  # no such flag in this C library: a group of its own is the next best
            return os.posix_spawn(argv[0], list(argv), dict(env), file_actions=actions, setpgroup=0)
    finally:
        os.close(null)
