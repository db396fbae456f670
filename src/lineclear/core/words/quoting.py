"""Somebody's words in a text of ours: quoted line by line, bounded in bytes, cut where the room ends.

A quoted line starts with ">", whatever is in it, so no heading, fence or rule of theirs becomes ours. Pure.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lineclear.core.words.refusals import shorten

if TYPE_CHECKING:
    from collections.abc import Iterable

MOST_NAME_CHARS, MOST_PATH_CHARS, MOST_TITLE_CHARS = 80, 160, 200


class Section:
    """A part that may be cut: `write` fills at most so many bytes, of which `least_bytes` are kept for it."""

    def __init__(self, least_bytes: int) -> None:
        self.shown = 0
        self.least_bytes = min(size_of(self.write(1 << 40)), least_bytes)

    def write(self, room_bytes: int) -> str:
        raise NotImplementedError


class Passage(Section):
    """One text of somebody's, cut at its end."""

    def __init__(self, head: str, text: str, more: str, least_bytes: int) -> None:
        self._head = f"{head}\n\n" if head else ""
        self._text, self._more = text.strip("\n"), more
        super().__init__(least_bytes)

    def write(self, room_bytes: int) -> str:
        if not self._text.strip():
            return ""
        whole = self._head + quoted(self._text)
        if size_of(whole) <= room_bytes:
            return whole
        tail = f"(Cut here; all of it: `{self._more}`.)\n\n"
        part = quoted_part(self._text, room_bytes - size_of(self._head + tail))
        return f"{self._head}{part}{tail}" if part else ""


class Listing(Section):
    """Several things, each whole or left out; those left out are counted. `shown` were written last time."""

    def __init__(self, head: str, items: list[str], more: str, least_bytes: int, end: str = "") -> None:
        self._head, self._items, self._more, self._end = f"{head}\n\n", items, more, end
        super().__init__(least_bytes)

    def write(self, room_bytes: int) -> str:
        fixed_bytes = size_of(self._head + self._end)
        self.shown = self._fitting(room_bytes - fixed_bytes)
        if self.shown < len(self._items):
            self.shown = self._fitting(room_bytes - fixed_bytes - size_of(self._left_out(0)))
        left_out = len(self._items) - self.shown
        text = "".join(self._items[: self.shown]) + self._end
        text = self._head + text + (self._left_out(left_out) if left_out else "")
        return text if self._items and size_of(text) <= room_bytes else ""

    def _fitting(self, room_bytes: int) -> int:
        for place, item in enumerate(self._items):
            room_bytes -= size_of(item)
            if room_bytes < 0:
                return place
        return len(self._items)

    def _left_out(self, count: int) -> str:
        return f"... {count or 10**9:,} more, run `{self._more}`\n\n"


def share(sections: list[Section], room_bytes: int) -> list[str]:
    """In order, each as long as it likes, as long as those after it keep their least.

    Where even the least of all is too much, each keeps its part of what there is.
    """
    wanted = sum(section.least_bytes for section in sections)
    least = [section.least_bytes * min(wanted, room_bytes) // max(wanted, 1) for section in sections]
    written = []
    for place, section in enumerate(sections):
        text = section.write(room_bytes - sum(least[place + 1 :]))
        room_bytes -= size_of(text)
        written.append(text)
    return written


def size_of(text: str) -> int:
    return len(text.encode("utf-8", "replace"))


def cut(text: str, most_bytes: int) -> str:
    """The beginning of a text; never half a character."""
    data = text.encode("utf-8", "replace")
    return text if len(data) <= most_bytes else data[:most_bytes].decode("utf-8", "ignore") + "..."


def clean(line: str) -> str:
    """Control characters, and those that turn the direction of writing, are shown as such."""
    return "".join(ch if ch.isprintable() or ch == "\t" else "\ufffd" for ch in line)


def quoted(text: str) -> str:
    """Every line of it behind ">", by every character that could be taken for the end of a line."""
    return "".join(f"> {clean(line)}".rstrip() + "\n" for line in text.splitlines() or [""]) + "\n"


def quoted_part(text: str, room_bytes: int) -> str:
    """The beginning of a text, quoted, in so many bytes; nothing when not even a few words fit."""
    written, left_bytes = [], room_bytes - 1
    for line in text.splitlines():
        row = f"> {clean(line)}".rstrip() + "\n"
        if size_of(row) > left_bytes:
            part = cut(row.rstrip("\n"), max(0, left_bytes - 4))
            written += [f"{part}\n"] if left_bytes >= 40 else []
            break
        written.append(row)
        left_bytes -= size_of(row)
    return "".join(written) + "\n" if written else ""


def quoted_names(
    head: str, names: Iterable[str], more: str, most_chars: int = MOST_PATH_CHARS, least_bytes: int = 512
) -> Section:
    """A line for each, behind ">"."""
    items = [f"> {shorten(name, most_chars)}\n" for name in names]
    return Listing(head, items, more, least_bytes, end="\n")


def plain_name(name: str) -> str:
    """An agent's name in a line of ours. Names are checked where they enter; this one may be older."""
    return shorten(name.replace("`", "'"), MOST_NAME_CHARS) or "somebody"


def in_code(text: str, most_chars: int) -> str:
    """A path or a branch in a line of ours: nothing in it can end the code it stands in."""
    return f"`{shorten(text.replace('`', chr(39)), most_chars)}`"
