"""Does a change touch a symbol? Judged by indentation and the words that open a definition, as in outline.py.

If it is not certain, the answer is yes. The lines of a symbol reach from its own comments and decorators to
the next definition that is not inside it. If the inner definition cannot be found (a method without a
keyword), the lines of the innermost enclosing one that can be found count instead.
"""

from __future__ import annotations

from difflib import SequenceMatcher
from itertools import accumulate
from typing import TYPE_CHECKING

from lineclear.code.outline import defined_name

if TYPE_CHECKING:
    from collections.abc import Sequence

_ABOVE = ("@", "#", "//", "/*", "*", "[")
# A longer difference is treated as one change.
_MOST_COMPARED_LINES = 2_000


def edit_touches(text: str, pieces: Sequence[str], symbol: str) -> bool:
    """Does replacing these pieces of a text, wherever they occur, touch the symbol?"""
    lines = text.split("\n")
    ranges = _ranges_of(lines, symbol)
    if not ranges or not all(piece and piece in text for piece in pieces) or not pieces:
        return True
    offsets = [0, *accumulate(len(line) + 1 for line in lines)]
    return any(
        text.find(piece, max(0, offsets[start] - len(piece) + 1), offsets[end] + len(piece) - 1) >= 0
        for piece in pieces
        for start, end in ranges
    )


def change_touches(before: str, after: str, symbol: str) -> bool:
    """Does the change from one text of a file to another touch the symbol?"""
    old, new = before.split("\n"), after.split("\n")
    in_old, in_new = _ranges_of(old, symbol), _ranges_of(new, symbol)
    if not in_old and not in_new:
        return True
    return any(
        any(a < end and start < b for start, end in in_old)
        or any(c < end and start < d for start, end in in_new)
        for a, b, c, d in _differences(old, new)
    )


def _differences(old: list[str], new: list[str]) -> list[tuple[int, int, int, int]]:
    """(first, end) in the old text and (first, end) in the new one, of the lines that differ."""
    head, least = 0, min(len(old), len(new))
    while head < least and old[head] == new[head]:
        head += 1
    tail = 0
    while tail < least - head and old[-1 - tail] == new[-1 - tail]:
        tail += 1
    middle, replacement = old[head : len(old) - tail], new[head : len(new) - tail]
    if len(middle) + len(replacement) > _MOST_COMPARED_LINES:
        return [(head, head + len(middle), head, head + len(replacement))]
    matcher = SequenceMatcher(None, middle, replacement, autojunk=False)
    return [
        (head + a, head + b, head + c, head + d)
        for kind, a, b, c, d in matcher.get_opcodes()
        if kind != "equal"
    ]


def _ranges_of(lines: list[str], symbol: str) -> list[tuple[int, int]]:
    """(first line, line after the last) of each definition of the symbol, or of its innermost enclosing
    definition that can be found; [] if there is none."""
    opened = _definitions(lines)
    parts = symbol.split(".")
    while parts:
        name = ".".join(parts)
        found = [place for place, (_, _, path) in enumerate(opened) if path == name]
        if found:
            return [(_first(lines, *opened[place][:2]), _end(lines, opened, place)) for place in found]
        parts.pop()
    return []


def _definitions(lines: list[str]) -> list[tuple[int, int, str]]:
    """(line, indentation, dotted name) of every definition."""
    around: list[tuple[int, str]] = []
    found = []
    for number, line in enumerate(lines):
        bare = line.lstrip()
        name = defined_name(bare)
        if name:
            indent = len(line) - len(bare)
            while around and around[-1][0] >= indent:
                around.pop()
            around.append((indent, name))
            found.append((number, indent, ".".join(outer for _, outer in around)))
    return found


def _first(lines: list[str], number: int, indent: int) -> int:
    """Where the comments and decorators right above a definition begin."""
    while number > 0:
        above = lines[number - 1]
        bare = above.lstrip()
        if len(above) - len(bare) != indent or not bare.startswith(_ABOVE):
            break
        number -= 1
    return number


def _end(lines: list[str], opened: list[tuple[int, int, str]], place: int) -> int:
    number, indent, _ = opened[place]
    for behind in range(place + 1, len(opened)):
        other, its_indent, _ = opened[behind]
        if its_indent <= indent:
            return max(number + 1, _first(lines, other, its_indent))
    return len(lines)
