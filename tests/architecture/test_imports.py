"""What an import costs: the package alone, and the rules that the hook needs, stay cheap."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[2] / "src"

# The rules that a hook, a process of a few milliseconds, will import.
HOOK_MODULES = (
    "claims.paths",
    "claims.resources",
    "agents.names",
    "claims.rules",
    "claims.write_rule",
    "agents.identity",
    "claims.strategies",
    "instants",
    "log.tables",
    "words.refusals",
    "words.claims",
    "agents.hooks",
    "quick_json",
    "log.codec",
    "log.fold",
)

# Each costs as much as, or a multiple of, starting the interpreter.
COSTLY = frozenset(
    {
        "argparse",
        "collections",
        "contextlib",
        "dataclasses",
        "enum",
        "functools",
        "json",
        "logging",
        "pathlib",
        "re",
        "typing",
    }
)

REPORT_NEW_MODULES = """
import sys
sys.path.insert(0, {source!r})
before = set(sys.modules)
import {module}
sys.stdout.write("\\n".join(sorted(set(sys.modules) - before)))
"""


def modules_imported_by(module: str, *options: str) -> set[str]:
    """Every module that a bare interpreter loads for `import module`, itself included."""
    program = REPORT_NEW_MODULES.format(source=str(SOURCE), module=module)
    done = subprocess.run(
        [sys.executable, "-I", *options, "-c", program], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return set(done.stdout.split())


def test_importing_the_package_needs_only_the_standard_library() -> None:
    roots = {name.partition(".")[0] for name in modules_imported_by("lineclear")}
    assert "lineclear" in roots
    assert roots - sys.stdlib_module_names == {"lineclear"}


@pytest.mark.parametrize("name", HOOK_MODULES)
def test_a_rule_on_the_hooks_path_imports_nothing_costly(name: str) -> None:
    loaded = modules_imported_by(f"lineclear.core.{name}", "-S")
    assert f"lineclear.core.{name}" in loaded
    assert loaded & COSTLY == set()


@pytest.mark.parametrize(
    "module", ["hook.entry", "clients.registry", "clients.claude.hook", "wiring.hooks", "app.hooks"]
)
def test_a_part_of_the_hook_imports_nothing_costly(module: str) -> None:
    assert modules_imported_by(f"lineclear.{module}", "-S") & COSTLY == set()


def test_a_hook_loads_the_code_of_its_own_client_and_of_no_other() -> None:
    loaded = modules_imported_by(
        "lineclear.clients.registry; lineclear.clients.registry.hook_of('droid')", "-S"
    )
    clients = {name for name in loaded if name.startswith("lineclear.clients.")}
    shared = {"registry", "claude_protocol", "hook_json"}
    assert clients == {f"lineclear.clients.{name}" for name in (*shared, "droid", "droid.hook")}


def test_a_costly_import_would_be_seen() -> None:
    assert {"dataclasses", "re"} <= modules_imported_by("dataclasses", "-S") & COSTLY
