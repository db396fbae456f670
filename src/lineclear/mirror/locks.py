"""Lock files in worktrees: write and remove our own, find and never touch those of other tools."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

from lineclear.core.claims.granting import EXCLUSIVE
from lineclear.core.claims.lock_files import (
    MOST_READ_BYTES,
    SUFFIX,
    is_ours,
    is_stale,
    lock_name,
    read_foreign,
    write_lock,
)
from lineclear.core.words.refusals import refuse
from lineclear.mirror.files import create, read_small, remove, replace
from lineclear.wiring.mirroring import LOCKS, live_trees, parts_on

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lineclear.core.claims.granting import Request
    from lineclear.core.claims.lock_files import Lock
    from lineclear.core.claims.resources import Resource
    from lineclear.wiring.mirroring import Tree
    from lineclear.wiring.repo import Repo

# How many entries of a claimed directory we search for other tools' locks.
MOST_ENTRIES = 20_000


def write_locks(trees: list[Tree], locks: list[Lock], earlier: list[str]) -> tuple[list[str], list[str]]:
    """Write these locks and remove other earlier ones; return our lock files and the problems."""
    written, troubles = [], []
    for tree in trees:
        for lock in locks:
            try:
                path = _place(tree, lock.path)
                if path and _write(tree.path, path, write_lock(lock).encode("utf-8", "replace")):
                    written.append(path)
            except OSError as error:
                troubles.append(f"{lock.path}{SUFFIX} in {tree.name}: {error}")
    for path in sorted(set(earlier) - set(written)):
        if is_our_lock(path):
            remove(path)
    return written, troubles


def _place(tree: Tree, path: str) -> str:
    """The lock file's path; "" if its directory is missing or leads out of the worktree."""
    name = lock_name(path)
    target = os.path.join(tree.path, name) if name else ""
    parent = os.path.dirname(target)
    if not target or not os.path.isdir(parent):
        return ""
    real = os.path.realpath(parent)
    return target if real == tree.path or real.startswith(tree.path + "/") else ""


def _write(root: str, path: str, data: bytes) -> bool:
    """Write our lock file; False if another tool's lock is there, which stays."""
    found = read_small(path, MOST_READ_BYTES)
    if found is None:
        return create(root, path, data)
    if not is_ours(found.decode("utf-8", "replace")):
        return False
    if found != data:
        replace(root, path, data)
    return True


def is_our_lock(path: str) -> bool:
    try:
        found = read_small(path, MOST_READ_BYTES)
    except OSError:
        return False
    return found is not None and is_ours(found.decode("utf-8", "replace"))


# -- locks of others --------------------------------------------------------------------------


def refuse_foreign(repo: Repo, request: Request) -> None:
    """Refuse an exclusive claim of a path that another tool's fresh lock file covers."""
    if request.mode != EXCLUSIVE or LOCKS not in parts_on(repo.settings):
        return
    trees = live_trees(repo)
    for resource in request.resources:
        for path in _candidates(trees, resource):
            _refuse_if_held(resource, path)


def _candidates(trees: list[Tree], resource: Resource) -> Iterator[str]:
    if resource.scheme != "file" or resource.kind == "glob":
        return
    parts = [part for part in resource.path.split("/") if part]
    names = []
    for count in range(len(parts), 0, -1):
        above = "/".join(parts[:count])
        names += [above + SUFFIX, f"{above}/{SUFFIX}"]
    for tree in trees:
        yield from (os.path.join(tree.path, name) for name in names)
        if resource.kind == "dir":
            yield from _inside(os.path.join(tree.path, *parts))


def _inside(directory: str) -> Iterator[str]:
    seen = 0
    for place, directories, names in os.walk(directory, onerror=lambda _error: None):
        directories[:] = [name for name in directories if name != ".git"]
        yield from (os.path.join(place, name) for name in names if name.endswith(SUFFIX))
        seen += len(names) + len(directories)
        if seen > MOST_ENTRIES:
            return


def _refuse_if_held(resource: Resource, path: str) -> None:
    held = _held(path)
    if held is not None:
        words, age_ms = held
        raise refuse(
            "claim.lock_file",
            path=resource.path or "./",
            lock=os.path.basename(path),
            words=words,
            age_minutes=age_ms // 60_000,
        )


def _held(path: str) -> tuple[str, int] | None:
    """(the text of another tool's lock, its age); None if there is none, or it is stale."""
    try:
        found = os.lstat(path)
    except OSError:
        return None
    try:
        data = read_small(path, MOST_READ_BYTES) or b""
    except OSError:
        data = b""  # a link, or too large: it exists, but we cannot read it
    text = data.decode("utf-8", "replace")
    if is_ours(text):
        return None
    lock = read_foreign(text)
    age_ms = max(0, int((time.time() - found.st_mtime) * 1000))
    if is_stale(lock, age_ms, host=os.uname().nodename, is_alive=_is_alive(lock.pid)):
        return None
    return lock.words, age_ms


def _is_alive(pid: int) -> bool:
    if pid <= 0:
        return False
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True  # it belongs to another user
    return True
