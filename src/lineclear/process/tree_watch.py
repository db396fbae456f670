"""Which of many directory trees were written to: told by the kernel (inotify, Linux only), without a look at
them. Where that cannot be had, the caller is told so, and looks for itself.

A hint that errs on one side: it may name a tree in which nothing of interest happened. What it cannot tell
are writes through a shared memory map that stays open, and through another name of a file that has several.
So whoever relies on it still looks now and then. What was written before `take` is called is told by it: the
kernel queues an event before the write comes back, and all that is queued is read.
"""

from __future__ import annotations

import ctypes
import errno
import os
import struct
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

_MODIFY, _ATTRIB, _CLOSE_WRITE, _MOVED_FROM, _MOVED_TO = 0x2, 0x4, 0x8, 0x40, 0x80
_CREATE, _DELETE, _DELETE_SELF = 0x100, 0x200, 0x400
_UNMOUNT, _OVERFLOW, _IGNORED, _IS_DIRECTORY, _ONLY_DIRECTORY = 0x2000, 0x4000, 0x8000, 0x40000000, 0x01000000
_WRITTEN = (
    _MODIFY | _ATTRIB | _CLOSE_WRITE | _MOVED_FROM | _MOVED_TO | _CREATE | _DELETE | _DELETE_SELF
    | _ONLY_DIRECTORY
)  # fmt: skip
_HEAD = struct.Struct("iIII")
_BUFFER_BYTES = 1 << 16
# A file of this name decides what else is of interest.
_IGNORE_FILE = b".gitignore"
# More than this is not told one by one.
_MOST_PATHS = 200


class Seen:
    """What happened in a tree: `grew` when there may be directories that nobody watches yet. `paths` were
    written, made or removed, some of them when they `are_many`; `new` are directories that came or can be
    read now. All of that says nothing when `is_lost`."""

    __slots__ = ("are_many", "grew", "is_lost", "new", "paths")

    def __init__(self, *, grew: bool = False, is_lost: bool = False) -> None:
        self.grew, self.is_lost, self.are_many = grew, is_lost, False
        self.paths: set[str] = set()
        self.new: set[str] = set()


