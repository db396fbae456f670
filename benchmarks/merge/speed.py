"""How long a conflicted file takes, from 10 to 1,000 KB: programs of the tests, repeated under new names.

Two shapes: ten places that no rule settles, and as many as in a busy file, of every kind, some of which the
rules settle and the verifier then looks at.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from pathlib import Path

Edit = Callable[[str], tuple[str, str]]

PROGRAMS = Path(__file__).parents[2] / "tests" / "property" / "merge_programs"
SIZES_KB = (10, 20, 100, 200, 500, 1000)
NAMES = re.compile(r"\b(?:def|func|fn|function|class|fun|int|void|struct) (\w+)")
HUNKS, MIXED_HUNKS = 10, 36
TRIES = 3


def report() -> str:
    lines = []
    for edit, what in ((_alike, f"{HUNKS} conflicts"), (_mixed, f"{MIXED_HUNKS} of all kinds")):
        lines.append(f"{'CPU ms, ' + what:24}" + "".join(f"{size:>7} KB" for size in SIZES_KB))
        for name in ("stock.py", "stock.ts", "Stock.java", "stock.go", "stock.rs"):
            merge(name, 1, edit)  # loads the grammar
            lines.append(f"{name:24}" + "".join(f"{merge(name, size, edit):10.0f}" for size in SIZES_KB))
    return "\n".join(lines)


def merge(name: str, size_kb: int, edit: Edit) -> float:
    """The quickest of a few: whatever else the machine does only adds to it."""
    from lineclear.merge import merge_texts
    from lineclear.merge.grammars import forget_trees

    base = _grown(name, size_kb)
    left, right = edit(base)
    taken_ms = []
    for _ in range(TRIES):
        forget_trees()
        began = time.process_time()
        merge_texts(name, base, left, right)
        taken_ms.append((time.process_time() - began) * 1000)
    return min(taken_ms)


def _grown(name: str, size_kb: int) -> str:
    text = (PROGRAMS / name).read_text()
    names = set(NAMES.findall(text))
    pattern = re.compile(rf"\b(?:{'|'.join(sorted(names))})\b")
    parts: list[str] = []
    size = 0
    while size < size_kb * 1000:
        number = str(len(parts))
        parts.append(pattern.sub(lambda found, n=number: found[0] + n, text))  # type: ignore[misc]
        size += len(parts[-1])
    return "".join(parts)


def _alike(text: str) -> tuple[str, str]:
    """The same lines on both sides, so that none of them is settled."""
    sides = []
    for digits in ("11", "22"):
        lines = text.splitlines(True)
        for place in _spread(lines, HUNKS):
            lines[place] = re.sub(r"\b\d+\b", digits, lines[place], count=1)
        sides.append("".join(lines))
    return sides[0], sides[1]


def _mixed(text: str) -> tuple[str, str]:
    """Per place another kind of conflict, in turn."""
    base, left, right = (text.splitlines(True) for _ in range(3))
    for turn, place in enumerate(_spread(base, MIXED_HUNKS)):
        left[place], right[place] = KINDS[turn % len(KINDS)](base[place], turn)
    return "".join(left), "".join(right)


def _spread(lines: list[str], count: int) -> list[int]:
    numbered = [place for place, line in enumerate(lines) if re.search(r"\b\d+\b", line)]
    return numbered[:: max(1, len(numbered) // count)]


def _two_values(line: str, _: int) -> tuple[str, str]:
    return re.sub(r"\b\d+\b", "11", line, count=1), re.sub(r"\b\d+\b", "22", line, count=1)


def _edit_beside_addition(line: str, turn: int) -> tuple[str, str]:
    return re.sub(r"\b\d+\b", "11", line, count=1), _indent(line) + f"audit({turn}, 0)\n" + line


def _only_blanks(line: str, _: int) -> tuple[str, str]:
    return line.rstrip("\n") + "  \n", re.sub(r"\b\d+\b", "22", line, count=1)


def _removal_and_edit(line: str, _: int) -> tuple[str, str]:
    return "", re.sub(r"\b\d+\b", "22", line, count=1)


def _two_additions(line: str, turn: int) -> tuple[str, str]:
    return line + _indent(line) + f"first({turn})\n", line + _indent(line) + f"second({turn})\n"


def _one_within_the_other(line: str, turn: int) -> tuple[str, str]:
    more = _indent(line) + f"log({turn}, 0)\n"
    return more + line, more + _indent(line) + f"trace({turn}, 0)\n" + line


def _indent(line: str) -> str:
    return line[: len(line) - len(line.lstrip())]


KINDS = (
    _two_values, _edit_beside_addition, _only_blanks, _removal_and_edit, _two_additions,
    _one_within_the_other,
)  # fmt: skip
