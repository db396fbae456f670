"""Copies or links files from one directory into another: first a plan, then one function that applies it.

Never replaces an existing file, and never writes through a symlink that leads elsewhere. Copies can be
removed again, and compared by a digest of their content.
"""

from __future__ import annotations

import os
import shutil
import stat
from dataclasses import dataclass
from hashlib import sha256
from typing import TYPE_CHECKING

from lineclear.host.files import remove_tree

if TYPE_CHECKING:
    from collections.abc import Iterable
    from hashlib import _Hash

COPY, LINK = "copy", "link"


@dataclass(frozen=True, slots=True)
class Step:
    """One file or directory to bring; `how` is copy or link, `path` is relative to both roots."""

    how: str
    path: str


class CannotBring(Exception):
    """A file could not be copied, linked or removed; `path` says which one, the message why."""

    def __init__(self, path: str, why: str) -> None:
        super().__init__(why)
        self.path = path


def plan_steps(target: str, *, copies: Iterable[str], links: Iterable[str]) -> list[Step]:
    """The steps for the paths that do not exist in the target yet; a path in both lists is linked."""
    linked = list(links)
    steps = [Step(LINK, path) for path in linked]
    steps += [Step(COPY, path) for path in copies if path not in linked]
    return [
        step
        for step in steps
        if not os.path.lexists(f"{target}/{step.path}") and _is_really_inside(target, step.path)
    ]


def _is_really_inside(target: str, path: str) -> bool:
    """Is no directory above the path a symlink? A branch can contain one that leads outside."""
    above = os.path.dirname(f"{target}/{path}")
    return os.path.realpath(above) == os.path.normpath(above)


def take_out(target: str, path: str) -> None:
    """Remove what was brought to this path, but never through a symlink above it."""
    if not _is_really_inside(target, path):
        return
    try:
        remove_tree(f"{target}/{path}")
    except OSError as error:
        raise CannotBring(path, os.strerror(error.errno or 0)) from error


def content_digest(path: str) -> str:
    """A digest of names, permissions and content; "" if the path does not exist or cannot be read."""
    found = sha256()
    try:
        _add_content(found, path)
    except OSError:
        return ""
    return found.hexdigest()


def _add_content(found: _Hash, path: str) -> None:
    mode = os.lstat(path).st_mode
    found.update(b"%o\0" % mode)
    if stat.S_ISLNK(mode):
        found.update(os.fsencode(os.readlink(path)) + b"\0")
    elif stat.S_ISREG(mode):
        with open(path, "rb") as file:
            size_bytes = 0
            while data := file.read(1 << 20):
                found.update(data)
                size_bytes += len(data)
        found.update(b"\0%d\0" % size_bytes)
    elif stat.S_ISDIR(mode):
        for name in sorted(os.listdir(path)):
            found.update(os.fsencode(name) + b"\0")
            _add_content(found, f"{path}/{name}")
        found.update(b"/\0")


def apply_steps(source: str, target: str, steps: Iterable[Step]) -> None:
    """Copy and link; skip what has vanished from the source in the meantime."""
    for step in steps:
        old, new = f"{source}/{step.path}", f"{target}/{step.path}"
        try:
            os.makedirs(os.path.dirname(new), exist_ok=True)
            if step.how == LINK:
                os.symlink(old, new)
            else:
                _copy(old, new)
        except FileNotFoundError:
            continue
        except OSError as error:
            raise CannotBring(step.path, os.strerror(error.errno or 0)) from error


def _copy(old: str, new: str) -> None:
    """Copy with permissions and times. Symlinks stay symlinks; sockets, pipes and devices are left out."""
    mode = os.lstat(old).st_mode
    if stat.S_ISLNK(mode):
        os.symlink(os.readlink(old), new)
    elif stat.S_ISREG(mode):
        shutil.copy2(old, new, follow_symlinks=False)
    elif stat.S_ISDIR(mode) and not os.path.lexists(old + "/.git"):  # else another repository or worktree
        os.mkdir(new)
        for name in sorted(os.listdir(old)):
            try:
                _copy(f"{old}/{name}", f"{new}/{name}")
            except FileNotFoundError:
                continue
        shutil.copystat(old, new)
