"""Lists database migrations on main and in every worktree of this clone."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from lineclear.code.migrations import is_migration
from lineclear.git.layout import landing_branch, names_in, worktrees
from lineclear.git.object_store import ObjectStore
from lineclear.git.run import git

if TYPE_CHECKING:
    from lineclear.git.layout import Layout

_MOST_TEXT = 1 << 16


class GitMigrations:
    """The `MigrationFiles` of app/queue/migrations.py."""

    def __init__(self, layout: Layout) -> None:
        self._layout, self._on_main = layout, _on_main(layout)

    def on_main(self) -> list[str]:
        return list(self._on_main)

    def files_in(self, folder: str) -> dict[str, str]:
        wanted = {path: oid for path, oid in self._on_main.items() if path.startswith(folder + "/")}
        with ObjectStore(self._layout.worktree) as store:
            texts = store.find(wanted.values())
        files = _entries({path: texts[oid][1] for path, oid in wanted.items() if oid in texts}, folder)
        for _, tree in worktrees(self._layout.common_dir):
            files |= _in_tree(f"{tree}/{folder}")
        return files


def _on_main(layout: Layout) -> dict[str, str]:
    """Return path -> blob of every migration on main; empty if main does not exist yet."""
    main = layout.landing or landing_branch(layout.common_dir)
    if not main:
        return {}
    words = ["ls-tree", "-r", "-z", "--full-tree", main]
    rows = git(words, layout.worktree, check=False).decode("utf-8", "surrogateescape").split("\0")[:-1]
    found = {path: meta.split(" ")[2] for meta, _, path in (row.partition("\t") for row in rows)}
    return {path: oid for path, oid in found.items() if is_migration(path)}


def _entries(texts: dict[str, bytes], folder: str) -> dict[str, str]:
    """Return name -> text for files directly in the folder, name -> "" for the folders in it."""
    found: dict[str, str] = {}
    for path, text in texts.items():
        name, slash, _ = path[len(folder) + 1 :].partition("/")
        found[name] = "" if slash else text[:_MOST_TEXT].decode("utf-8", "replace")
    return found


def _in_tree(directory: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for name in names_in(directory):
        path = f"{directory}/{name}"
        try:
            if os.path.isdir(path):
                found[name] = ""
                continue
            with open(path, "rb") as file:
                found[name] = file.read(_MOST_TEXT).decode("utf-8", "replace")
        except OSError:
            continue  # removed meanwhile, or not a file
    return found
