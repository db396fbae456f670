"""Notices that the radar may have something new to see: a snapshot, or a branch that moved. Starts no process
and reads only what has changed, so it can be asked several times a second."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from lineclear.git.layout import names_in
from lineclear.git.snapshots.files import State

if TYPE_CHECKING:
    from collections.abc import Iterator


class WorkWatch:
    """`snapshots`: the directory of the snapshots' state files."""

    def __init__(self, common_dir: str, snapshots: str) -> None:
        self._common_dir, self._snapshots = common_dir, snapshots
        self._states: dict[str, tuple[int, str]] = {}

    def stamp(self) -> tuple[object, ...]:
        """Differs from the last one if there may be something new."""
        states = {name: self._state(name) for name in names_in(self._snapshots) if name.endswith(".state")}
        self._states = states
        refs = tuple(_time_of(path) for path in self._ref_places())
        return (refs, tuple(commit for _, commit in states.values()))

    def _state(self, name: str) -> tuple[int, str]:
        """(time of the file, the snapshot that it names). The file also changes without a new snapshot."""
        path = f"{self._snapshots}/{name}"
        changed_ns = _time_of(path)
        known = self._states.get(name)
        if known is not None and known[0] == changed_ns:
            return known
        return (changed_ns, State.load(path).commit)

    def _ref_places(self) -> Iterator[str]:
        """Git replaces a file in one of these when a branch moves, is made or removed, or is checked out."""
        yield f"{self._common_dir}/packed-refs"
        yield f"{self._common_dir}/reftable"
        yield f"{self._common_dir}/HEAD"
        for name in names_in(f"{self._common_dir}/worktrees"):
            yield f"{self._common_dir}/worktrees/{name}/HEAD"
        for place, _, _ in os.walk(f"{self._common_dir}/refs/heads"):
            yield place


def _time_of(path: str) -> int:
    try:
        return os.stat(path).st_mtime_ns
    except OSError:
        return 0
