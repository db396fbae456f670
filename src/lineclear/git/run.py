"""The only place that starts git: with a clean environment, English messages and a time limit.

Git runs programs that its settings name. We start it to read or to move something, so those that only help a
person at a terminal are off: file system monitor, pager, editor. Filters stay: without them Git LFS would not
work. In a worktree, also say `--ignore-submodules=dirty` where git would otherwise start itself in a nested
repository: its settings and filters are an agent's. `NO_HOOKS` is for where an agent's files are checked out.

Hooks load this module, so costly imports stand in the functions that need them.
"""

from __future__ import annotations

import os
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable, Mapping, Sequence

# Variables that bind git to one repository or its state: inherited from a hook, they would misdirect us.
LOCAL_NAMES = (
    "GIT_DIR", "GIT_WORK_TREE", "GIT_COMMON_DIR", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY",
    "GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_PREFIX", "GIT_NAMESPACE", "GIT_CONFIG",
    "GIT_CONFIG_PARAMETERS", "GIT_CONFIG_COUNT", "GIT_IMPLICIT_WORK_TREE", "GIT_GRAFT_FILE",
    "GIT_NO_REPLACE_OBJECTS", "GIT_REPLACE_REF_BASE", "GIT_SHALLOW_FILE", "GIT_INTERNAL_SUPER_PREFIX",
    "GIT_QUARANTINE_PATH", "GIT_LITERAL_PATHSPECS", "GIT_GLOB_PATHSPECS", "GIT_NOGLOB_PATHSPECS",
    "GIT_ICASE_PATHSPECS", "GIT_EXTERNAL_DIFF", "GIT_DIFF_OPTS",
)  # fmt: skip
# Hooks may lie in the worktree (`core.hooksPath = .husky`), where an agent can write them.
NO_HOOKS = ("-c", "core.hooksPath=/dev/null")
# Git passes these on to the gits that it starts itself, also in submodules.
_OFF = {
    "GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "core.fsmonitor", "GIT_CONFIG_VALUE_0": "false",
}  # fmt: skip
_UNATTENDED = {
    "LC_ALL": "C", "GIT_TERMINAL_PROMPT": "0", "GIT_PAGER": "cat", "GIT_EDITOR": "true",
    "GIT_SEQUENCE_EDITOR": "true", **_OFF,
}  # fmt: skip
# A pipe takes this much on every system, even before git reads.
MOST_INPUT_BYTES = 4_096
_KILL = 9
_TRIES, _PAUSE_S = 20, 0.02


def unbound(environ: Mapping[str, str]) -> dict[str, str]:
    """The environment without the variables that bind git to one repository or its state."""
    return {name: value for name, value in environ.items() if name not in LOCAL_NAMES}


class GitFailed(Exception):
    """Git failed, took too long (exit code 124) or could not be started (127)."""

    def __init__(self, args: Sequence[str], exit_code: int, stderr: str) -> None:
        super().__init__(f"git {' '.join(args)}: exit code {exit_code}: {stderr.strip()}")
        self.command, self.exit_code, self.stderr = tuple(args), exit_code, stderr


class Started:
    """A git process that waits for its input, so that several can start up at the same time."""

    __slots__ = ("_args", "_child")

    def __init__(
        self,
        args: Sequence[str],
        cwd: str,
        *,
        env: Mapping[str, str] | None = None,
        keep_fds: Sequence[int] = (),
        terminal: int | None = None,
        within: Callable[[list[str]], list[str]] | None = None,
    ) -> None:
        """`env` is added to the cleaned environment. Git inherits `keep_fds`, so that a lock on one of them
        lasts as long as git does. With `terminal`, git reads from and writes to that descriptor. `within`
        turns the command line into one that runs in a sandbox."""
        import subprocess

        full = _environment() | dict(env or {})
        pipe = subprocess.PIPE
        talk = pipe if terminal is None else terminal
        self._args = args
        try:
            words = ["git", *args] if within is None else within(["git", *args])
            self._child = subprocess.Popen(
                words, cwd=cwd, env=full, stdin=talk, stdout=talk, stderr=pipe, pass_fds=keep_fds
            )
        except OSError as error:
            raise GitFailed(args, 127, str(error)) from error

    def finish(self, input: bytes | None = None, *, check: bool = True, timeout_s: float = 60) -> bytes:
        """Return git's output. `check=False` accepts any exit code."""
        import subprocess

        with self._child as child:
            try:
                output, errors = child.communicate(input or b"", timeout_s)
            except subprocess.TimeoutExpired as error:
                _end(child)
                raise GitFailed(self._args, 124, f"not finished after {timeout_s} s") from error
        if check and child.returncode != 0:
            raise GitFailed(self._args, child.returncode, errors.decode("utf-8", "replace"))
        return output

    def close(self) -> None:
        """End the process if it still runs. Calling it again has no effect."""
        if self._child.poll() is None:
            _end(self._child)
        for stream in (self._child.stdin, self._child.stdout, self._child.stderr):
            if stream is not None:
                stream.close()


