"""The trees of versions of a text, of which one is read whole and the others only where they differ from it.

Belongs to the verifier. Between two things at the top of a file a parser knows nothing but that it is at the
top. So where a version has the same rows as the one that was read, its tree has the same things there, as
long as it is at the top before them and behind them. Both are looked at: of each stretch of equal things the
first and the last stay in what is parsed, and both must come out again, at the top and in their rows. A
version that comes out otherwise, or does not parse, is read whole.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from typing import TYPE_CHECKING

from lineclear.code.parse import parse, parser_of
from lineclear.code.reparse import changed_rows
from lineclear.merge.parts import Part, Parts, chain_of, top_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tree_sitter import Node, Parser

    from lineclear.code.languages.table import Language
    from lineclear.code.reparse import Change

MIN_BYTES = 4_000  # a smaller text is parsed as quickly as it is compared
MIN_LEFT_OUT = 3  # things in one stretch
# The share of rows up to which it is worth it. A tree that is made from another one costs little, too, except
# where the scanner remembers rows or indents: then a parser takes little from the other tree.
MOST_READ, MOST_READ_ANEW = 1 / 16, 1 / 2


@dataclass(frozen=True, slots=True)
class Versions:
    """`roots` and `errors` (does it fail to parse) of each text, in their order."""

    roots: list[Part]
    errors: list[bool]


def read_versions(language: Language, texts: Sequence[str], first: int) -> Versions | None:
    """None when the wheel of the language is not there. The text at place `first` is read whole."""
    whole = parse(language, texts[first])
    parser = parser_of(language)
    if whole is None or parser is None:
        return None
    model = _Model(parser, language, whole.root_node, texts[first])
    read: list[_Beside | Node] = []
    for place, text in enumerate(texts):
        beside = None if place == first else model.beside(text)
        if beside is not None:
            read.append(beside)
        else:
            tree = whole if place == first else parse(language, text)
            assert tree is not None
            read.append(tree.root_node)
    errors = [not isinstance(found, _Beside) and found.has_error for found in read]
    parts = Parts(has_errors=any(errors))
    tops = top_of(language, parts.of(whole.root_node)).inner()
    roots = [found.part(parts, tops) if isinstance(found, _Beside) else parts.of(found) for found in read]
    return Versions(roots, errors)


class _Model:
    """The version that is read whole: its rows, and the things at its top with the rows they begin in."""

    def __init__(self, parser: Parser, language: Language, root: Node, text: str) -> None:
        self.parser = parser
        self.language = language
        self.most = MOST_READ_ANEW if language.is_scanned_by_row else MOST_READ
        self.tops: list[Node] = []
        if len(text) < MIN_BYTES or root.has_error:
            return
        chain = chain_of(language, root)
        self.kinds = [node.type for node in chain]
        self.tops = chain[-1].named_children
        self.starts = [node.start_point[0] for node in self.tops]
        self.rows = _rows(text)

    def beside(self, text: str) -> _Beside | None:
        """The version read where it differs; None where that is not worth it or not certain."""
        if len(self.tops) * self.most < MIN_LEFT_OUT:
            return None
        rows = _rows(text)
        changes = changed_rows(self.rows, rows)
        left_out = [] if changes is None else self._left_out(changes)
        if len(rows) - sum(part.end - part.start for part in left_out) > self.most * len(rows):
            return None
        kept: list[bytes] = []
        at = 0
        joints = []
        for stretch in left_out:
            kept += rows[at : stretch.start]
            joints.append(len(kept))
            at = stretch.end
        tree = self.parser.parse(b"\n".join([*kept, *rows[at:]]))
        if tree.root_node.has_error:
            return None
        found = _Beside(self, tree.root_node, text, left_out, joints)
        return found if found.is_certain() else None

    def _left_out(self, changes: list[Change]) -> list[_Stretch]:
        found = []
        at = shift = 0
        for a0, a1, _, b1 in [*changes, (len(self.rows), len(self.rows), 0, 0)]:
            stretch = self._between(at, a0, shift)
            if stretch is not None:
                found.append(stretch)
            at, shift = a1, b1 - a1
        return found

    def _between(self, first: int, last: int, shift: int) -> _Stretch | None:
        """What may be left out of these rows: all but the first thing and the last one."""
        low, high = bisect_left(self.starts, first), bisect_left(self.starts, last)
        while high > low and _last_row(self.tops[high - 1]) >= last:
            high -= 1
        low, high = low + 1, high - 1
        if high - low < MIN_LEFT_OUT or not (self._is_parted(low) and self._is_parted(high)):
            return None
        return _Stretch(low, high, self.starts[low] + shift, self.starts[high] + shift)

    def _is_parted(self, place: int) -> bool:
        """The thing begins in a row of its own."""
        return _last_row(self.tops[place - 1]) < self.starts[place]


@dataclass(frozen=True, slots=True)
class _Stretch:
    """Things of the model (the last one excluded), and their rows in the other version."""

    low: int
    high: int
    start: int
    end: int


class _Beside:
    """A version of which stretches were left out, and where its own things stand around them."""

    def __init__(
        self, model: _Model, root: Node, text: str, left_out: list[_Stretch], joints: list[int]
    ) -> None:
        self.model = model
        self.chain = chain_of(model.language, root)
        self.text = text
        self.left_out = left_out
        self.tops = self.chain[-1].named_children
        self.starts = [node.start_point[0] for node in self.tops]
        self.joints = [bisect_left(self.starts, row) if row in self.starts else 0 for row in joints]

    def is_certain(self) -> bool:
        """Before and behind each stretch stands what stands there in the model, at the top."""
        if [node.type for node in self.chain] != self.model.kinds:
            return False
        return all(
            joint > 0
            and self._is_same(joint - 1, stretch.low - 1)
            and self._is_same(joint, stretch.high)
            and _last_row(self.tops[joint - 1]) < self.starts[joint]
            for stretch, joint in zip(self.left_out, self.joints, strict=True)
        )

    def _is_same(self, place: int, in_model: int) -> bool:
        mine, other = self.tops[place], self.model.tops[in_model]
        return mine.type == other.type and mine.text == other.text

    def part(self, parts: Parts, tops: list[Part]) -> Part:
        """The whole version: what was left out comes from the model, at whose top are `tops`."""
        inner: list[Part] = []
        at = 0
        for stretch, joint in zip(self.left_out, self.joints, strict=True):
            inner += map(parts.of, self.tops[at:joint])
            inner += tops[stretch.low : stretch.high]
            at = joint
        inner += map(parts.of, self.tops[at:])
        return parts.around(self.chain, self.text.encode("utf-8", "surrogatepass"), inner)


def _rows(text: str) -> list[bytes]:
    return text.encode("utf-8", "surrogatepass").split(b"\n")


def _last_row(node: Node) -> int:
    """Some end with the line feed, which is before the first sign of the next row."""
    row, column = node.end_point
    return row - (not column)
