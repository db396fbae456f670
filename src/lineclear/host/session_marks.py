"""Files beside a session's memory: a mark for each running command, the picture of the tree before it, and
the time of the last edit.

A hook call stores what it learns from them in the memory, together with its answer. Only then may the files
be changed: if the process dies before, the repeated call has to find the same files.
"""

from __future__ import annotations

import os
import time

from lineclear.core.agents.hooks import session_key

TYPE_CHECKING = False
if TYPE_CHECKING:
    from lineclear.app.hooks.ports import Memory

# Kinds in the memory: when a command that still runs was last examined; the picture still to be put in place.
LOOKED, FRESH = "looked", "fresh"
_CALL = "call"
_LONGEST_CALL_S = 10 * 60


class SessionMarks:
    """`picture`: the file with the tree as the session last saw it; its time is that of the last change."""

    __slots__ = ("_path", "picture")

    def __init__(self, path: str) -> None:
        """`path`: the path of the session's memory."""
        self._path = path
        self.picture = path + ".picture"

    # -- commands -----------------------------------------------------------------------------

    def mark_of(self, call_id: str) -> str:
        return f"{self._path}.{session_key(_CALL, call_id)[:60]}"

    def begin(self, call_id: str) -> None:
        """Make the mark: files that change from now on have a later time."""
        with open(self.mark_of(call_id), "wb"):
            pass

    def start_ns(self, memory: Memory, call_id: str) -> int:
        """Since when a command's changes have not been examined. Raises OSError or ValueError."""
        return max(os.stat(self.mark_of(call_id)).st_ctime_ns, int(memory.get(LOOKED, call_id) or 0))

    def now_ns(self) -> int:
        """The time by the file system's clock, since we compare it with times of files: ours may be ahead."""
        path = f"{self.picture}.{os.getpid()}.now"
        with open(path, "wb") as file:
            found = os.fstat(file.fileno()).st_ctime_ns
        _unlink(path)
        return found

    def end(self, call_id: str) -> None:
        _unlink(self.mark_of(call_id))

    # -- pictures -----------------------------------------------------------------------------

    def make_directory(self) -> None:
        os.makedirs(os.path.dirname(self._path), mode=0o700, exist_ok=True)

    def put(self, fresh: str) -> None:
        """Put a new picture in its place; "" if it is already there."""
        if fresh and os.path.exists(fresh):
            os.replace(fresh, self.picture)

    def put_late(self, memory: Memory) -> None:
        """Put the last answer's picture in place if its process died before that. File names are reused, so
        the stamp identifies the picture."""
        stamp, _, fresh = memory.get(FRESH).partition(" ")
        if stamp and stamp_of(fresh) == stamp:
            self.put(fresh)

    def clear_pictures(self) -> None:
        """Remove pictures that a killed call wrote and never put in place."""
        directory, _, name = self._path.rpartition("/")
        for found in os.listdir(directory):
            if found.startswith(f"{name}.picture."):
                path = f"{directory}/{found}"
                try:
                    if os.path.getmtime(path) < time.time() - _LONGEST_CALL_S:
                        os.unlink(path)
                except FileNotFoundError:
                    pass  # a concurrent call removed it

    def catch_up(self, memory: Memory, *, ended: str, are_all_over: bool) -> None:
        """Finish the work of a process that died just after its answer was stored."""
        self.put_late(memory)
        if ended:
            self.end(ended)
        if are_all_over:
            directory, _, name = self._path.rpartition("/")
            for found in os.listdir(directory):
                if found.startswith(f"{name}.{_CALL}-"):
                    _unlink(f"{directory}/{found}")

    # -- edits --------------------------------------------------------------------------------

    def edited_ns(self) -> int:
        """When the session last changed a file, as far as we know; 0 if never."""
        return max(time_of(self._path + ".edited"), time_of(self.picture))

    def note_edit(self) -> None:
        touch(self._path + ".edited")


def stamp_of(path: str) -> str:
    """Identifies a written picture; stays the same when the file is renamed."""
    try:
        found = os.stat(path)
    except OSError:
        return ""
    return f"{found.st_ino}.{found.st_mtime_ns}"


def time_of(path: str) -> int:
    """When a file was last changed; 0 if there is none."""
    try:
        return os.stat(path).st_mtime_ns
    except OSError:
        return 0


def touch(path: str) -> None:
    """Give a file the current time; make it if there is none."""
    with open(path, "ab"):
        os.utime(path)


def _unlink(path: str) -> None:
    try:
        os.unlink(path)
    except OSError:
        pass