class TreeWatch:
    """Of one thread at a time. `most` directories at once, all trees together; no more than the kernel
    allows. `is_strict`: a tree is not watched at all if there is something in it whose changes would not be
    told, other repositories and files with several names."""

    def __init__(self, most: int = 0, *, is_strict: bool = False) -> None:
        self._most, self._is_strict = most or kernel_limit() // 2, is_strict
        self._paths: dict[int, tuple[str, str]] = {}  # watch -> (tree, directory)
        self._watches: dict[str, dict[str, int]] = {}  # tree -> directory -> watch
        self._libc = ctypes.CDLL(None, use_errno=True) if sys.platform == "linux" else None
        self._fd = self._open()

    @property
    def can_watch(self) -> bool:
        return self._fd >= 0

    @property
    def watched(self) -> int:
        """How many directories."""
        return len(self._paths)

    def follow(self, tree: str, roots: Iterable[str], is_left_out: Callable[[str], bool]) -> bool:
        """Watch every directory below the roots, but not what is left out; again, what is new among them.
        False where that is not possible: then nothing of this tree is watched."""
        if self._fd < 0:
            return False
        known = self._watches.setdefault(tree, {})
        found: set[str] = set()
        try:
            for root in roots:
                self._add_all(tree, root, is_left_out, known, found)
        except OSError:
            self.drop(tree)
            return False
        for path in known.keys() - found:
            watch = known.pop(path)
            if self._paths.get(watch) == (tree, path):  # else it was only renamed, and is watched on
                self._remove(watch)
        return True

    def extend(
        self, tree: str, roots: Iterable[str], is_left_out: Callable[[str], bool], most: int
    ) -> bool:  # fmt: skip
        """Watch these directories of a followed tree, too, with what is below them. False as for `follow`, or
        when they are more than `most`."""
        known, found = self._watches.get(tree), set[str]()
        if known is None:
            return False
        try:
            for root in roots:
                self._add_all(tree, root, is_left_out, known, found, most)
        except OSError:
            self.drop(tree)
            return False
        return True

    def _add_all(
        self, tree: str, root: str, is_left_out: Callable[[str], bool], known: dict[str, int],
        found: set[str], most: int = 0,
    ) -> None:  # fmt: skip
        waiting = [root]
        while waiting:
            if most and len(found) > most:
                raise OSError(errno.E2BIG, "too many directories")
            path = waiting.pop()
            # Watched before it is listed: what comes in between is told by the kernel.
            watch = self._add(path)
            if watch < 0:
                continue
            known[path] = watch
            self._paths[watch] = (tree, path)
            found.add(path)
            waiting += self._directories_in(path, is_left_out)

    def _directories_in(self, path: str, is_left_out: Callable[[str], bool]) -> list[str]:
        """Not `.git`, not the trees of other repositories, and no link: it may lead anywhere."""
        found = []
        try:
            with os.scandir(path) as entries:
                for entry in entries:
                    if entry.is_dir(follow_symlinks=False):
                        found.append(entry.path)
                    elif self._is_strict and _has_other_names(entry):
                        raise _Odd(errno.EMLINK, entry.path)
        except _Odd:
            raise
        except OSError:
            return []
        inside = [below for below in found if not below.endswith("/.git") and not is_left_out(below)]
        foreign = {below for below in inside if os.path.lexists(below + "/.git")}
        if foreign and self._is_strict:
            raise _Odd(errno.EXDEV, min(foreign))
        return [below for below in inside if below not in foreign]

    def _add(self, path: str) -> int:
        """-1 for a directory that went away meanwhile."""
        assert self._libc is not None
        if len(self._paths) >= self._most:
            raise OSError(errno.ENOSPC, "too many directories")
        watch: int = self._libc.inotify_add_watch(self._fd, os.fsencode(path), _WRITTEN)
        if watch < 0 and ctypes.get_errno() not in (errno.ENOENT, errno.ENOTDIR, errno.EACCES):
            raise OSError(ctypes.get_errno(), path)
        if watch < 0 and self._is_strict and ctypes.get_errno() == errno.EACCES:
            raise _Odd(errno.EACCES, path)  # what cannot be listed may still be written
        return watch

    def drop(self, tree: str) -> None:
        for watch in self._watches.pop(tree, {}).values():
            self._remove(watch)

    def _remove(self, watch: int) -> None:
        if self._paths.pop(watch, None) is not None and self._libc is not None:
            self._libc.inotify_rm_watch(self._fd, watch)

    def take(self, is_ours: Callable[[str, str], bool]) -> dict[str, Seen]:
        """The trees that were written to since the last call; never waits. `is_ours` (directory, name): what
        nobody need hear of."""
        seen: dict[str, Seen] = {}
        while self._fd >= 0:
            try:
                data = os.read(self._fd, _BUFFER_BYTES)
            except BlockingIOError:
                break
            at = 0
            while at < len(data):
                watch, mask, _, length = _HEAD.unpack_from(data, at)
                name = data[at + _HEAD.size : at + _HEAD.size + length].rstrip(b"\0")
                at += _HEAD.size + length
                self._heed(watch, mask, name, is_ours, seen)
        return seen

    def _heed(
        self, watch: int, mask: int, name: bytes, is_ours: Callable[[str, str], bool], seen: dict[str, Seen]
    ) -> None:
        if mask & _OVERFLOW:
            for tree in self._watches:
                seen[tree] = Seen(grew=True, is_lost=True)
            return
        tree, path = self._paths.get(watch, ("", ""))
        if not tree:
            return
        if mask & _IGNORED:  # the directory is gone, and its watch with it
            del self._paths[watch]
            if self._watches[tree].get(path) == watch:
                del self._watches[tree][path]
            return
        if is_ours(path, os.fsdecode(name)):
            return
        is_directory = bool(mask & _IS_DIRECTORY)
        is_new = is_directory and bool(mask & (_CREATE | _MOVED_TO | _MOVED_FROM))
        found = seen.setdefault(tree, Seen())
        found.grew = found.grew or is_new or name == _IGNORE_FILE
        found.is_lost |= bool(mask & _UNMOUNT)
        if is_directory and name and mask & (_CREATE | _MOVED_TO | _ATTRIB):
            found.new.add(f"{path}/{os.fsdecode(name)}")
            found.is_lost |= len(found.new) > _MOST_PATHS
        elif len(found.paths) < _MOST_PATHS:
            found.paths.add(f"{path}/{os.fsdecode(name)}" if name else path)
        else:
            found.are_many = True

    def close(self) -> None:
        """Twice is once."""
        if self._fd >= 0:
            os.close(self._fd)
        self._fd = -1
        self._paths.clear()
        self._watches.clear()

    def _open(self) -> int:
        if self._libc is None:
            return -1
        try:
            fd: int = self._libc.inotify_init1(os.O_CLOEXEC | os.O_NONBLOCK)
        except AttributeError:
            return -1
        return fd


def _has_other_names(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.stat(follow_symlinks=False).st_nlink > 1
    except FileNotFoundError:
        return False  # gone, which is told


class _Odd(OSError):
    """Something whose changes would not be told."""


def kernel_limit() -> int:
    """How many directories all programs of this user may watch: editors need theirs."""
    try:
        with open("/proc/sys/fs/inotify/max_user_watches", encoding="ascii") as file:
            return int(file.read())
    except (OSError, ValueError):
        return 0