class LiveGit(Started):
    """A git process that answers questions until it is closed. Read the whole answer before asking again. A
    question must fit into a pipe: otherwise both sides would wait for each other."""

    __slots__ = ("_fds", "_poll", "_received")

    def __init__(
        self,
        args: Sequence[str],
        cwd: str,
        *,
        on_terminal: bool = False,
        env: Mapping[str, str] | None = None,
    ) -> None:
        """`on_terminal`: for a git command that buffers its answers when they go into a pipe. `env` is as for
        `Started`."""
        ours, theirs = _open_terminal() if on_terminal else (-1, -1)
        try:
            super().__init__(args, cwd, terminal=theirs if on_terminal else None, env=env)
        except GitFailed:
            _close_fds(ours)
            raise
        finally:
            _close_fds(theirs)
        child = self._child
        pipes = [stream.fileno() for stream in (child.stdin, child.stdout) if stream is not None]
        self._fds = (ours, ours) if on_terminal else (pipes[0], pipes[1])
        import select

        self._received = bytearray()
        self._poll = select.poll()
        self._poll.register(self._fds[1], select.POLLIN)

    def ask(self, question: bytes) -> None:
        rest = memoryview(question)
        try:
            while rest:
                rest = rest[os.write(self._fds[0], rest) :]
        except OSError as error:
            raise self._failed(str(error)) from error

    def take_until(self, end: bytes, *, timeout_s: float = 60) -> bytes:
        """Return the answer up to `end`, without `end`."""
        at = self._received.find(end)
        while at < 0:
            start = max(0, len(self._received) - len(end) + 1)
            self._receive(timeout_s)
            at = self._received.find(end, start)
        return self.take(at + len(end))[: -len(end)]

    def take(self, size_bytes: int, *, timeout_s: float = 60) -> bytes:
        while len(self._received) < size_bytes:
            self._receive(timeout_s)
        taken = bytes(self._received[:size_bytes])
        del self._received[:size_bytes]
        return taken

    def _receive(self, timeout_s: float) -> None:
        import select

        ready = self._poll.poll(timeout_s * 1_000)
        if not ready:
            raise GitFailed(self._args, 124, f"no answer after {timeout_s} s")
        if ready[0][1] & select.POLLNVAL:  # this system cannot poll a terminal: reading could block for ever
            raise GitFailed(self._args, 127, "cannot wait for its answer")
        try:
            more = os.read(self._fds[1], 1 << 16)
        except OSError as error:  # a terminal reports that its other end is closed
            raise self._failed(str(error)) from error
        if not more:
            raise self._failed("it ended")
        self._received += more

    def _failed(self, why: str) -> GitFailed:
        """The error for a git that ended too early, with its last words."""
        if self._child.poll() is None:
            _end(self._child)
        stream = self._child.stderr
        words = stream.read().decode("utf-8", "replace") if stream is not None and not stream.closed else ""
        return GitFailed(self._args, self._child.wait(), words or why)

    def close(self) -> None:
        super().close()
        if self._child.stdout is None:
            _close_fds(self._fds[0])
        self._fds = (-1, -1)


