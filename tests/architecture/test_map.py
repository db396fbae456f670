"""The map in CONTRIBUTING.md is right: every file, name and path on it exists."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src" / "lineclear"
PAGE = (ROOT / "CONTRIBUTING.md").read_text()

ROW = re.compile(r"^\| [^|]+\? \| `([\w/]+\.py)` \| `([\w.]+)` \|$", re.MULTILINE)
STEP = re.compile(r"^ *((?:\w+/)+\w+\.py) ([\w.]+)  ", re.MULTILINE)
PATH = re.compile(r"`((?:\w+/)+(?:\w+\.\w+)?)`")


def section(title: str) -> str:
    return PAGE.partition(f"\n## {title}\n")[2].partition("\n## ")[0]


QUESTIONS = ROW.findall(section("Where is it decided?"))
STEPS = STEP.findall(section("Three walks"))
# NAME stands for a client's name, of which `claude` is one.
PATHS = sorted({path for path in PATH.findall(PAGE) if "NAME" not in path})


def names_in(source: str) -> set[str]:
    """What a module defines at its top, and the methods of its classes as `Class.method`."""
    names: set[str] = set()
    for node in ast.parse(source).body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            names.add(node.name)
        elif isinstance(node, ast.Assign):
            names.update(target.id for target in node.targets if isinstance(target, ast.Name))
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            names.add(node.target.id)
        if isinstance(node, ast.ClassDef):
            names.update(
                f"{node.name}.{part.name}" for part in node.body if isinstance(part, ast.FunctionDef)
            )
    return names


def test_the_map_answers_twenty_questions_and_draws_three_walks() -> None:
    assert len(QUESTIONS) == section("Where is it decided?").count("? |") >= 20
    walks = section("Three walks").split("```")[1::2]
    assert [len(STEP.findall(walk)) >= 5 for walk in walks] == [True, True, True]


@pytest.mark.parametrize(("file", "name"), sorted({*QUESTIONS, *STEPS}))
def test_every_file_and_name_on_the_map_exists(file: str, name: str) -> None:
    assert name in names_in((PACKAGE / file).read_text())


def test_every_path_on_the_page_leads_somewhere() -> None:
    roots = (ROOT, PACKAGE, ROOT / "tests")
    assert len(PATHS) > 20
    assert [path for path in PATHS if not any((root / path).exists() for root in roots)] == []


def test_a_name_that_is_gone_is_noticed() -> None:
    source = "A = 1\nB: int = 2\ndef f(): ...\nclass C:\n    def m(self): ...\n"
    assert names_in(source) == {"A", "B", "f", "C", "C.m"}
    assert ROW.findall("| Who? | `core/a.py` | `b.c` |") == [("core/a.py", "b.c")]
    assert STEP.findall("   core/a.py b.c    words") == [("core/a.py", "b.c")]
