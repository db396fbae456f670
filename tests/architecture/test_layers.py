"""Arrows between modules point down: the contracts in pyproject.toml hold, and each of them can fail."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

# For each contract: a module, a line that breaks it there, and the contract's name.
OFFENCES = [
    ("core/claims/paths.py", "import lineclear.app", "Arrows point down"),
    ("misplaced.py", '"""A top-level module that no layer names."""', "Arrows point down"),
    ("core/claims/paths.py", "import os", "Rules touch nothing outside"),
    ("cli/__init__.py", "import lineclear.store", "Only wiring knows the engines"),
    ("store/memory.py", "import lineclear.store.sqlite", "Engines do not know each other"),
]


def lint_imports(root: Path) -> subprocess.CompletedProcess[str]:
    program = "from importlinter.cli import lint_imports_command as run; run(['--no-logo', '--no-cache'])"
    return subprocess.run(
        [sys.executable, "-c", program],
        cwd=root,
        env=os.environ | {"PYTHONPATH": str(root / "src"), "NO_COLOR": "1", "COLUMNS": "200"},
        capture_output=True,
        text=True,
        check=False,
    )


def broken_contracts(output: str) -> list[str]:
    return [line for line in output.splitlines() if line.endswith("BROKEN")]


def append_line(module: Path, line: str) -> None:
    # A module may also be a package; the offence then goes into its __init__.
    target = module.with_suffix("") / "__init__.py" if module.with_suffix("").is_dir() else module
    with target.open("a") as file:
        file.write(f"\n{line}\n")


def test_every_contract_is_kept() -> None:
    done = lint_imports(ROOT)
    assert done.returncode == 0, done.stdout + done.stderr
    assert ", 0 broken" in done.stdout


@pytest.mark.parametrize(("module", "line", "contract"), OFFENCES)
def test_an_offence_breaks_its_contract(tmp_path: Path, module: str, line: str, contract: str) -> None:
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    shutil.copytree(ROOT / "src", tmp_path / "src", ignore=shutil.ignore_patterns("__pycache__"))
    append_line(tmp_path / "src" / "lineclear" / module, line)
    done = lint_imports(tmp_path)
    assert done.returncode != 0
    assert any(broken.startswith(contract) for broken in broken_contracts(done.stdout)), (
        done.stdout + done.stderr
    )
