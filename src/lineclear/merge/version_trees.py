"""Parses one version of a text as a whole, and the others only where they differ from it.

Part of the verifier. Between two nodes at the top level of a file, a parser's only state is that it is at the
top level. So if another version has the same rows there, its tree has the same nodes, provided that the
parser is at the top level before and after them. To check that, the first and the last node of each range of
equal nodes are parsed too, and both must come out again, at the top level and in their rows. If they do not,
or if the version does not parse, it is parsed as a whole.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from typing import TYPE_CHECKING

from lineclear.code.parse import is_too_deep, parse, parser_of
from lineclear.code.reparse import changed_rows
from lineclear.merge.shared_nodes import Part, Parts, chain_of, top_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tree_sitter import Node, Parser

    from lineclear.code.languages.table import Language
    from lineclear.code.reparse import Change

MIN_BYTES = 4_000  # a smaller text is parsed as quickly as it is compared
MIN_LEFT_OUT = 3  # nodes in one range
# The largest share of rows to parse for which this pays. Reparsing with the help of another tree (reparse.py)
# is cheap too, unless the grammar's scanner remembers rows or indents.
MOST_READ, MOST_READ_BY_ROW = 1 / 16, 1 / 2


@dataclass(frozen=True, slots=True)
class Versions:
    """The root of each text, and whether it has a syntax error, in the order of the texts."""

    roots: list[Part]
    errors: list[bool]


def read_versions(language: Language, texts: Sequence[str], first: int) -> Versions | None:
    """The trees of these texts, of which `texts[first]` is parsed as a whole. None if the language's wheel is
    not installed, or if one of them is nested too deeply."""
    if any(is_too_deep(language, text) for text in texts):
        return None
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
    """The version that is parsed as a whole: its rows, and its top-level nodes with the rows they begin
    in."""

    def __init__(self, parser: Parser, language: Language, root: Node, text: str) -> None:
        self.parser = parser
        self.language = language
        self.most = MOST_READ_BY_ROW if language.is_scanned_by_row else MOST_READ
        self.tops: list[Node] = []
        if len(text) < MIN_BYTES or root.has_error:
            return
        chain = chain_of(language, root)
        self.kinds = [node.type for node in chain]
        self.tops = chain[-1].named_children
        self.starts = [node.start_point[0] for node in self.tops]
        self.rows = _rows(text)

    def beside(self, text: str) -> _Beside | None:
        """The version parsed only where it differs; None if that does not pay or is not certain."""
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
        """The nodes in these rows that need not be parsed: all but the first and the last one."""
        low, high = bisect_left(self.starts, first), bisect_left(self.starts, last)
        while high > low and _last_row(self.tops[high - 1]) >= last:
            high -= 1
        low, high = low + 1, high - 1
        if high - low < MIN_LEFT_OUT or not (self._is_parted(low) and self._is_parted(high)):
            return None
        return _Stretch(low, high, self.starts[low] + shift, self.starts[high] + shift)

    def _is_parted(self, place: int) -> bool:
        """Does the node begin in a new row?"""
        return _last_row(self.tops[place - 1]) < self.starts[place]


@dataclass(frozen=True, slots=True)
class _Stretch:
    """A range of the model's nodes (the last one excluded), and its rows in the other version."""

    low: int
    high: int
    start: int
    end: int


class _Beside:
    """A version that was parsed without some ranges, and where its own nodes are around them."""

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
        """Are the nodes before and after each left-out range the same as in the model, at the top level?"""
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
        """The whole version: the left-out nodes come from `tops`, the model's top-level parts."""
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
    """A node that ends with a line feed has its end at column 0 of the next row."""
    row, column = node.end_point
    return row - (not column)
