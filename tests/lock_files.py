"""Two branches that each add a dependency, and package managers that pretend, for tests of lock files.

Dependencies are directories of the repository: no test asks a registry.
"""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from tests.repository import TemporaryRepo

LOCK = "package-lock.json"
NPM = ("npm", "install", "--package-lock-only", "--ignore-scripts", "--no-audit", "--no-fund", "--offline")


def manifest(*names: str) -> str:
    """A project that needs these packages."""
    needs = {name: f"file:libs/{name}" for name in sorted(names)}
    return json.dumps({"name": "port", "version": "1.0.0", "dependencies": needs}, indent=2) + "\n"


def lock(*names: str, note: str = "") -> str:
    """As npm writes it in the older form, in which no rule merges packages by themselves."""
    needs = {name: f"file:libs/{name}" for name in sorted(names)}
    packages: dict[str, Any] = {"": {"name": "port", "version": "1.0.0", "dependencies": needs}}
    for name in sorted(names):
        packages[f"libs/{name}"] = {"version": "1.0.0"}
    for name in sorted(names):
        packages[f"node_modules/{name}"] = {"resolved": f"libs/{name}", "link": True}
    tree = {name: {"version": f"file:libs/{name}"} for name in sorted(names)}
    data = {"name": "port", "version": "1.0.0", "lockfileVersion": 2, "requires": True}
    data |= {"note": note} if note else {}
    return json.dumps(data | {"packages": packages, "dependencies": tree}, indent=2) + "\n"


def project(names: Iterable[str] = ("anchor", "buoy", "crane", "dock")) -> dict[str, str]:
    """main: it needs the crane; the others are there to be needed."""
    libs = {
        f"libs/{name}/package.json": json.dumps(
            {"name": name, "version": "1.0.0", "scripts": {"preinstall": "touch ran", "prepare": "touch ran"}}
        )
        + "\n"
        for name in names
    }
    return {**libs, "package.json": manifest("crane"), LOCK: lock("crane")}


def adding(name: str) -> dict[str, str]:
    """What a branch changes that needs one more package."""
    return {"package.json": manifest("crane", name), LOCK: lock("crane", name)}


def needed(text: str) -> set[str]:
    """The packages that the project itself needs, by its lock file."""
    return set(json.loads(text)["packages"][""]["dependencies"])


def accepts(repo: TemporaryRepo, at: Path) -> list[str]:
    """The packages that npm finds by the lock file alone, when it has nothing to object to."""
    done = subprocess.run(
        ["npm", "ls", "--package-lock-only", "--json"],
        cwd=at,
        env=repo.environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    found = json.loads(done.stdout)
    assert not found.get("problems")
    return sorted(found["dependencies"])


def pretend(directory: Path, name: str, work: str, version: str = "10.8.2") -> dict[str, str]:
    """A package manager that does this (a shell script), and counts its calls; gives the variables for it."""
    directory.mkdir(exist_ok=True)
    program = directory / name
    calls = directory / "calls"
    told = f'if [ "$1" = --version ]; then echo {version}; exit; fi'
    program.write_text(f"#!/bin/sh\n{told}\necho call >> '{calls}'\n{work}\n")
    program.chmod(0o755)
    return {"PATH": f"{directory}{os.pathsep}{os.environ['PATH']}"}


def calls_in(directory: Path) -> int:
    calls = directory / "calls"
    return len(calls.read_text().splitlines()) if calls.exists() else 0
