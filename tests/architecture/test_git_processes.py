"""Git is started in one place: every program list that begins with git stands in git/run.py."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[2] / "src" / "lineclear"

STARTER = "git/run.py"
# The demo's agent works as a coding agent does: its git is not ours, and meets our hooks as any other.
ANOTHERS = {"cli/demo/shop/agent.py"}


def starts_of_git(text: str) -> list[int]:
    """The lines with a call that is given a program named git: `run(["git", ...])`, `spawn("git", ...)`."""
    found = []
    for node in ast.walk(ast.parse(text)):
        if not isinstance(node, ast.Call):
            continue
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        if name == "append":  # a row of a table
            continue
        for given in [*node.args, *(word.value for word in node.keywords)]:
            is_list = isinstance(given, (ast.List, ast.Tuple)) and given.elts and _is_git(given.elts[0])
            if is_list or (_is_git(given) and name.startswith(("posix_spawn", "spawn", "exec", "Popen"))):
                found.append(node.lineno)
    return found


def _is_git(node: ast.expr) -> bool:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value.rpartition("/")[2].partition(" ")[0] == "git"
    return False


def test_only_one_module_starts_git() -> None:
    starters = {
        str(path.relative_to(SOURCE)): lines
        for path in sorted(SOURCE.rglob("*.py"))
        if (lines := starts_of_git(path.read_text(encoding="utf-8")))
    }
    assert starters.keys() - ANOTHERS == {STARTER}, starters


@pytest.mark.parametrize(
    "text",
    [
        'subprocess.run(["git", "status"])',
        'Popen(args=("git", *words))',
        'subprocess.check_output(["/usr/bin/git", "status"])',
        'os.posix_spawnp("git", words, env)',
        'os.execvp("git", words)',
        'run_to_end(["git", "status"], cwd=cwd)',
    ],
)
def test_another_start_would_be_seen(text: str) -> None:
    assert starts_of_git(text) == [1]
