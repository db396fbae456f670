"""Files beside a session's memory: a mark for each command that runs, and the picture of the tree before it.

What a call finds out by them it remembers in the memory, with its answer. Only then may they be changed:
whoever is asked again after a death has to find the same.
"""

from __future__ import annotations

import os

from lineclear.core.agents.hooks import AFTER_SHELL, STOP, session_key

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from lineclear.core.agents.hooks import HookCall
    from lineclear.host.sessions import SessionFile

# When a command was looked at that goes on; the picture that is yet to be put in its place.
LOOKED, FRESH = "looked", "fresh"
_CALL = "call"


def mark_of(memory: SessionFile, call_id: str) -> str:
    return f"{memory.path}.{session_key(_CALL, call_id)[:60]}"


def picture_of(memory: SessionFile) -> str:
    """The tree as it was when the session last looked at it; its time is that of the last difference."""
    return memory.path + ".picture"


def start_ns(memory: SessionFile, mark: str, call_id: str) -> int:
    """From when on a command's changes have not been seen."""
    return max(os.stat(mark).st_ctime_ns, int(memory.get(LOOKED, call_id) or 0))


def now_ns(memory: SessionFile) -> int:
    """By the clock of the files, with whose times it is compared: ours may be ahead of it."""
    path = f"{picture_of(memory)}.{os.getpid()}.now"
    with open(path, "wb") as file:
        found = os.fstat(file.fileno()).st_ctime_ns
    unlink(path)
    return found


def put(memory: SessionFile, fresh: str) -> None:
    """A picture in its place; "" for one that is there already."""
    if fresh and os.path.exists(fresh):
        os.replace(fresh, picture_of(memory))


def put_late(memory: SessionFile) -> None:
    """The picture of the last answer, if whoever gave it died before that. Names are used again: the stamp
    tells it from another."""
    from lineclear.git.pictures import stamp_of

    stamp, _, fresh = memory.get(FRESH).partition(" ")
    if stamp and stamp_of(fresh) == stamp:
        put(memory, fresh)


def catch_up(memory: SessionFile, call: HookCall) -> None:
    """What is done when the answer is kept, in place of one who died before it."""
    put_late(memory)
    if call.event == AFTER_SHELL:
        unlink(mark_of(memory, call.call_id))
    elif call.event == STOP and call.is_end_unsure:
        directory, _, name = memory.path.rpartition("/")
        for found in os.listdir(directory):
            if found.startswith(f"{name}.{_CALL}-"):
                unlink(f"{directory}/{found}")


def unlinking(path: str) -> Callable[[], None]:
    return lambda: unlink(path)


def unlink(path: str) -> None:
    try:
        os.unlink(path)
    except OSError:
        pass
