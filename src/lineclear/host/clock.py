"""This host's clock: monotonic ticks, the boot they belong to, and wall time for display.

No lease is ever timed by the wall clock.
"""

from __future__ import annotations

import os
import time

from lineclear.core.instants import Instant

_BOOT_ID_FILE = "/proc/sys/kernel/random/boot_id"
_MACOS_COMMAND = ("/usr/sbin/sysctl", "-n", "kern.bootsessionuuid")
_known_boot: list[str] = []


def boot_id() -> str:
    """The same for every process, containers included, until the host restarts."""
    if not _known_boot:
        _known_boot.append(_read_boot_id())
    return _known_boot[0]


def _read_boot_id() -> str:
    boot = _from_file(_BOOT_ID_FILE) or _from_command(_MACOS_COMMAND)
    if not boot:
        from lineclear.core.words.refusals import refuse

        raise refuse("host.no_boot_id")
    return boot


def _from_file(path: str) -> str:
    try:
        fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return ""
    try:
        return os.read(fd, 100).decode("ascii", "replace").strip()
    finally:
        os.close(fd)


def _from_command(argv: tuple[str, ...]) -> str:
    from lineclear.host.spawning import output_of

    try:
        return output_of(argv).decode("ascii", "replace").strip().lower()
    except OSError:
        return ""


class HostClock:
    """The clock port for one host."""

    __slots__ = ()

    def now(self) -> Instant:
        return Instant(time.monotonic_ns(), boot_id(), time.time_ns())
