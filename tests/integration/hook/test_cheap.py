"""What a hook loads: every module is paid for at every edit."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from lineclear.wiring.setup import import_paths
from tests.hooked_repo import HookedRepo
from tests.repository import TemporaryRepo

PROGRAM = """
import os, sys
sys.path[1:1] = {paths!r}
leave = os._exit
def tell(code):
    os.write(2, " ".join(sys.modules).encode())
    leave(code)
os._exit = tell
from lineclear.hook.entry import run
run(sys.argv[1:], os.environ)
"""
COSTLY = frozenset(
    (
        "collections", "dataclasses", "enum", "fnmatch", "functools", "hashlib", "json", "re", "shutil",
        "signal", "subprocess", "tempfile", "threading", "tomllib", "typing",
        "lineclear.hook.serving", "lineclear.app.hooks.repeated", "lineclear.wiring.store_pool",
    )
)  # fmt: skip
SHELL: dict[str, Any] = {"tool": "Bash", "given": {"command": "make"}}


class Loading:
    def __init__(self, ways: HookedRepo) -> None:
        self.ways = ways

    def __call__(self, event: str, **more: Any) -> set[str]:
        """The modules that are there when the hook has answered."""
        program = PROGRAM.format(paths=import_paths())
        done = subprocess.run(
            [sys.executable, "-I", "-S", "-c", program, "claude", event],
            input=json.dumps(self.ways.said(event, self.ways.tree / "src/b.py", **more)).encode(),
            env=self.ways.environ, cwd=self.ways.tree, capture_output=True, check=True,
        )  # fmt: skip
        return set(done.stderr.decode().split())


@pytest.fixture
def loading(repo: TemporaryRepo) -> Loading:
    return Loading(HookedRepo(repo))


def test_the_first_touch_of_a_file_loads_nothing_costly(loading: Loading) -> None:
    loaded = loading("PreToolUse")
    assert "lineclear.app.hooks.claims" in loaded
    assert loaded & COSTLY == set()


def test_hooks_around_a_command_that_changes_files_load_nothing_costly(loading: Loading) -> None:
    assert loading("PreToolUse", **SHELL) & COSTLY == set()
    for name in ("src/b.py", ".env", "new.py"):
        (Path(loading.ways.tree) / name).write_text("changed\n")
    loaded = loading("PostToolUse", **SHELL)
    assert "lineclear.app.hooks.shell" in loaded
    assert loaded & COSTLY == set()
