"""Bonds: a process is alive as long as it holds a lock, as the kernel says. We never judge by pid.

The holder has `flock(LOCK_EX)` on the bond's file. A process that asks tries `LOCK_SH`, so that two of them
never mistake each other for the holder. The first one that finds a bond free appends `boot tick` to its file
under that shared lock, while there can be no holder; of several such lines the first one counts. A new holder
empties the file. If the file is gone, the holder released the bond for good.
"""

from __future__ import annotations

import fcntl
import os
import time

from lineclear.core.words.refusals import refuse
from lineclear.host.locks import lock, share

TYPE_CHECKING = False
if TYPE_CHECKING:
    from lineclear.core.instants import Instant
    from lineclear.host.clock import HostClock

# The bond of the one supervisor of a clone.
SUPERVISOR = "supervisor"
LONG_DEAD_NS = 1 << 62
_NAME_CHARS = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-")
_NAME_LIMIT = 128
_HOLD_TRIES = 2000
_HOLD_PAUSE_S = 0.0005


class HeldBond:
    """A bond that we hold until `release`, or until every process with its descriptor has ended."""

    __slots__ = ("_fd", "_path", "name")

    def __init__(self, name: str, path: str, fd: int) -> None:
        self.name = name
        self._path = path
        self._fd = fd

    def inheritable(self) -> int:
        """Let all children that start from now on keep the bond alive. Return the descriptor."""
        os.set_inheritable(self._fd, True)
        return self._fd

    def fileno(self) -> int:
        """The descriptor, to pass on to one particular child."""
        return self._fd

    def release(self) -> None:
        """End the bond, even if children inherited it. Calling it again has no effect."""
        if self._fd < 0:
            return
        fd, self._fd = self._fd, -1
        try:
            if _is_same_file(self._path, fd):
                os.unlink(self._path)
        except OSError:
            pass  # read-only by now: the unlocked file that stays counts as dead, too
        fcntl.flock(fd, fcntl.LOCK_UN)
        os.close(fd)


class Bonds:
    """All bonds of one directory."""

    __slots__ = ("_directory",)

    def __init__(self, directory: str) -> None:
        self._directory = directory

    def hold(self, bond: str) -> HeldBond:
        """Take the bond; refuse if a live process has it."""
        path = self._path(bond)
        os.makedirs(self._directory, mode=0o700, exist_ok=True)
        for _ in range(_HOLD_TRIES):
            fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            if lock(fd, 0) and _is_same_file(path, fd):
                os.ftruncate(fd, 0)
                return HeldBond(bond, path, fd)
            is_held = not share(fd) and _is_same_file(path, fd)
            os.close(fd)
            if is_held:
                break
            time.sleep(_HOLD_PAUSE_S)  # another process only asks, or has just released it
        raise refuse("bond.held", bond=bond)

    def is_held(self, bond: str) -> bool:
        fd = self._open(bond)
        if fd < 0:
            return False
        try:
            return not share(fd)
        finally:
            os.close(fd)

    def dead_for_ns(self, bond: str, now: Instant) -> int | None:
        """None while held, else the time since a process first found it free; LONG_DEAD_NS if it was
        released, or was found free before the last restart."""
        fd = self._open(bond)
        if fd < 0:
            return LONG_DEAD_NS
        try:
            if not share(fd):
                return None
            return _age_of_mark(_mark(fd, now), now)
        finally:
            os.close(fd)

    def ended(self) -> list[str]:
        """The names of the bonds whose file exists but whose holder is gone."""
        try:
            names = sorted(os.listdir(self._directory))
        except FileNotFoundError:
            return []
        return [name for name in names if not self.is_held(name)]

    def remove(self, bond: str) -> None:
        """Remove the file of a bond that has ended."""
        os.unlink(self._path(bond))

    def _path(self, bond: str) -> str:
        if not 0 < len(bond) <= _NAME_LIMIT or not _NAME_CHARS.issuperset(bond) or bond in (".", ".."):
            raise refuse(
                "input.bad",
                name="bond",
                given=bond,
                why="use 1 to 128 letters, digits, dots, dashes, underscores",
            )
        return f"{self._directory}/{bond}"

    def _open(self, bond: str) -> int:
        """A new descriptor, read-only if we may not write; -1 if there is no such file."""
        path = self._path(bond)
        for flags in (os.O_RDWR | os.O_APPEND, os.O_RDONLY):
            try:
                return os.open(path, flags | os.O_CLOEXEC)
            except (FileNotFoundError, NotADirectoryError):
                return -1
            except OSError:
                if flags == os.O_RDONLY:
                    raise
        return -1


def _is_same_file(path: str, fd: int) -> bool:
    """Is the file that we locked still the one that others find under this name?"""
    try:
        there = os.stat(path, follow_symlinks=False)
    except FileNotFoundError:
        return False
    ours = os.fstat(fd)
    return (there.st_ino, there.st_dev) == (ours.st_ino, ours.st_dev)


def _mark(fd: int, now: Instant) -> tuple[str, int]:
    """The boot and tick at which a process first found the bond free; written now if we are the first."""
    mark = _first_mark(os.pread(fd, 4096, 0))
    if mark is None:
        try:
            os.write(fd, f"{now.boot} {now.tick_ns}\n".encode("ascii"))
        except OSError:
            pass  # read-only or full: a process that can write will record it
        mark = _first_mark(os.pread(fd, 4096, 0))
    return mark or (now.boot, now.tick_ns)


def _first_mark(data: bytes) -> tuple[str, int] | None:
    """The first complete mark; a line cut short by a full disk is skipped."""
    for line in data.split(b"\n")[:-1]:
        boot, _, tick = line.partition(b" ")
        if boot and tick.isdigit():
            return boot.decode("ascii", "replace"), int(tick)
    return None


def _age_of_mark(mark: tuple[str, int], now: Instant) -> int:
    boot, tick_ns = mark
    return max(0, now.tick_ns - tick_ns) if boot == now.boot else LONG_DEAD_NS


class BondLiveness:
    """A bond of this `host` is dead if its lock is free; for agents after a grace, since clients restart.
    In a team's store the host's name includes the clone, whose locks are the only ones we can try."""

    __slots__ = ("_bonds", "_clock", "_grace_ns", "_host")

    def __init__(self, bonds: Bonds, clock: HostClock, host: str, grace_ms: int) -> None:
        self._bonds, self._clock, self._host = bonds, clock, host
        self._grace_ns = grace_ms * 1_000_000

    def is_dead(self, bond: str, /) -> bool:
        host, _, name = bond.partition("/")
        if host != self._host:
            return False
        dead_ns = self._bonds.dead_for_ns(name, self._clock.now())
        return dead_ns is not None and dead_ns >= (self._grace_ns if name.startswith("agent-") else 0)
