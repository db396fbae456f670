"""Cuts texts that are mostly alike, as the versions of one file are: a piece that several hold is read once.

A kind of file says where its texts may be parted and how one piece is read. A piece that does not stand alone
is nobody's mistake, only a wrong guess: then that text is read as a whole.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lineclear.merge.handlers.keyed import KeyedEntry, Undecided

if TYPE_CHECKING:
    from collections.abc import Callable

    # (piece, is it the whole text) -> its entries, and what stands behind the last of them
    Read = Callable[[str, bool], tuple[list[KeyedEntry], str]]


class Whole(KeyedEntry):
    """All entries of a text, which need not be joined to know it."""

    def __init__(self, text: str, children: list[KeyedEntry], tail: str) -> None:
        super().__init__("", "", "", children, tail)
        self.whole = text

    def own(self) -> str:
        return self.whole


class Pieces:
    """`part` gives pieces that are the text when joined, or none. `read` must find in each of them what it
    finds in the whole text, or say `Undecided`. Entries of equal pieces are the same objects in all texts."""

    def __init__(self, part: Callable[[str], list[str]], read: Read) -> None:
        self.part = part
        self.read = read
        self._known: dict[str, list[KeyedEntry]] = {}

    def cut(self, text: str) -> KeyedEntry:
        """Joined again, the entries give the very text; otherwise it is `Undecided`."""
        *pieces, last = self.part(text) or [text]
        try:
            children = [entry for piece in pieces for entry in self._whole(piece)]
            entries, tail = self._exact(last, not pieces)
        except Undecided:
            if not pieces:
                raise
            children = []
            entries, tail = self._exact(text, True)
        return Whole(text, children + entries, tail)

    def _whole(self, piece: str) -> list[KeyedEntry]:
        """With nothing behind its last entry: that would belong to the next piece."""
        entries = self._known.get(piece)
        if entries is None:
            entries, tail = self._exact(piece, False)
            if tail:
                raise Undecided("a piece does not end with an entry")
            self._known[piece] = entries
        return entries

    def _exact(self, piece: str, is_whole: bool) -> tuple[list[KeyedEntry], str]:
        entries, tail = self.read(piece, is_whole)
        if "".join([*(entry.write() for entry in entries), tail]) != piece:
            raise Undecided("the entries do not give the text again")
        return entries, tail
