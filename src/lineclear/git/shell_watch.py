"""Finds the files that shell commands changed, by comparing the worktree before and after.

Git runs before the store's transaction or after it, so that nobody waits for git inside one.
"""

from __future__ import annotations

import os

from lineclear.host.session_marks import FRESH, LOOKED, stamp_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from lineclear.app.hooks.ports import Memory
    from lineclear.git.tree_states import Picture
    from lineclear.host.session_marks import SessionMarks


class GitShellWatch:
    """Watches one worktree for one session. `is_secret`: do not keep the content of this file."""

    __slots__ = ("_is_secret", "_marks", "_root")

    def __init__(self, root: str, marks: SessionMarks, is_secret: Callable[[str], bool]) -> None:
        self._root, self._marks, self._is_secret = root, marks, is_secret

    def look(self, memory: Memory, call_ids: list[str], *, is_over: bool) -> GitShellLook | None:
        from lineclear.git import tree_states

        marks = self._marks
        marks.put_late(memory)
        found = [one for one in call_ids if os.path.exists(marks.mark_of(one))]
        try:
            start_ns = min(marks.start_ns(memory, one) for one in found)
        except (OSError, ValueError):
            return None
        now_ns = 0 if is_over else marks.now_ns()
        before, after, fresh = tree_states.read_picture(marks.picture), None, ""
        changed: list[str] = []
        if before is not None:
            after = tree_states.take_picture(self._root, before, self._is_secret)
            changed = [
                os.fsdecode(path) for path in tree_states.changed_since(self._root, before, after, start_ns)
            ]
            fresh = tree_states.write_picture(marks.picture, after)
        return GitShellLook(
            self._root, marks, found, start_ns, now_ns, before, after, changed, fresh, is_over=is_over
        )

    def begin(self, memory: Memory, call_id: str, writes_size: int, *, is_fresh: bool) -> None:
        marks = self._marks
        marks.make_directory()
        # If this call has just examined other commands, it has a new picture already, and needs the old one
        # until its answer is stored.
        if not is_fresh:
            self._renew_picture(memory, writes_size)
        marks.clear_pictures()
        marks.begin(call_id)

    def _renew_picture(self, memory: Memory, writes_size: int) -> None:
        from lineclear.git import tree_states

        marks = self._marks
        marks.put_late(memory)
        before = tree_states.read_picture(marks.picture)
        known = _freshness(self._root, stamp_of(marks.picture), writes_size)
        if before is None or memory.get("picture") != known:
            picture = tree_states.take_picture(self._root, before, self._is_secret)
            marks.put(tree_states.write_picture(marks.picture, picture))
            memory.set("picture", "", _freshness(self._root, stamp_of(marks.picture), writes_size))


class GitShellLook:
    """The worktree after some commands. `fresh`: the file with the new picture, "" if nothing changed."""

    __slots__ = (
        "_after", "_before", "_call_ids", "_fresh", "_marks", "_now_ns", "_root", "changed", "is_over",
        "start_ns",
    )  # fmt: skip

    def __init__(
        self, root: str, marks: SessionMarks, call_ids: list[str], start_ns: int, now_ns: int,
        before: Picture | None, after: Picture | None, changed: list[str], fresh: str, *, is_over: bool,
    ) -> None:  # fmt: skip
        self._root, self._marks, self._call_ids, self._now_ns = root, marks, call_ids, now_ns
        self._before, self._after, self._fresh = before, after, fresh
        self.start_ns, self.is_over, self.changed = start_ns, is_over, changed

    @property
    def is_compared(self) -> bool:
        return self._after is not None

    def undo(self, path: str) -> str:
        if self._before is None or self._after is None:
            return ""
        from lineclear.git import tree_states

        return tree_states.undo_command(self._root, os.fsencode(path), self._before, self._after)

    def remember(self, memory: Memory, writes_size: int) -> Callable[[], None]:
        for one in self._call_ids:
            memory.set(LOOKED, one, "" if self.is_over else str(self._now_ns))
        if self.is_compared:
            stamp = stamp_of(self._fresh or self._marks.picture)
            if not self.is_over:
                memory.set(FRESH, "", f"{stamp} {self._fresh}" if self._fresh else "")
            memory.set("picture", "", _freshness(self._root, stamp, writes_size))
        return self._tidy

    def _tidy(self) -> None:
        if self.is_over:
            for one in self._call_ids:
                self._marks.end(one)
        self._marks.put(self._fresh)


def _freshness(root: str, stamp: str, writes_size: int) -> str:
    """Identifies a picture and the known writes so far: while both are the same, the picture is current."""
    return f"{root} {stamp}" if writes_size < 0 else f"{root} {stamp} {writes_size}"
