"""The only place that starts git: clean environment, English messages, bounded time."""

from __future__ import annotations

import os
import subprocess
import time
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


_TRIES, _PAUSE_S = 20, 0.02


class GitFailed(Exception):
    """Git said no, took too long (exit code 124) or could not be started (127)."""

    def __init__(self, args: Sequence[str], exit_code: int, stderr: str) -> None:
        super().__init__(f"git {' '.join(args)}: exit code {exit_code}: {stderr.strip()}")
        self.command, self.exit_code, self.stderr = tuple(args), exit_code, stderr


class Started:
    """A git that runs and waits for its input, so that several can start up side by side."""

    __slots__ = ("_args", "_child")

    def __init__(
        self,
        args: Sequence[str],
        cwd: str,
        *,
        env: Mapping[str, str] | None = None,
        keep_fds: Sequence[int] = (),
    ) -> None:
        """`env` is added to the cleaned environment; git inherits `keep_fds`, so that a lock on one of
        them lasts as long as git does."""
        full = {name: value for name, value in os.environ.items() if name not in _LOCAL_NAMES}
        # What we do ourselves was judged before: the gate in git's hooks lets it pass.
        full.update({"LC_ALL": "C", "GIT_TERMINAL_PROMPT": "0", "LINECLEAR_GATE": "open"}, **(env or {}))
        pipe = subprocess.PIPE
        self._args = args
        try:
            self._child = subprocess.Popen(
                ["git", *args], cwd=cwd, env=full, stdin=pipe, stdout=pipe, stderr=pipe, pass_fds=keep_fds
            )
        except OSError as error:
            raise GitFailed(args, 127, str(error)) from error

    def finish(self, input: bytes | None = None, *, check: bool = True, timeout_s: float = 60) -> bytes:
        """What git prints. `check=False` accepts any exit code."""
        with self._child as child:
            try:
                output, errors = child.communicate(input or b"", timeout_s)
            except subprocess.TimeoutExpired as error:
                _end(child)
                raise GitFailed(self._args, 124, f"not done after {timeout_s} s") from error
        if check and child.returncode != 0:
            raise GitFailed(self._args, child.returncode, errors.decode("utf-8", "replace"))
        return output

    def close(self) -> None:
        """End it if it was not needed after all. Twice is once."""
        if self._child.poll() is None:
            _end(self._child)
        for stream in (self._child.stdin, self._child.stdout, self._child.stderr):
            if stream is not None:
                stream.close()


def git(
    args: Sequence[str],
    cwd: str,
    *,
    input: bytes | None = None,
    check: bool = True,
    timeout_s: float = 60,
    env: Mapping[str, str] | None = None,
    keep_fds: Sequence[int] = (),
) -> bytes:
    """What git prints. `env` is added to the cleaned environment; `check=False` accepts any exit code;
    git inherits `keep_fds`."""
    for _ in range(_TRIES):
        try:
            return Started(args, cwd, env=env, keep_fds=keep_fds).finish(
                input, check=check, timeout_s=timeout_s
            )
        except GitFailed as error:
            if not _met_a_half_made_worktree(error.stderr):
                raise
        time.sleep(_PAUSE_S)
    return Started(args, cwd, env=env, keep_fds=keep_fds).finish(input, check=check, timeout_s=timeout_s)


def _met_a_half_made_worktree(stderr: str) -> bool:
    """Git (seen in 2.39) reads all worktrees before it does anything that concerns a branch, and dies when
    one of them is being made or removed by somebody else just then. Nothing was done: once more."""
    return "failed to read" in stderr and "/worktrees/" in stderr


def show_on_terminal(args: Sequence[str], cwd: str) -> int:
    """Git for a person at a terminal: with their pager and colours; gives its exit code."""
    env = {name: value for name, value in os.environ.items() if name not in _LOCAL_NAMES}
    try:
        return subprocess.call(["git", *args], cwd=cwd, env=env)
    except OSError as error:
        raise GitFailed(args, 127, str(error)) from error


def _end(child: subprocess.Popen[bytes]) -> None:
    """Asked, git removes its lock files and ends what it started; killed, it does neither."""
    child.terminate()
    try:
        child.wait(5)
    except subprocess.TimeoutExpired:
        child.kill()
