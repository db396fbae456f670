"""Migrations as they are on main and in every worktree of this machine, for whoever wants the next number."""

from __future__ import annotations

import os
import time

from lineclear.app.queue.migrations import reserve_next
from lineclear.core.words.refusals import refuse
from lineclear.git.layout import landing_branch, names_in, worktrees
from lineclear.git.object_store import ObjectStore
from lineclear.git.run import git
from lineclear.merge.migrations import is_migration
from lineclear.wiring.repo import folds_case

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from lineclear.app.ports import Caller
    from lineclear.wiring.repo import Repo

_MOST_TEXT = 1 << 16


def reserve(
    repo: Repo, caller: Caller, folder: str, *, name: str, ttl_ms: int = 0, task: int = 0
) -> dict[str, Any]:
    """`folder`: from the repository's root; "" for the only one that has migrations."""
    on_main = _on_main(repo)
    folder = folder.strip("/") or _only_folder(on_main)
    with ObjectStore(repo.layout.worktree) as store:
        wanted = {path: oid for path, oid in on_main.items() if path.startswith(folder + "/")}
        texts = store.find(wanted.values())
        files = _entries({path: texts[oid][1] for path, oid in wanted.items() if oid in texts}, folder)
    for _, tree in worktrees(repo.layout.common_dir):
        files |= _in_tree(f"{tree}/{folder}")
    settings = repo.settings
    return reserve_next(
        repo.store, repo.liveness, caller, folder, files, time.strftime("%Y%m%d%H%M%S", time.gmtime()),
        name=name, ttl_ms=ttl_ms or settings.claims_ttl_ms, task=task,
        fold_case=folds_case(repo.layout, settings), nfc=settings.paths_nfc,
    )  # fmt: skip


def _on_main(repo: Repo) -> dict[str, str]:
    """Path -> blob of every migration on main; empty when there is no main yet."""
    main = repo.layout.landing or landing_branch(repo.layout.common_dir)
    if not main:
        return {}
    words = ["ls-tree", "-r", "-z", "--full-tree", main]
    rows = git(words, repo.layout.worktree, check=False).decode("utf-8", "surrogateescape").split("\0")[:-1]
    found = {path: meta.split(" ")[2] for meta, _, path in (row.partition("\t") for row in rows)}
    return {path: oid for path, oid in found.items() if is_migration(path)}


def _only_folder(on_main: dict[str, str]) -> str:
    folders = {path.rpartition("/")[0] for path in on_main}
    # Prisma keeps each migration in a folder of its own.
    folders = {folder.rpartition("/")[0] if "prisma/migrations/" in folder else folder for folder in folders}
    if len(folders) != 1:
        raise refuse("migration.folder", folders=sorted(folders))
    return folders.pop()


def _entries(texts: dict[str, bytes], folder: str) -> dict[str, str]:
    """Files directly in the folder, and the names of folders in it."""
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
