"""Puts files of a work tree back to a commit, but only those that an unfinished move left there.

A file counts as left by the move if it is missing, or holds exactly the move's new content or the beginning
of it. Everything else is somebody's work and stays.
"""

from __future__ import annotations

import os
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from lineclear.git.object_store import ObjectStore
from lineclear.git.run import GitFailed, git

if TYPE_CHECKING:
    from collections.abc import Sequence

    # (mode, object id); None if the path does not exist
    Entry = tuple[str, str] | None

_SUBMODULE = "160000"


def put_back(
    root: str, commit: str, changes: dict[str, tuple[Entry, Entry]], keep_fds: Sequence[int] = ()
) -> None:
    """`changes`: path -> (its entry in the commit, its entry after the move)."""
    ours = _left_by_the_move(root, changes)
    for path in ours:
        if changes[path][0] is None:
            _remove(root, path)
    wanted = [path for path in ours if changes[path][0] is not None and _make_way(f"{root}/{path}")]
    if not wanted:
        return
    with TemporaryDirectory(prefix="lineclear-") as scratch:
        env = {"GIT_INDEX_FILE": os.path.join(scratch, "index")}
        words = ["-c", "core.fsmonitor=false"]
        git([*words, "read-tree", commit], root, env=env, timeout_s=600)
        listing = "".join(f"{path}\0" for path in wanted).encode("utf-8", "surrogateescape")
        git(
            [*words, "checkout-index", "-f", "-z", "--stdin"], root, input=listing, env=env, check=False,
            timeout_s=600, keep_fds=keep_fds,
        )  # fmt: skip


def _left_by_the_move(root: str, changes: dict[str, tuple[Entry, Entry]]) -> list[str]:
    ours, compare = [], {}
    for path, (_, new) in changes.items():
        full = f"{root}/{path}"
        if not os.path.lexists(full) or (new is None and _is_dir(full)):
            ours.append(path)
        elif new is not None and new[0] != _SUBMODULE:
            compare[path] = new
    hashes = _hashes(root, [path for path in compare if _is_file(f"{root}/{path}")])
    doubtful = {path: new for path, new in compare.items() if hashes.get(path) != new[1]}
    ours += [path for path in compare if path not in doubtful]
    with ObjectStore(root) as store:
        blobs = store.read(new[1] for new in doubtful.values())
    return ours + [path for path, new in doubtful.items() if _is_beginning(f"{root}/{path}", blobs[new[1]])]


def _hashes(root: str, paths: list[str]) -> dict[str, str]:
    """Return the object id that git would give each file, with the same filters as at check-out."""
    plain = [path for path in paths if "\n" not in path]
    if not plain:
        return {}
    listing = "".join(f"{path}\n" for path in plain).encode("utf-8", "surrogateescape")
    try:
        output = git(["hash-object", "--stdin-paths"], root, input=listing, timeout_s=600)
    except GitFailed:  # a file vanished, or a filter failed: the caller compares contents instead
        return {}
    return dict(zip(plain, output.decode().split("\n"), strict=False))


def _is_beginning(path: str, content: bytes) -> bool:
    try:
        if os.path.islink(path):
            return os.fsencode(os.readlink(path)) == content
        if not _is_file(path) or os.path.getsize(path) > len(content):
            return False
        with open(path, "rb") as file:
            return content.startswith(file.read())
    except OSError:
        return False


def _make_way(path: str) -> bool:
    """Remove empty directories in a file's place. False if one has a file, which git would delete."""
    if _is_dir(path):
        for directory, _, _ in os.walk(path, topdown=False):
            try:
                os.rmdir(directory)
            except OSError:
                return False
    return True


def _is_dir(path: str) -> bool:
    return os.path.isdir(path) and not os.path.islink(path)


def _is_file(path: str) -> bool:
    return os.path.isfile(path) and not os.path.islink(path)


def _remove(root: str, path: str) -> None:
    try:
        os.unlink(f"{root}/{path}")
    except OSError:
        return
    parent = os.path.dirname(path)
    while parent:
        try:
            os.rmdir(f"{root}/{parent}")
        except OSError:
            return
        parent = os.path.dirname(parent)