def _open_terminal() -> tuple[int, int]:
    """(our end, git's end) of a raw terminal, which passes on every byte unchanged."""
    import tty

    try:
        ours, theirs = os.openpty()
    except OSError as error:
        raise GitFailed(["--no-pager"], 127, f"no terminal: {error}") from error
    tty.setraw(theirs)
    return ours, theirs


def _close_fds(*fds: int) -> None:
    for fd in fds:
        if fd >= 0:
            os.close(fd)


def git(
    args: Sequence[str],
    cwd: str,
    *,
    input: bytes | None = None,
    check: bool = True,
    timeout_s: float = 60,
    env: Mapping[str, str] | None = None,
    keep_fds: Sequence[int] = (),
    within: Callable[[list[str]], list[str]] | None = None,
) -> bytes:
    """Run git and return its output. `env` is added to the cleaned environment; `check=False` accepts any
    exit code; git inherits `keep_fds`; `within` is as for `Started`."""

    def run() -> bytes:
        started = Started(args, cwd, env=env, keep_fds=keep_fds, within=within)
        return started.finish(input, check=check, timeout_s=timeout_s)

    for _ in range(_TRIES):
        try:
            return run()
        except GitFailed as error:
            if not _met_a_half_made_worktree(error.stderr):
                raise
        time.sleep(_PAUSE_S)
    return run()


def _met_a_half_made_worktree(stderr: str) -> bool:
    """Git (2.39) reads all worktrees before it touches a branch, and dies if another process is just making
    or removing one of them. Nothing was done, so the caller tries again."""
    return "failed to read" in stderr and "/worktrees/" in stderr


def show_on_terminal(args: Sequence[str], cwd: str) -> int:
    """Run git for a person, with their pager and colours, and return its exit code."""
    import subprocess

    env = unbound(os.environ) | _OFF
    try:
        return subprocess.call(["git", *args], cwd=cwd, env=env)
    except OSError as error:
        raise GitFailed(args, 127, str(error)) from error


def _end(child: subprocess.Popen[bytes]) -> None:
    """On SIGTERM git removes its lock files and ends its children; killed, it does neither."""
    import subprocess

    child.terminate()
    try:
        child.wait(5)
    except subprocess.TimeoutExpired:
        child.kill()


def quick_git(args: Sequence[str], cwd: str, given: bytes = b"", *, check: bool = True) -> bytes:
    """Run git and return its output, without the cost of importing `subprocess`: for hooks.

    Takes at most 4 KiB of input. Raises OSError if git fails, unless `check` is False. Has no time limit: the
    hook's own one applies.
    """
    if len(given) > MOST_INPUT_BYTES:
        raise ValueError(f"more than {MOST_INPUT_BYTES} bytes of input")
    output_end, git_output = os.pipe()
    git_input, input_end = os.pipe()
    try:
        os.write(input_end, given)
        actions = [
            (os.POSIX_SPAWN_DUP2, git_input, 0),
            (os.POSIX_SPAWN_DUP2, git_output, 1),
            (os.POSIX_SPAWN_OPEN, 2, os.devnull, os.O_WRONLY, 0),
        ]
        pid = os.posix_spawnp("git", ["git", "-C", cwd, *args], _environment(), file_actions=actions)
    except BaseException:
        os.close(output_end)
        raise
    finally:
        for fd in (git_output, git_input, input_end):
            os.close(fd)
    output, status = _output(pid, output_end)
    if status and check:
        raise OSError(f"git {' '.join(args)} ended with status {status}")
    return output


def _output(pid: int, fd: int) -> tuple[bytes, int]:
    pieces = []
    try:
        while piece := os.read(fd, 1 << 16):
            pieces.append(piece)
    except BaseException:
        os.kill(pid, _KILL)
        raise
    finally:
        os.close(fd)
        _, status = os.waitpid(pid, 0)
    return b"".join(pieces), status


def _environment() -> dict[str, str]:
    """Our environment, bound to no repository. The gate in git's hooks stays open: our own commits and pushes
    were judged before."""
    return unbound(os.environ) | _UNATTENDED | {"LINECLEAR_GATE": "open"}
