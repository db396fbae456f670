"""Our own files in the git directory, and what lies beside our worktrees, for clearing away."""

from __future__ import annotations

import os
import shutil
import time
from typing import TYPE_CHECKING

from lineclear.core.words.refusals import Refusal
from lineclear.core.worktrees.cleanup import BOND, PRESENCE, RUN_LOG, SCRATCH, SESSION
from lineclear.host.sessions import SESSIONS

if TYPE_CHECKING:
    from lineclear.host.bonds import Bonds
    from lineclear.host.clock import HostClock

_PLACES = {SCRATCH: "snapshots", RUN_LOG: "runs", BOND: "bonds", PRESENCE: "agents", SESSION: SESSIONS}


class ClearableFiles:
    """The `CleanupFiles` of app/worktrees/ports.py. `home`: where worktrees are made; `skipped`: the
    name of a directory there that is left out."""

    def __init__(
        self, state_directory: str, bonds: Bonds, clock: HostClock, *, home: str, skipped: str
    ) -> None:
        self._state_directory, self._bonds, self._clock = state_directory, bonds, clock
        self._home, self._skipped = home, skipped

    def keys(self, kind: str) -> list[str]:
        place = _PLACES[kind]
        return [f"{place}/{name}" for name in _names_in(os.path.join(self._state_directory, place))]

    def age_s(self, key: str) -> int:
        try:
            return max(0, int(time.time() - os.lstat(os.path.join(self._state_directory, key)).st_mtime))
        except OSError:
            return 0

    def remove(self, key: str) -> None:
        path = os.path.join(self._state_directory, key)
        if os.path.isdir(path) and not os.path.islink(path):
            shutil.rmtree(path)
        else:
            os.unlink(path)

    def dead_for_s(self, bond: str) -> int | None:
        try:
            dead_ns = self._bonds.dead_for_ns(bond, self._clock.now())
        except (Refusal, OSError):
            return None
        return dead_ns // 1_000_000_000 if dead_ns is not None else None

    def remove_bond(self, bond: str) -> None:
        self._bonds.hold(bond).release()

    def directories(self) -> list[str]:
        paths = [os.path.join(self._home, name) for name in _names_in(self._home) if name != self._skipped]
        return [os.path.realpath(path) for path in paths if os.path.isdir(path) and not os.path.islink(path)]

    def is_empty(self, path: str) -> bool:
        return not os.listdir(path)

    def remove_directory(self, path: str) -> None:
        os.rmdir(path)


def _names_in(directory: str) -> list[str]:
    try:
        return sorted(os.listdir(directory))
    except OSError:
        return []
