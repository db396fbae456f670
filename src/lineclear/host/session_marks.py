"""Files beside a session's memory: a mark for each command that runs, the picture of the tree before it, and
the time of the last edit.

What a call finds out by them it remembers in the memory, with its answer. Only then may they be changed: a
process that is asked again after a death has to find the same.
"""

from __future__ import annotations

import os
import time

from lineclear.core.agents.hooks import session_key

TYPE_CHECKING = False
if TYPE_CHECKING:
    from lineclear.app.hooks.ports import Memory

# In the memory: when a command was looked at that goes on; the picture that is yet to be put in its place.
LOOKED, FRESH = "looked", "fresh"
_CALL = "call"
_LONGEST_CALL_S = 10 * 60


class SessionMarks:
    """`picture`: the tree as it was when the session last looked at it; its time is that of the last
    difference."""

    __slots__ = ("_path", "picture")

    def __init__(self, path: str) -> None:
        """`path`: of the session's memory."""
        self._path = path
        self.picture = path + ".picture"

    # -- commands -----------------------------------------------------------------------------

    def mark_of(self, call_id: str) -> str:
        return f"{self._path}.{session_key(_CALL, call_id)[:60]}"

    def begin(self, call_id: str) -> None:
        """What is changed from now on has a later time than the mark."""
        with open(self.mark_of(call_id), "wb"):
            pass

    def start_ns(self, memory: Memory, call_id: str) -> int:
        """From when on a command's changes have not been seen. Raises OSError or ValueError."""
        return max(os.stat(self.mark_of(call_id)).st_ctime_ns, int(memory.get(LOOKED, call_id) or 0))

    def now_ns(self) -> int:
        """By the clock of the files, with whose times it is compared: ours may be ahead of it."""
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
        """A picture in its place; "" for one that is there already."""
        if fresh and os.path.exists(fresh):
            os.replace(fresh, self.picture)

    def put_late(self, memory: Memory) -> None:
        """The picture of the last answer, if the process that gave it died before that. Names are used
        again: the stamp tells it from another."""
        stamp, _, fresh = memory.get(FRESH).partition(" ")
        if stamp and stamp_of(fresh) == stamp:
            self.put(fresh)

    def clear_pictures(self) -> None:
        """Pictures that a call wrote and, because it was killed, never put in place."""
        directory, _, name = self._path.rpartition("/")
        for found in os.listdir(directory):
            if found.startswith(f"{name}.picture."):
                path = f"{directory}/{found}"
                try:
                    if os.path.getmtime(path) < time.time() - _LONGEST_CALL_S:
                        os.unlink(path)
                except FileNotFoundError:
                    pass  # a call beside this one was quicker

    def catch_up(self, memory: Memory, *, ended: str, are_all_over: bool) -> None:
        """What is done when an answer is kept, in place of a process that died before it."""
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
        """When the session last changed a file, as far as we know; 0 for never."""
        return max(time_of(self._path + ".edited"), time_of(self.picture))

    def note_edit(self) -> None:
        path = self._path + ".edited"
        with open(path, "ab"):
            os.utime(path)


def stamp_of(path: str) -> str:
    """Tells one written picture from the next; it stays the same when the file is renamed."""
    try:
        found = os.stat(path)
    except OSError:
        return ""
    return f"{found.st_ino}.{found.st_mtime_ns}"


def time_of(path: str) -> int:
    """When a file was last changed; 0 when there is none."""
    try:
        return os.stat(path).st_mtime_ns
    except OSError:
        return 0


def _unlink(path: str) -> None:
    try:
        os.unlink(path)
    except OSError:
        pass
