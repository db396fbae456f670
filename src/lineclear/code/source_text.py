"""A program's text for readers that need no parser, so that half-typed code and whole trees can be read:
without comments, with calls cut into arguments. All of it takes linear time.
"""

from __future__ import annotations

import re
from bisect import bisect_left, insort
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

MAX_MATCHES = 2_000  # of one pattern in one file
MAX_ARGUMENTS = 4_000  # characters

# A string that does not end on its line ends with it, so that no quote is looked at twice.
_STRING = r"""(?:"(?:\\.|\\\Z|[^"\\\n])*+(?:"|(?=\n)|\Z)|'(?:\\.|\\\Z|[^'\\\n])*+(?:'|(?=\n)|\Z))"""
_TEMPLATE = r"`(?:\\.|\\\Z|[^`\\])*+(?:`|\Z)"
_HASH = rf"(?P<out>\"\"\".*?(?:\"\"\"|\Z)|'''.*?(?:'''|\Z)|\#[^\n]*)|{_STRING}"
_SLASH = rf"(?P<out>//[^\n]*|/\*.*?(?:\*/|\Z))|{_STRING}|{_TEMPLATE}"
_BOTH = rf"(?P<out>//[^\n]*|/\*.*?(?:\*/|\Z)|\#(?!\[)[^\n]*)|{_STRING}"
_COMMENTS = {
    **dict.fromkeys((".py", ".pyi", ".rb", ".rake"), re.compile(_HASH, re.S)),
    ".php": re.compile(_BOTH, re.S),
}
_OTHER_COMMENTS = re.compile(_SLASH, re.S)
_STRINGS = re.compile(rf"{_STRING}|{_TEMPLATE}", re.S)
_SIGN = re.compile(rf"{_STRING}|{_TEMPLATE}|[()\[\]{{}},]", re.S)
_TEXT = re.compile(r"""[rRbu@]?(["'`])((?:\\.|(?!\1)[^\\\n])*+)\1(?:\.(?:into|to_string|to_owned)\(\))?""")
_FUNCTION = re.compile(r"\b(?:function|func|fn|fun)\s+(?:\([^()\n]{0,200}\)\s*)?(?:[\w<>]{1,80}\.)?(\w+)")


class SourceText:
    """`text` has blanks in place of comments, and of Python's long strings; places and rows are the
    file's."""

    def __init__(self, path: str, text: str) -> None:
        self.path = path
        ending = path[path.rfind(".") :]
        self.text = _COMMENTS.get(ending, _OTHER_COMMENTS).sub(_without_comment, text)

    def find(self, pattern: re.Pattern[str]) -> Iterator[re.Match[str]]:
        return islice(pattern.finditer(self.text), MAX_MATCHES)

    def row(self, place: int) -> int:
        return bisect_left(self._line_ends, place)

    @cached_property
    def _line_ends(self) -> list[int]:
        return [found.start() for found in re.finditer("\n", self.text)]

    @cached_property
    def blocks(self) -> list[tuple[int, int]]:
        """(opening, closing) of each pair of braces; an open one ends with the text."""
        plain = _STRINGS.sub(_blanked, self.text)
        found, opened = [], []
        for brace in re.finditer("[{}]", plain):
            if brace[0] == "{":
                opened.append(brace.start())
            elif opened:
                found.append((opened.pop(), brace.start()))
        return sorted([*found, *((start, len(plain)) for start in opened)])

    def block_from(self, place: int) -> tuple[int, int] | None:
        """The first block that opens at the place or behind it."""
        at = bisect_left(self.blocks, (place, 0))
        return self.blocks[at] if at < len(self.blocks) else None

    def function_at(self, place: int) -> str:
        """The function around a place, in a language with braces; "" outside of all."""
        return "".join(self._functions.around(place)[-1:])

    @cached_property
    def _functions(self) -> Scopes:
        scopes = Scopes()
        for found in self.find(_FUNCTION):
            block = self.block_from(found.end())
            if block is not None:
                scopes.add(*block, found[1])
        return scopes

    def arguments(self, place: int) -> list[str]:
        """The arguments of a call; the place is behind its opening bracket. Empty if it does not end."""
        found: list[str] = []
        depth, start = 0, place
        for sign in _SIGN.finditer(self.text, place, place + MAX_ARGUMENTS):
            letter = sign[0]
            if letter in "([{":
                depth += 1
            elif letter in ")]}":
                depth -= 1
                if depth < 0:
                    return [*found, *filter(None, [flat(self.text[start : sign.start()])])]
            elif letter == "," and not depth:
                found.append(flat(self.text[start : sign.start()]))
                start = sign.end()
        return []

    def end_of_call(self, place: int) -> int:
        """Behind the closing bracket of a call, or the place itself if it does not end."""
        depth = 0
        for sign in _SIGN.finditer(self.text, place, place + MAX_ARGUMENTS):
            if sign[0] in "([{":
                depth += 1
            elif sign[0] in ")]}":
                depth -= 1
                if depth < 0:
                    return sign.end()
        return place


class Scopes:
    """Stretches of a text that have a value: the prefix of a group of routes, the name of a function."""

    def __init__(self) -> None:
        self._rows: list[tuple[int, int, str]] = []

    def add(self, start: int, end: int, value: str) -> None:
        insort(self._rows, (start, end, value))

    def around(self, place: int) -> list[str]:
        """The values around a place, the outermost first."""
        return [value for start, end, value in self._rows if start <= place < end]


def flat(text: str) -> str:
    return " ".join(text.split())


def string_in(text: str) -> str | None:
    """The value of a text that is one plain string; None for anything else."""
    found = _TEXT.fullmatch(text)
    return found[2] if found and not (found[1] == "`" and "${" in text) else None


def module_of(path: str) -> str:
    """The last two steps of the module that a file is: `shop.cli` for src/shop/cli.py."""
    plain = re.sub(r"(?:/__init__|/index|/mod)?\.\w+$", "", path)
    return ".".join(plain.split("/")[-2:])


def _without_comment(found: re.Match[str]) -> str:
    return found[0] if found["out"] is None else _blanked(found)


def _blanked(found: re.Match[str]) -> str:
    return re.sub(r"[^\n]", " ", found[0])
