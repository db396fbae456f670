"""What an import costs: the package alone, and the modules that a hook loads, stay cheap."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from lineclear.clients.registry import HOOK, names_with
from tests.architecture.hook_loads import COSTLY, HOOK_MODULES, modules_of_a_day
from tests.hooked_repo import HookedRepo
from tests.repository import TemporaryRepo

SOURCE = Path(__file__).parents[2] / "src"

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


@pytest.fixture(scope="module")
def day(shared_repo: TemporaryRepo) -> dict[str, set[str]]:
    """What each event of a real session loads."""
    return modules_of_a_day(HookedRepo(shared_repo))


def test_a_hook_loads_no_module_of_ours_that_is_not_listed(day: dict[str, set[str]]) -> None:
    listed = {"lineclear", *(f"lineclear.{name}" for name in HOOK_MODULES)}
    for event, loaded in day.items():
        assert {name for name in loaded if name.startswith("lineclear")} - listed == set(), event


def test_a_hook_loads_nothing_costly(day: dict[str, set[str]]) -> None:
    assert {event: loaded & COSTLY for event, loaded in day.items() if loaded & COSTLY} == {}


def test_every_listed_module_is_one_that_a_hook_loads(day: dict[str, set[str]]) -> None:
    loaded = set().union(*day.values())
    assert [name for name in HOOK_MODULES if f"lineclear.{name}" not in loaded] == []


def test_the_first_edit_loads_nothing_that_only_other_calls_need(day: dict[str, set[str]]) -> None:
    rare = {"app.hooks.repeated_calls", "app.hooks.shell", "git.tree_states", "git.run", "wiring.store_pool"}
    assert day["PreToolUse  of s1"] & {f"lineclear.{name}" for name in rare} == set()
    assert "lineclear.app.hooks.shell" in day["PostToolUse Bash of s1"]


@pytest.mark.parametrize("client", names_with(HOOK))
def test_the_hook_of_a_client_imports_nothing_costly(client: str) -> None:
    assert modules_imported_by(f"lineclear.clients.{client}.hook", "-S") & COSTLY == set()


def test_a_hook_loads_the_code_of_its_own_client_and_of_no_other() -> None:
    loaded = modules_imported_by(
        "lineclear.clients.registry; lineclear.clients.registry.hook_of('droid')", "-S"
    )
    clients = {name for name in loaded if name.startswith("lineclear.clients.")}
    shared = {"registry", "claude_protocol", "hook_json"}
    assert clients == {f"lineclear.clients.{name}" for name in (*shared, "droid", "droid.hook")}


def test_a_costly_import_would_be_seen() -> None:
    assert {"dataclasses", "re"} <= modules_imported_by("dataclasses", "-S") & COSTLY
