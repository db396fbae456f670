"""What commands in a shell have changed: the worktree compared before and after, minus what others wrote.

Git is asked before the store, or when its transaction is over: nobody else waits for git then.
"""

from __future__ import annotations

import os
import time

from lineclear.app.hooks.ports import ShellChange
from lineclear.core.agents.names import is_family
from lineclear.git import pictures
from lineclear.host.sessions import digest_of
from lineclear.wiring import hooking_marks as marks

TYPE_CHECKING = False
if TYPE_CHECKING:
    from lineclear.git.pictures import Picture
    from lineclear.host.sessions import SessionFile
    from lineclear.settings import Settings
    from lineclear.wiring.hooking import HookSession

_LONGEST_CALL_S = 10 * 60
_LONGEST_CALL_NS = _LONGEST_CALL_S * 1_000_000_000


class ShellLook:
    """The worktree as it is after some commands. `marks`: their files, by their ids. `is_over`: the commands
    have ended, and are not looked at again. `fresh`: the new picture, beside the place of the old one."""

    __slots__ = ("after", "before", "changed", "fresh", "is_over", "marks", "now_ns", "start_ns")

    def __init__(self, found: dict[str, str], start_ns: int, *, is_over: bool) -> None:
        self.marks, self.start_ns, self.is_over = found, start_ns, is_over
        self.now_ns = 0
        self.before: Picture | None = None
        self.after: Picture | None = None
        self.changed: list[bytes] = []
        self.fresh = ""


def look_at(
    root: str, memory: SessionFile, call_ids: list[str], *, is_over: bool, settings: Settings,
) -> ShellLook | None:  # fmt: skip
    """Marks and the picture from before stay until the answer is kept: asked again, it is the same."""
    marks.put_late(memory)
    path = marks.picture_of(memory)
    found = {one: mark for one in call_ids if os.path.exists(mark := marks.mark_of(memory, one))}
    try:
        start_ns = min(marks.start_ns(memory, mark, one) for one, mark in found.items())
    except (OSError, ValueError):
        return None
    look = ShellLook(found, start_ns, is_over=is_over)
    if not is_over:
        look.now_ns = marks.now_ns(memory)
    look.before = pictures.read_picture(path)
    if look.before is not None:
        look.after = _take(root, look.before, settings)
        look.changed = pictures.changed_since(root, look.before, look.after, start_ns)
        look.fresh = pictures.write_picture(path, look.after)
    return look


def changes_in(session: HookSession, look: ShellLook) -> list[ShellChange]:
    """Without what others are known to have written; what they might have is unsure."""
    if look.before is None or look.after is None or not look.changed:
        return []
    theirs, is_alone = _others_since(session, look.start_ns) if session.is_shared else ({}, True)
    changes = []
    for path in look.changed:
        name = os.fsdecode(path)
        digest = theirs.get(name)
        if digest is not None and (digest_of(f"{session.root}/{name}") or "gone") == digest:
            continue
        undo = pictures.undo_command(session.root, path, look.before, look.after)
        changes.append(ShellChange(name, undo, is_alone and digest is None))
    return changes


def _others_since(session: HookSession, start_ns: int) -> tuple[dict[str, str], bool]:
    """What others wrote since then, and whether no command of another's ran meanwhile."""
    running: dict[str, bool] = {}
    theirs: dict[str, str] = {}
    is_alone = True
    for at_ns, agent, path, digest in session.writes.since(start_ns - _LONGEST_CALL_NS, session.tree):
        if is_family(agent, session.caller.name):
            continue
        if digest in ("+", "-"):
            running[agent] = digest == "+"
            is_alone = is_alone and at_ns < start_ns
        elif at_ns >= start_ns:
            theirs[path] = digest
    return theirs, is_alone and not any(running.values())


def remember(session: HookSession, look: ShellLook) -> None:
    """What was seen now is not seen again."""
    memory = session.memory
    for one, mark in look.marks.items():
        memory.set(marks.LOOKED, one, "" if look.is_over else str(look.now_ns))
        if look.is_over:
            session.after_answer(marks.unlinking(mark))
    if look.after is None:
        return
    if session.is_shared and look.is_over:
        session.writes.note(time.time_ns(), session.caller.name, session.tree, "", "-")
    session.after_answer(lambda: marks.put(memory, look.fresh))
    stamp = pictures.stamp_of(look.fresh or marks.picture_of(memory))
    if not look.is_over:
        memory.set(marks.FRESH, "", f"{stamp} {look.fresh}" if look.fresh else "")
    memory.set("picture", "", _freshness(session, stamp))


def begin(session: HookSession, call_id: str, look: ShellLook | None) -> None:
    """Before a command runs."""
    memory = session.memory
    os.makedirs(os.path.dirname(memory.path), mode=0o700, exist_ok=True)
    # Who has looked at other commands in this call has a new picture, and needs the old one until the answer
    # is kept.
    if look is None or look.after is None:
        _renew_picture(session)
    _clear_pictures(memory)
    # Last: what is changed from now on has a later time than this file.
    with open(marks.mark_of(memory, call_id), "wb"):
        pass
    if session.is_shared:
        session.writes.note(time.time_ns(), session.caller.name, session.tree, "", "+")


def _renew_picture(session: HookSession) -> None:
    memory = session.memory
    marks.put_late(memory)
    path = marks.picture_of(memory)
    before = pictures.read_picture(path)
    if before is None or memory.get("picture") != _freshness(session, pictures.stamp_of(path)):
        picture = _take(session.root, before, session.settings)
        marks.put(memory, pictures.write_picture(path, picture))
        memory.set("picture", "", _freshness(session, pictures.stamp_of(path)))


def _take(root: str, before: Picture | None, settings: Settings) -> Picture:
    def is_secret(path: str) -> bool:
        from lineclear.core.worktrees.snapshots import SnapshotLimits

        limits = SnapshotLimits(secret_names=settings.snapshots_secret_names)
        return not settings.snapshots_secrets and limits.is_secret(path)

    return pictures.take_picture(root, before, is_secret)


def _freshness(session: HookSession, stamp: str) -> str:
    """This very picture still counts while nobody is known to have written since."""
    picture = f"{session.root} {stamp}"
    return f"{picture} {session.writes.size()}" if session.is_shared else picture


def _clear_pictures(memory: SessionFile) -> None:
    """Pictures that a call wrote and, because it was killed, never put in place."""
    directory, _, name = memory.path.rpartition("/")
    for found in os.listdir(directory):
        if found.startswith(f"{name}.picture."):
            path = f"{directory}/{found}"
            try:
                if os.path.getmtime(path) < time.time() - _LONGEST_CALL_S:
                    os.unlink(path)
            except FileNotFoundError:
                pass  # a call beside this one was quicker
