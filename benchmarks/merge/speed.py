"""How long a conflicted file takes, from 10 to 1,000 KB: programs of the tests, repeated under new names.

Two shapes: ten places that no rule settles, and as many as in a busy file, of every kind, some of which the
rules settle and the verifier then looks at. Every version can be parsed, as those of real merges can.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from pathlib import Path

from benchmarks.merge.bounded import report as bounded_report
from benchmarks.merge.grown import ADDED, PATTERNS, grown_from
from lineclear.host.merge_processes import MergeProcesses
from lineclear.merge import Labels
from lineclear.merge.rule_jobs import MergeJob, run_job

Edit = Callable[[str, str], tuple[str, str]]

PROGRAMS = Path(__file__).parents[2] / "tests" / "property" / "merge_programs"
CASES = PROGRAMS.parents[1] / "merge_cases"
SIZES_KB = (10, 20, 100, 200, 500, 1000)
LIMITS_MS = {20: 40, 200: 400}  # by KB
NAMES = re.compile(r"\b(?:def|func|fn|function|class|fun|int|void|struct) (\w+)")
HEADS = re.compile(
    r"(?m)^import \([^)]*\)\n|^namespace .*;\n"
    r"|^(?:<\?php|package|import|use|using|#include|from)\b.*(?<![{(])\n"
)
HUNKS, MIXED_HUNKS = 10, 36
TRIES = 5


def report() -> str:
    lines = []
    for edit, what in ((_alike, f"{HUNKS} conflicts"), (_mixed, f"{MIXED_HUNKS} of all kinds")):
        lines.append(f"{'CPU ms, ' + what:24}" + "".join(f"{size:>7} KB" for size in SIZES_KB))
        for name in ("stock.py", "stock.ts", "Stock.java", "stock.go", "stock.rs"):
            merge(name, 1, edit)  # loads the grammar
            lines.append(f"{name:24}" + "".join(f"{merge(name, size, edit):10.0f}" for size in SIZES_KB))
    lines.append(f"CPU ms, {MIXED_HUNKS} of all kinds in every language, with the limit")
    for name in sorted([*(path.name for path in PROGRAMS.iterdir()), *PATTERNS]):
        merge(name, 1, _mixed)
        taken_ms = {size: merge(name, size, _mixed) for size in LIMITS_MS}
        lines.append(f"{name:16}" + "".join(_against_limit(size, ms) for size, ms in taken_ms.items()))
    return "\n".join([*lines, contained_report(), bounded_report()])


def _against_limit(size_kb: int, taken_ms: float) -> str:
    limit_ms = LIMITS_MS[size_kb]
    verdict = "" if taken_ms <= limit_ms else "MISSED"
    return f"{size_kb:6} KB{taken_ms:6.0f} <= {limit_ms:<4}{verdict:7}"


def merge(name: str, size_kb: int, edit: Edit) -> float:
    """The quickest of a few: whatever else the machine does only adds to it."""
    from lineclear.code.parse import forget_trees
    from lineclear.merge import merge_texts

    base = _grown(name, size_kb)
    left, right = edit(name, base)
    taken_ms = []
    for _ in range(TRIES):
        forget_trees()
        began = time.process_time()
        merge_texts(name, base, left, right)
        taken_ms.append((time.process_time() - began) * 1000)
    return min(taken_ms)


def _grown(name: str, size_kb: int) -> str:
    """The program again and again, with what it imports once."""
    if name in PATTERNS:
        return grown_from(PATTERNS[name], size_kb)
    text = (PROGRAMS / name).read_text()
    head = "".join(HEADS.findall(text))
    body = HEADS.sub("", text)
    names = set(NAMES.findall(body))
    pattern = re.compile(rf"\b(?:{'|'.join(sorted(names))})\b")
    parts = [head]
    size = 0
    while size < size_kb * 1000:
        number = str(len(parts))
        parts.append(pattern.sub(lambda found, n=number: found[0] + n, body))  # type: ignore[misc]
        size += len(parts[-1])
    return "".join(parts)


def _alike(name: str, text: str) -> tuple[str, str]:
    """The same lines on both sides, so that none of them is settled."""
    sides = []
    for digits in ("11", "22"):
        lines = text.splitlines(True)
        for place in _spread(name, lines, HUNKS):
            lines[place] = _with_number(lines[place], digits)
        sides.append("".join(lines))
    return sides[0], sides[1]


def _mixed(name: str, text: str) -> tuple[str, str]:
    """Per place another kind of conflict, in turn."""
    base, left, right = (text.splitlines(True) for _ in range(3))
    added = ADDED[name.rpartition(".")[2]]
    for turn, place in enumerate(_spread(name, base, MIXED_HUNKS)):
        indent = base[place][: len(base[place]) - len(base[place].lstrip())]
        left[place], right[place] = KINDS[turn % len(KINDS)](base[place], indent + added, turn)
    return "".join(left), "".join(right)


def _spread(name: str, lines: list[str], count: int) -> list[int]:
    """Places evenly apart, each a whole line of its own beside which another one may stand."""
    is_ended = ";\n" if ADDED[name.rpartition(".")[2]].endswith(";\n") else "\n"
    places = [
        place
        for place, line in enumerate(lines)
        if _WHOLE.match(line) and line.endswith(is_ended) and not line.rstrip().endswith(_OPENS)
    ]
    return places[:: max(1, len(places) // count)][:count]


_WHOLE = re.compile(
    r"(?!\s*(?:private|public|protected|internal|static|const|pub|def|class|func|fun|fn|if|for|while)\b)"
    r"[^#<].*\b\d+\b"
)
_OPENS = ("{", ":", "(", "[", "then", "do")


def _with_number(line: str, digits: str) -> str:
    return re.sub(r"\b\d+\b", digits, line, count=1)


def _two_values(line: str, _added: str, _turn: int) -> tuple[str, str]:
    return _with_number(line, "11"), _with_number(line, "22")


def _edit_beside_addition(line: str, added: str, turn: int) -> tuple[str, str]:
    return _with_number(line, "11"), added.format(name="audit", turn=turn) + line


def _only_blanks(line: str, _added: str, _turn: int) -> tuple[str, str]:
    return line.rstrip("\n") + "  \n", _with_number(line, "22")


def _removal_and_edit(line: str, _added: str, _turn: int) -> tuple[str, str]:
    return "", _with_number(line, "22")


def _two_additions(line: str, added: str, turn: int) -> tuple[str, str]:
    return line + added.format(name="first", turn=turn), line + added.format(name="second", turn=turn)


def _one_within_the_other(line: str, added: str, turn: int) -> tuple[str, str]:
    more = added.format(name="log", turn=turn)
    return more + line, more + added.format(name="trace", turn=turn) + line


KINDS = (
    _two_values, _edit_beside_addition, _only_blanks, _removal_and_edit, _two_additions,
    _one_within_the_other,
)  # fmt: skip


def contained_report() -> str:
    """CPU per file of the tests' merge cases: by the rules alone, and by way of a warm child."""
    cases = sorted(path.parent for path in CASES.glob("*/*/base"))
    jobs = []
    for case in cases:
        base, left, right = ((case / part).read_text() for part in ("base", "left", "right"))
        jobs.append(MergeJob(case.parent.name, base, left, right, Labels()))
    children = MergeProcesses()
    rows = []
    for turn in range(2):  # the first one loads the handlers and grammars
        alone_us, beside_us = [], []
        for job in jobs:
            began = time.process_time_ns()
            run_job(job.to_json())
            alone_us.append((time.process_time_ns() - began) / 1000)
            began = time.process_time_ns() + _children_ns(children)
            children.run([job])
            beside_us.append((time.process_time_ns() + _children_ns(children) - began) / 1000)
        if turn:
            rows = [("rules alone", alone_us), ("in a warm child", beside_us)]
    children.close()
    told = [f"CPU us per file, {len(jobs)} cases      p50     p90"]
    for name, taken in rows:
        told.append(
            f"{name:28}{sorted(taken)[len(taken) // 2]:8.0f}{sorted(taken)[len(taken) * 9 // 10]:8.0f}"
        )
    return "\n".join(told)


def _children_ns(children: MergeProcesses) -> int:
    """CPU time of the idle children; the clock of a process is named by its id."""
    return sum(time.clock_gettime_ns((~child.pid << 3) | 2) for child in children.idle)
