"""Starts a program without the cost of `subprocess`, for hooks and short commands; see also commands.py."""

from __future__ import annotations

import os
from _signal import SIGPIPE, SIGXFSZ  # type: ignore[import-not-found]  # `signal` loads `enum`

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


def spawn(
    path: str,
    argv: Sequence[str],
    env: Mapping[str, str],
    *,
    fds: Mapping[int, int] | None = None,
    own_group: bool = False,
    own_session: bool = False,
) -> int:
    """Start the program at `path` and return its pid. `fds`: the child's descriptor -> ours."""
    actions = [(os.POSIX_SPAWN_DUP2, ours, childs) for childs, ours in (fds or {}).items()]
    # Python ignores these signals; other programs do not expect that.
    defaults = [SIGPIPE, SIGXFSZ]
    if own_session:
        try:
            return os.posix_spawn(
                path, list(argv), dict(env), file_actions=actions, setsigdef=defaults, setsid=True
            )
        except NotImplementedError:
            own_group = True  # this C library cannot start a session
    if own_group:
        return os.posix_spawn(
            path, list(argv), dict(env), file_actions=actions, setsigdef=defaults, setpgroup=0
        )
    return os.posix_spawn(path, list(argv), dict(env), file_actions=actions, setsigdef=defaults)


# Reaped when the next one starts, so that a long-lived process does not collect zombies.
_detached: set[int] = set()


def start_detached(argv: Sequence[str], env: Mapping[str, str]) -> int:
    """Start a program that nobody waits for, without our terminal, input or output, and return its pid."""
    _detached.difference_update([pid for pid in list(_detached) if _has_ended(pid)])
    null = os.open(os.devnull, os.O_RDWR | os.O_CLOEXEC)
    try:
        pid = spawn(argv[0], argv, env, fds=dict.fromkeys((0, 1, 2), null), own_session=True)
    finally:
        os.close(null)
    _detached.add(pid)
    return pid


def _has_ended(pid: int) -> bool:
    try:
        return os.waitpid(pid, os.WNOHANG)[0] != 0
    except ChildProcessError:
        return True


def output_of(argv: Sequence[str]) -> bytes:
    """The output of a small command, whatever its exit code."""
    reader, writer = os.pipe()
    try:
        pid = spawn(argv[0], argv, {"LC_ALL": "C"}, fds={1: writer})
    except OSError:
        os.close(reader)
        raise
    finally:
        os.close(writer)
    with open(reader, "rb") as pipe:
        output = pipe.read()
    os.waitpid(pid, 0)
    return output
