"""Compares two commits of any git repository, as the radar compares two agents. Opens no store."""

from __future__ import annotations

import os
from contextlib import closing
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from lineclear.app.radar.comparing import compare_sides
from lineclear.app.radar.known_work import KnownWork
from lineclear.git.layout import find_layout
from lineclear.git.radar import CloneRadar
from lineclear.git.snapshots.refs import merge_base
from lineclear.host.merge_processes import MERGE_PROCESSES
from lineclear.store.facts_cache import SqliteFactsCache

if TYPE_CHECKING:
    from lineclear.core.radar.findings import Finding


def compare_commits(cwd: str, left: str, right: str) -> list[Finding]:
    """The findings between two commits, as sides named "left" and "right"; [] if they have no merge base."""
    layout = find_layout(cwd, os.environ)
    base = merge_base(layout.common_dir, left, right)
    if not base:
        return []
    with TemporaryDirectory(prefix="lineclear-") as scratch:
        cache = SqliteFactsCache(f"{scratch}/radar.db", "", lambda: 0)
        git = CloneRadar(
            layout,
            snapshots=scratch,
            scratch=f"{scratch}/objects",
            scope="",
            known=lambda: KnownWork(owners={}, landed=frozenset(), queued={}),
            answers=cache,
            rules=MERGE_PROCESSES,
            live_for_s=0,
            now_s=lambda: 0,
        )
        with closing(cache), closing(git):
            sides = [git.side_at("left", left, base), git.side_at("right", right, base)]
            return compare_sides(git, cache, MERGE_PROCESSES, sides).findings
