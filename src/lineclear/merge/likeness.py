"""Is one line an edit of another? Distinguishes edited lines from new ones."""

from __future__ import annotations

import re

from lineclear.merge.tokens import split_code

_WORDS = re.compile(r"""\w+|"[^"\n]*"|'[^'\n]*'""")

LEAST_ALIKE = 0.5  # share of words two lines must have in common for one to be an edit of the other


def is_edit_of(old: str, new: str) -> bool:
    """Do the lines have the same indentation and most words in common?"""
    before = [token for token in split_code(old) if not token.isspace()]
    after = [token for token in split_code(new) if not token.isspace()]
    if not before or not after or indent_of(old) != indent_of(new):
        return False
    shared = _shared(before, after)
    return shared >= LEAST_ALIKE * max(len(before), len(after)) and any(
        token[0].isalnum() for token in set(before) & set(after)
    )


def is_like(one: str, other: str) -> bool:
    """Is one an edit of the other, or do they differ only in words, like the rows of a table?"""
    return is_edit_of(one, other) or _WORDS.sub("0", one) == _WORDS.sub("0", other)


def indent_of(line: str) -> str:
    return line[: len(line) - len(line.lstrip())]


def _shared(before: list[str], after: list[str]) -> int:
    left: dict[str, int] = {}
    for token in before:
        left[token] = left.get(token, 0) + 1
    shared = 0
    for token in after:
        if left.get(token, 0):
            left[token] -= 1
            shared += 1
    return shared
