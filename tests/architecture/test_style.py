"""What no linter of ours says: size of files, names of modules, opening words, who may print or open."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src" / "lineclear"
LINES_A_PERSON_READS_IN_ONE_SITTING = 600
VAGUE_WORDS = frozenset({"common", "helper", "helpers", "manager", "util", "utils"})


def modules_under(*directories: Path) -> list[Path]:
    return sorted(path for directory in directories for path in directory.rglob("*.py"))


def relative(paths: list[Path]) -> list[str]:
    return [str(path.relative_to(ROOT)) for path in paths]


SHIPPED = modules_under(PACKAGE)
ALL = modules_under(PACKAGE, ROOT / "tests", ROOT / "benchmarks")


def calls_of(name: str, source: str) -> list[int]:
    """The lines on which the builtin is called."""
    return [
        node.lineno
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == name
    ]


def vague_words_in(path: Path) -> set[str]:
    return {word for part in path.with_suffix("").parts for word in part.split("_")} & VAGUE_WORDS


def test_there_is_something_to_look_at() -> None:
    assert PACKAGE / "__init__.py" in SHIPPED
    assert Path(__file__) in ALL


def test_no_file_is_longer_than_one_sitting() -> None:
    long = [
        path for path in SHIPPED if len(path.read_text().splitlines()) > LINES_A_PERSON_READS_IN_ONE_SITTING
    ]
    assert relative(long) == []


def test_no_test_file_is_much_longer() -> None:
    """A suite that is one list of situations may be longer: nobody has to keep it in mind at once."""
    long = [path for path in ALL if len(path.read_text().splitlines()) > 800]
    assert relative(long) == []


def test_no_module_has_a_vague_name() -> None:
    assert relative([path for path in ALL if vague_words_in(path.relative_to(ROOT))]) == []


def test_every_module_says_what_it_is_for() -> None:
    silent = [path for path in ALL if not ast.get_docstring(ast.parse(path.read_text()))]
    assert relative(silent) == []


def test_every_folder_of_the_package_is_a_package() -> None:
    folders = {path.parent for path in SHIPPED}
    assert relative(sorted(folder for folder in folders if not (folder / "__init__.py").exists())) == []


def test_only_the_renderer_prints() -> None:
    renderer = PACKAGE / "cli" / "render.py"
    printing = [path for path in SHIPPED if path != renderer and calls_of("print", path.read_text())]
    assert relative(printing) == []


def test_no_rule_opens_a_file() -> None:
    opening = [path for path in modules_under(PACKAGE / "core") if calls_of("open", path.read_text())]
    assert relative(opening) == []


@pytest.mark.parametrize(
    ("source", "lines"),
    [("print(1)", [1]), ("x = 1\nprint(x)", [2]), ("'print(1)'", []), ("# print(1)", []), ("a.print(1)", [])],
)
def test_only_a_call_of_the_builtin_counts(source: str, lines: list[int]) -> None:
    assert calls_of("print", source) == lines


def test_a_vague_word_is_found_anywhere_in_a_path() -> None:
    assert vague_words_in(Path("src/lineclear/store_utils/a.py")) == {"utils"}
    assert vague_words_in(Path("src/lineclear/store/managers.py")) == set()
