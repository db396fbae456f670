"""A file system that takes no writes: named as the cause, by every door that meets it."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable

import pytest

from tests.e2e.commandline import SOURCE
from tests.repository import TemporaryRepo

ON_READ_ONLY = 'mount --bind "$0" "$0" && mount -o remount,ro,bind "$0" && cd "$0" && exec "$@"'


@pytest.fixture
def read_only(repo: TemporaryRepo) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Runs a command line in the repository while its file system is read-only."""
    spaces = ["unshare", "--map-root-user", "--mount"]
    if sys.platform != "linux" or subprocess.run([*spaces, "true"], check=False).returncode:
        pytest.skip("needs Linux with user namespaces")

    def run(*words: str) -> subprocess.CompletedProcess[str]:
        program = [sys.executable, "-B", "-m", "lineclear", *words]
        line = [*spaces, "sh", "-c", ON_READ_ONLY, str(repo.path), *program]
        environ = {**repo.environment, "PYTHONPATH": str(SOURCE)}
        return subprocess.run(line, env=environ, capture_output=True, text=True, check=False)

    return run


def test_init_and_doctor_name_a_read_only_file_system(
    repo: TemporaryRepo, read_only: Callable[..., subprocess.CompletedProcess[str]]
) -> None:
    repo.commit("Base", {"a.txt": "one\n"})
    answer = read_only("init")
    assert answer.returncode == 1
    said = f"Cannot write {repo.path}/.git: Read-only file system.\nNext: run `df "
    assert answer.stderr.startswith(said), answer
    program = [sys.executable, "-m", "lineclear", "init"]
    environ = {**repo.environment, "PYTHONPATH": str(SOURCE)}
    subprocess.run(program, cwd=repo.path, env=environ, capture_output=True, check=True)
    answer = read_only("doctor")
    assert answer.returncode == 1
    assert f"{repo.path}/.git cannot be written: a read-only file system" in answer.stdout
    assert "the store cannot be written: Read-only file system" in answer.stdout
    assert "holding the write lock" not in answer.stdout
    assert "Read-only file system" in read_only("trust").stderr
