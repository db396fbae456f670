"""What the largest and oddest files cost: CPU by way of a child, as a multiple of `git merge-file`.

No file may cost more than MOST_S. The shapes are those that once took 6 to 80 s.
"""

from __future__ import annotations

import resource
import subprocess
import tempfile
from pathlib import Path

from lineclear.code.parse import MAX_SIZE
from lineclear.host.merge_processes import MergeProcesses
from lineclear.merge import Labels
from lineclear.merge.bounds import MAX_PLACES
from lineclear.merge.rule_jobs import MergeJob, RuleFailure

MOST_S = 3.0
VALUES = ("1", "22", "333")


def report() -> str:
    lines = [f"{'CPU s of one file, at most ' + str(MOST_S):40}{'rules':>8}{'git':>8}{'ratio':>8}"]
    for name, (path, texts) in _shapes().items():
        job = MergeJob(path, *texts, Labels())
        children = MergeProcesses()
        began = _children_s()
        (found,) = children.run([job])
        children.close()
        taken = _children_s() - began
        git = _git_s(texts)
        why = found.reason if isinstance(found, RuleFailure) else found.verdict
        missed = "" if taken <= MOST_S else "MISSED "
        lines.append(f"{name:40}{taken:8.2f}{git:8.3f}{taken / max(git, 0.001):8.0f}  {missed}{why[:60]}")
    return "\n".join(lines)


def _children_s() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _git_s(texts: tuple[str, str, str]) -> float:
    with tempfile.TemporaryDirectory() as folder:
        for name, text in zip(("base", "left", "right"), texts, strict=True):
            (Path(folder) / name).write_text(text, newline="")
        began = _children_s()
        words = ["git", "merge-file", "-p", "-q", "left", "base", "right"]
        subprocess.run(words, cwd=folder, stdout=subprocess.DEVNULL, check=False)
        return _children_s() - began


def _rows(row: str, count: int, every: int, head: str = "", tail: str = "") -> tuple[str, str, str]:
    """`count` rows; both sides changed the value in every n-th."""
    base, left, right = (
        head
        + "".join(row % {"n": n, "v": value if n % every == 0 else VALUES[0]} for n in range(count))
        + tail
        for value in VALUES
    )
    return base, left, right


def _value(text: str) -> tuple[str, str, str]:
    base, left, right = (text.replace("VALUE", value) for value in VALUES)
    return base, left, right


def _shapes() -> dict[str, tuple[str, tuple[str, str, str]]]:
    found = {}
    for path, row in (
        ("a.txt", "line %(n)d %(v)s\n"),
        ("a.py", "x%(n)d = %(v)s  # note\n"),
        ("a.js", "let x%(n)d = %(v)s;\n"),
        ("a.css", ".x%(n)d { width: %(v)s }\n"),
        ("a.yaml", "x%(n)d: %(v)s\n"),
        ("a.toml", "x%(n)d = %(v)s\n"),
        ("a.md", "- a %(n)d b %(v)s\n"),
    ):
        found[f"{path}, 11,000 places"] = (path, _rows(row, 44_000, 4))
        count = MAX_SIZE * 9 // 10 // len(row % {"n": 99_999, "v": 1})
        found[f"{path}, {count:,} rows, {MAX_PLACES - 1} places"] = (
            path,
            _rows(row, count, count // (MAX_PLACES - 2)),
        )
    row = '  "key%(n)d": {"a": %(v)s},\n'
    found["a.json, 110,000 keys"] = ("a.json", _rows(row, 110_000, 1_000, "{\n", '  "z": 0\n}\n'))
    found["a.json, 55,000 keys"] = ("a.json", _rows(row, 55_000, 1_000, "{\n", '  "z": 0\n}\n'))
    keys = ",".join(f'"k{n}":{n}' for n in range(110_000))
    found["a.json, 110,000 keys on one line"] = ("a.json", _value("{" + keys + ',"z":VALUE}\n'))
    for path in ("a.txt", "a.js"):
        found[f"{path}, 600 KB on one line"] = (path, _value("a," * 150_000 + "VALUE," + "b," * 150_000))
        found[f"{path}, 190 KB on one line"] = (path, _value("a," * 47_000 + "VALUE," + "b," * 47_000))
    for path, opening, closing in (
        ("a.json", "[", "]"), ("a.py", "(", ")"), ("a.xml", "<a>", "</a>"), ("a.html", "<a>", "</a>"),
    ):  # fmt: skip
        found[f"{path}, 10,000 levels"] = (path, _value(opening * 10_000 + "VALUE" + closing * 10_000 + "\n"))
    return found
