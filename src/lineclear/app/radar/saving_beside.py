"""The process that a hook starts beside itself: save the worktree, run the radar, and wait a little for what
is changed next.

A hook that comes soon after a snapshot starts no other process. So this one looks again when the next
snapshot is due, and stays until nothing has changed: the last edit of a burst is saved, too.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager


@dataclass(frozen=True, slots=True, kw_only=True)
class BesidePorts:
    """`save(is_first)` takes a snapshot, True if there was anything new; a later one than the first counts
    for hooks only then. `scan()` runs the radar. `rest()` sleeps until the next snapshot of this worktree is
    due. `stay()` is False if another process stays for this worktree already."""

    save: Callable[[bool], bool]
    scan: Callable[[], None]
    rest: Callable[[], None]
    stay: Callable[[], AbstractContextManager[bool]]


def save_beside(ports: BesidePorts) -> None:
    if ports.save(True):
        ports.scan()
    with ports.stay() as is_ours:
        while is_ours:
            ports.rest()
            if not ports.save(False):
                return
            ports.scan()
