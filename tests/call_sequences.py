"""Sequences of an agent's calls, written down for people, and played to the watch over loops.

A file opens with `title:` and `expect:` (`healthy`, or the pattern), a looping one with `after:` (how
many calls it takes until it is named). Then one line for each thing that happens:

    shell pytest -q => failed 2 failed      a call and its answer; also `read`, `edit PATH ...`, any tool
    read src/a.py                           a call that is not answered yet
    => ok text                              the answer to the oldest of those
    tree ID                                 the content of the worktree now
    5 times                                 repeats the indented lines below it

In a repeated line `{n}` is the round, from 1, and `{m}` the round of the block around it; `{n%3}` and
`{n/3}` count in threes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from lineclear.core.runs.digests import normal_digest, normal_result
from lineclear.core.runs.loops import LoopWatch

FOLDER = Path(__file__).parent / "loops_cases"
EDITING = ("edit", "write", "patch")

_COUNTER = re.compile(r"\{([nm])(?:([%/])(\d+))?\}")


class Case:
    def __init__(self, path: Path) -> None:
        self.name = f"{path.parent.name}/{path.stem}"
        head, _, body = path.read_text(encoding="utf-8").partition("\n\n")
        fields = dict(line.split(": ", 1) for line in head.splitlines())
        self.title, self.expect = fields["title"], fields["expect"]
        self.after = int(fields.get("after", "0"))
        self.lines = list(_spread(body.splitlines(), 0, 0))


def all_cases() -> list[Case]:
    return [Case(path) for path in sorted(FOLDER.glob("*/*.txt"))]


def _spread(lines: list[str], outer: int, inner: int) -> Iterator[str]:
    """The lines as they happen: blocks repeated, counters filled in."""
    at = 0
    while at < len(lines):
        line = lines[at]
        at += 1
        if not line.strip():
            continue
        if not re.fullmatch(r"\d+ times", line):
            yield _COUNTER.sub(lambda found: _count(found, outer, inner), line)
            continue
        end = at
        while end < len(lines) and (lines[end].startswith("  ") or not lines[end].strip()):
            end += 1
        block = [inside[2:] for inside in lines[at:end]]
        for turn in range(1, int(line.split()[0]) + 1):
            yield from _spread(block, inner, turn)
        at = end


def _count(found: re.Match[str], outer: int, inner: int) -> str:
    value = inner if found[1] == "n" else outer
    if found[2] == "%":
        value %= int(found[3])
    elif found[2] == "/":
        value //= int(found[3])
    return str(value)


def play(watch: LoopWatch, line: str) -> None:
    """Let one line happen."""
    call, arrow, answer = line.partition("=>")
    if call.startswith("tree "):
        watch.tree(call.split()[1])
        return
    if call.strip():
        tool, _, words = call.strip().partition(" ")
        _call(watch, tool, words)
    if arrow:
        outcome, _, text = answer.strip().partition(" ")
        assert outcome in ("ok", "failed"), line
        watch.result(outcome == "ok", normal_result(text))


def _call(watch: LoopWatch, tool: str, words: str) -> None:
    path = words.split(" ", maxsplit=1)[0] if tool in (*EDITING, "read") else ""
    given: dict[str, Any] = {"command": words} if tool == "shell" else {"given": words}
    watch.call(
        tool,
        normal_digest(tool, given),
        (path,) if path else (),
        is_edit=tool in EDITING,
        is_shell=tool == "shell",
        summary=words,
    )
