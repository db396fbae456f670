"""The only place that starts git: clean environment, English messages, bounded time."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping, Sequence

# What binds git to one repository or its state; inherited from a hook it would point us elsewhere.
_LOCAL_NAMES = (
    "GIT_DIR", "GIT_WORK_TREE", "GIT_COMMON_DIR", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY",
    "GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_PREFIX", "GIT_NAMESPACE", "GIT_CONFIG",
    "GIT_CONFIG_PARAMETERS", "GIT_CONFIG_COUNT", "GIT_IMPLICIT_WORK_TREE", "GIT_GRAFT_FILE",
    "GIT_NO_REPLACE_OBJECTS", "GIT_REPLACE_REF_BASE", "GIT_SHALLOW_FILE", "GIT_INTERNAL_SUPER_PREFIX",
    "GIT_QUARANTINE_PATH", "GIT_LITERAL_PATHSPECS", "GIT_GLOB_PATHSPECS", "GIT_NOGLOB_PATHSPECS",
    "GIT_ICASE_PATHSPECS", "GIT_EXTERNAL_DIFF", "GIT_DIFF_OPTS",
)  # fmt: skip


class GitFailed(Exception):
    """Git said no, took too long (exit code 124) or could not be started (127)."""

    def __init__(self, args: Sequence[str], exit_code: int, stderr: str) -> None:
        super().__init__(f"git {' '.join(args)}: exit code {exit_code}: {stderr.strip()}")
        self.command, self.exit_code, self.stderr = tuple(args), exit_code, stderr


def git(
    args: Sequence[str],
    cwd: str,
    *,
    input: bytes | None = None,
    check: bool = True,
    timeout_s: float = 60,
    env: Mapping[str, str] | None = None,
) -> bytes:
    """What git prints. `env` is added to the cleaned environment; `check=False` accepts any exit code."""
    full = {name: value for name, value in os.environ.items() if name not in _LOCAL_NAMES}
    full.update({"LC_ALL": "C", "GIT_TERMINAL_PROMPT": "0"}, **(env or {}))
    pipe = subprocess.PIPE
    try:
        child = subprocess.Popen(["git", *args], cwd=cwd, env=full, stdin=pipe, stdout=pipe, stderr=pipe)
    except OSError as error:
        raise GitFailed(args, 127, str(error)) from error
    with child:
        try:
            output, errors = child.communicate(input or b"", timeout_s)
        except subprocess.TimeoutExpired as error:
            _end(child)
            raise GitFailed(args, 124, f"not done after {timeout_s} s") from error
    if check and child.returncode != 0:
        raise GitFailed(args, child.returncode, errors.decode("utf-8", "replace"))
    return output


def _end(child: subprocess.Popen[bytes]) -> None:
    """Asked, git removes its lock files and ends what it started; killed, it does neither."""
    child.terminate()
    try:
        child.wait(5)
    except subprocess.TimeoutExpired:
        child.kill()
