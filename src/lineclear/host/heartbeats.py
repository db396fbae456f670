"""Heartbeats: one small file per agent. Its modification time is the last sign of life, its text the highest
log position delivered to that agent. They are not events, not durable, and never a reason to fail.
"""

from __future__ import annotations

import os
import time

from lineclear.host.locks import lock

_DIGITS = 20
_LOCK_WAIT_S = 0.004


class PresenceFiles:
    """The heartbeat files of one directory."""

    __slots__ = ("_directory",)

    def __init__(self, directory: str) -> None:
        self._directory = directory

    def touch(self, agent: str, seen: int | None = None) -> None:
        """Record a sign of life and, if given, the highest log position delivered to the agent."""
        try:
            fd = self._open(agent)
        except OSError:
            return
        try:
            _write_highest(fd, seen)
        except OSError:
            pass
        finally:
            os.close(fd)

    def seen(self, agent: str) -> int:
        """The highest position delivered to the agent; 0 if nothing is known."""
        try:
            fd = os.open(self._path(agent), os.O_RDONLY | os.O_CLOEXEC)
        except OSError:
            return 0
        try:
            return _read_position(fd)
        except OSError:
            return 0
        finally:
            os.close(fd)

    def idle_ns(self, agent: str) -> int | None:
        """Time since the last touch, by the wall clock; None for an agent never seen here."""
        try:
            touched_at = os.stat(self._path(agent)).st_mtime_ns
        except OSError:
            return None
        return max(0, time.time_ns() - touched_at)

    def _path(self, agent: str) -> str:
        return f"{self._directory}/{agent.replace('/', '+')}"

    def _open(self, agent: str) -> int:
        path = self._path(agent)
        flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC
        try:
            return os.open(path, flags, 0o600)
        except FileNotFoundError:
            os.makedirs(self._directory, mode=0o700, exist_ok=True)
            return os.open(path, flags, 0o600)


def _write_highest(fd: int, seen: int | None) -> None:
    if seen is None:
        os.utime(fd)
        return
    # The lock keeps a lower position from replacing a higher one. We do not wait long for it: a stopped
    # process may hold it, and a position that is too low errs on the safe side.
    lock(fd, _LOCK_WAIT_S)
    highest = max(_read_position(fd), seen, 0)
    os.pwrite(fd, b"%0*d" % (_DIGITS, highest), 0)


def _read_position(fd: int) -> int:
    text = os.pread(fd, _DIGITS, 0)
    return int(text) if len(text) == _DIGITS and text.isdigit() else 0
