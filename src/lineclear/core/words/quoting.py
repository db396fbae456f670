"""Quotes the words of others inside our own texts: line by line, bounded in bytes, cut where the space ends.

Every quoted line starts with ">", so that no heading, fence or rule in it can look like ours. Pure.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lineclear.core.words.refusals import shorten

if TYPE_CHECKING:
    from collections.abc import Iterable

MOST_NAME_CHARS, MOST_PATH_CHARS, MOST_TITLE_CHARS = 80, 160, 200


class Section:
    """A part of a text that may be cut: `write` fills at most `room_bytes`; `least_bytes` are reserved for
    it."""

    def __init__(self, least_bytes: int) -> None:
        self.shown = 0
        self.least_bytes = min(size_of(self.write(1 << 40)), least_bytes)

    def write(self, room_bytes: int) -> str:
        raise NotImplementedError


class Passage(Section):
    """One quoted text, cut at its end."""

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
    """Several items, each whole or left out; those left out are counted. `shown`: how many the last `write`
    wrote."""

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
    """The sections' texts in order: each is as long as it can be while later ones keep their `least_bytes`.

    If even these do not fit, every section gets its share of the space.
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
    """The beginning of a text, never cut inside a character."""
    data = text.encode("utf-8", "replace")
    return text if len(data) <= most_bytes else data[:most_bytes].decode("utf-8", "ignore") + "..."


def clean(line: str) -> str:
    """Replaces control characters and those that change the direction of writing."""
    return "".join(ch if ch.isprintable() or ch == "\t" else "\ufffd" for ch in line)


def quoted(text: str) -> str:
    """The text with ">" before every line. Every character that can end a line does."""
    return "".join(f"> {clean(line)}".rstrip() + "\n" for line in text.splitlines() or [""]) + "\n"


def quoted_part(text: str, room_bytes: int) -> str:
    """The beginning of a text, quoted, in at most `room_bytes`; "" if not even a few words fit."""
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
    """A quoted line for each name."""
    items = [f"> {shorten(name, most_chars)}\n" for name in names]
    return Listing(head, items, more, least_bytes, end="\n")


def plain_name(name: str) -> str:
    """An agent's name inside one of our lines. Stored names may be older than today's checks."""
    return shorten(name.replace("`", "'"), MOST_NAME_CHARS) or "somebody"


def in_code(text: str, most_chars: int) -> str:
    """A path or a branch as inline code in one of our lines: nothing in it can close the backticks."""
    return f"`{shorten(text.replace('`', chr(39)), most_chars)}`"
