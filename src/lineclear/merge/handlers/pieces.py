"""Cuts similar texts, such as the versions of one file, into entries: a piece that several have is read once.

A handler says where its texts may be split and how to read one piece. If a piece cannot be read alone, the
guess was wrong, and that text is read as a whole.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lineclear.merge.handlers.keyed import KeyedEntry, Undecided

if TYPE_CHECKING:
    from collections.abc import Callable

    # (piece, is it the whole text) -> (its entries, the text after the last of them)
    Read = Callable[[str, bool], tuple[list[KeyedEntry], str]]


class Whole(KeyedEntry):
    """All entries of a text, with the text itself, so that they need not be joined to get it."""

    def __init__(self, text: str, children: list[KeyedEntry], tail: str) -> None:
        super().__init__("", "", "", children, tail)
        self.whole = text

    def own(self) -> str:
        return self.whole


class Pieces:
    """`part` splits a text into pieces that give the text when joined; [] means one piece. `read` must find
    in each piece what it would find in the whole text, or raise `Undecided`. Equal pieces share their
    entries."""

    def __init__(self, part: Callable[[str], list[str]], read: Read) -> None:
        self.part = part
        self.read = read
        self._known: dict[str, list[KeyedEntry]] = {}

    def cut(self, text: str) -> KeyedEntry:
        """The entries of a text; raises `Undecided` unless joining them gives exactly the text."""
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
        """The entries of a piece, with nothing after the last one: that would belong to the next piece."""
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
