"""The real Codex's sandbox, where what a model runs cannot write to `.git`, and what a server does for it."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import in_ci
from tests.e2e.commandline import CommandLine
from tests.e2e.serving import ServeProcess
from tests.real_clients import ClientsMissing, RealClient, real_client, sandbox_works

pytestmark = pytest.mark.slow

WRITES = ["-c", 'sandbox_mode="workspace-write"']
CONNECTS = [*WRITES, "-c", "sandbox_workspace_write.network_access=true"]


@pytest.fixture
def codex(line: CommandLine, tmp_path: Path) -> Iterator[RealClient]:
    try:
        found = real_client("codex", "http://127.0.0.1:1", tmp_path / "codex", dict(line.environment))
    except ClientsMissing as missing:
        if in_ci():
            pytest.fail(str(missing))
        pytest.skip(f"NOT TESTED WITH CODEX: {missing}")
    if not sandbox_works(found):
        pytest.skip("NOT TESTED WITH CODEX'S SANDBOX: there can be none in here")
    served = ServeProcess(line, patience_s=60)
    yield found
    served.kill()


def inside(codex: RealClient, line: CommandLine, options: list[str], *words: str) -> tuple[int, str]:
    done = subprocess.run(
        [*codex.argv, "sandbox", *options, "--", *line.argv(*words)], cwd=line.place,
        env={**codex.env, "PYTHONPATH": line.environment["PYTHONPATH"]}, capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    return done.returncode, done.stdout + done.stderr


def test_with_network_access_commands_work_through_the_socket(codex: RealClient, line: CommandLine) -> None:
    code, said = inside(codex, line, CONNECTS, "claim", "a.py", "--as", "codex-1")
    assert (code, "file:a.py is yours" in said) == (0, True), said
    assert line.holders("a.py") == ["codex-1"]


def test_without_it_no_connection_is_allowed_and_a_write_is_refused_in_words(
    codex: RealClient, line: CommandLine
) -> None:
    line.ok("claim", "a.py", "--as", "codex-1")
    code, said = inside(codex, line, WRITES, "claim", "b.py", "--as", "codex-1")
    assert (code, "The store cannot be written from here; nothing was changed." in said) == (4, True), said
    code, said = inside(codex, line, WRITES, "who", "a.py")
    assert (code, "codex-1" in said) == (0, True), said
    assert line.holders("b.py") == []
