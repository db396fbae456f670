"""Labelled scenarios: two branches from one base, and what the radar should say about them.

A file holds many of them:

    ### a-short-title
    # why the label is right
    expect: signature left right `total`
    --- base shop/cart.py
    ...the whole file...
    --- left shop/cart.py
    ...
    --- right shop/old.py (deleted)

A file that a side does not name is as in base. `expect: none` stands where nothing should be reported.
"""

from __future__ import annotations

import re
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).parents[1] / "radar_cases"
OPEN, UNREAD = HALVES = ("open", "unread")
SIDES = ("base", "left", "right")
DELETED = " (deleted)"
_EXPECT = re.compile(r"expect: (\S+) (left|right) (left|right) `(.+)`")


@dataclass(frozen=True, slots=True)
class Expected:
    kind: str
    first: str
    second: str
    symbol: str


@dataclass(slots=True)
class Scenario:
    """`files` of each side: the text of each path that the side names, None where it deletes it."""

    language: str
    title: str
    expected: list[Expected] = field(default_factory=list)
    files: dict[str, dict[str, str | None]] = field(default_factory=lambda: {side: {} for side in SIDES})
    is_labelled: bool = False

    def tree(self, side: str) -> dict[str, str]:
        named = self.files["base"] | (self.files[side] if side != "base" else {})
        return {path: text for path, text in named.items() if text is not None}


class BadScenario(Exception):
    """A scenario that does not follow the format."""


def load_scenarios(directory: Path) -> list[Scenario]:
    return [
        scenario
        for path in sorted(directory.glob("*.txt"))
        for scenario in parse_scenarios(path.stem, path.read_text(encoding="utf-8"))
    ]


def parse_scenarios(language: str, text: str) -> list[Scenario]:
    found = []
    for part in re.split(r"^### ", text, flags=re.MULTILINE)[1:]:
        title, _, rest = part.partition("\n")
        found.append(_parse_one(Scenario(language, title.strip()), rest))
    return found


def _parse_one(scenario: Scenario, text: str) -> Scenario:
    head, *files = re.split(r"^--- (?=(?:base|left|right) )", text, flags=re.MULTILINE)
    for line in head.split("\n"):
        _read_label(scenario, line.strip())
    for file in files:
        name, _, body = file.partition("\n")
        side, _, path = name.strip().partition(" ")
        is_deleted = path.endswith(DELETED)
        scenario.files[side][path.removesuffix(DELETED).strip()] = None if is_deleted else body
    if not scenario.is_labelled or not scenario.files["left"] or not scenario.files["right"]:
        raise BadScenario(f"{scenario.language}: {scenario.title}: needs a label and files on both sides")
    return scenario


def _read_label(scenario: Scenario, line: str) -> None:
    if not line.startswith("expect:"):
        return
    scenario.is_labelled = True
    if line == "expect: none":
        return
    match = _EXPECT.fullmatch(line)
    if match is None:
        raise BadScenario(f"{scenario.language}: {scenario.title}: cannot read {line!r}")
    scenario.expected.append(Expected(*match.groups()))


def commit_all(repo: Path, scenarios: list[Scenario]) -> list[tuple[str, str]]:
    """Commit the three sides of each scenario, all in one run of git; the commits of left and right."""
    stream: list[bytes] = []
    for number, scenario in enumerate(scenarios):
        marks = {side: number * 3 + place + 1 for place, side in enumerate(SIDES)}
        for side in SIDES:
            parent = None if side == "base" else marks["base"]
            stream.append(_commit(marks[side], parent, f"refs/cases/{number}/{side}", scenario.tree(side)))
    marks_file = repo / "marks"
    subprocess.run(
        ["git", "fast-import", "--quiet", f"--export-marks={marks_file}"],
        cwd=repo, input=b"".join(stream), check=True,
    )  # fmt: skip
    ids = dict(line.split() for line in marks_file.read_text().splitlines())
    return [(ids[f":{number * 3 + 2}"], ids[f":{number * 3 + 3}"]) for number in range(len(scenarios))]


def _commit(mark: int, parent: int | None, ref: str, tree: dict[str, str]) -> bytes:
    lines = [
        f"commit {ref}\nmark :{mark}\ncommitter Case <case@example.invalid> {1_767_268_800 + mark} +0000\n"
        "data 4\ncase\n".encode()
    ]
    if parent is not None:
        lines.append(f"from :{parent}\n".encode())
    lines.append(b"deleteall\n")
    for path, text in sorted(tree.items()):
        content = text.encode()
        lines.append(f'M 100644 inline "{path}"\ndata {len(content)}\n'.encode() + content + b"\n")
    return b"".join(lines)
