"""How long a conflicted file takes, from 10 to 1,000 KB: programs of the tests, repeated under new names."""

from __future__ import annotations

import re
import time
from pathlib import Path

PROGRAMS = Path(__file__).parents[2] / "tests" / "property" / "merge_programs"
SIZES_KB = (10, 20, 100, 200, 500, 1000)
NAMES = re.compile(r"\b(?:def|func|fn|function|class|fun|int|void|struct) (\w+)")
HUNKS = 10


def report() -> str:
    lines = [f"{'CPU ms, ' + str(HUNKS) + ' conflicts':24}" + "".join(f"{size:>7} KB" for size in SIZES_KB)]
    for name in ("stock.py", "stock.ts", "Stock.java", "stock.go", "stock.rs"):
        merge(name, 1)  # loads the grammar
        lines.append(f"{name:24}" + "".join(f"{merge(name, size):10.0f}" for size in SIZES_KB))
    return "\n".join(lines)


def merge(name: str, size_kb: int) -> float:
    from lineclear.merge import merge_texts

    base = _grown(name, size_kb)
    left, right = _edited(base, "11"), _edited(base, "22")
    began = time.process_time()
    merge_texts(name, base, left, right)
    return (time.process_time() - began) * 1000


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


def _edited(text: str, digits: str) -> str:
    """The same lines on both sides, so that none of them is settled."""
    lines = text.splitlines(True)
    numbered = [place for place, line in enumerate(lines) if re.search(r"\b\d+\b", line)]
    for place in numbered[:: max(1, len(numbered) // HUNKS)]:
        lines[place] = re.sub(r"\b\d+\b", digits, lines[place], count=1)
    return "".join(lines)
