"""The only place that starts git: clean environment, English messages, bounded time.

A hook loads this alone: what costs more to import than a small git costs to run is imported where it is used.
"""

from __future__ import annotations

import os
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    import subprocess
    from collections.abc import Mapping, Sequence

# What binds git to one repository or its state; inherited from a hook it would point us elsewhere.
LOCAL_NAMES = (
    "GIT_DIR", "GIT_WORK_TREE", "GIT_COMMON_DIR", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY",
    "GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_PREFIX", "GIT_NAMESPACE", "GIT_CONFIG",
    "GIT_CONFIG_PARAMETERS", "GIT_CONFIG_COUNT", "GIT_IMPLICIT_WORK_TREE", "GIT_GRAFT_FILE",
    "GIT_NO_REPLACE_OBJECTS", "GIT_REPLACE_REF_BASE", "GIT_SHALLOW_FILE", "GIT_INTERNAL_SUPER_PREFIX",
    "GIT_QUARANTINE_PATH", "GIT_LITERAL_PATHSPECS", "GIT_GLOB_PATHSPECS", "GIT_NOGLOB_PATHSPECS",
    "GIT_ICASE_PATHSPECS", "GIT_EXTERNAL_DIFF", "GIT_DIFF_OPTS",
)  # fmt: skip
# What a pipe takes at once on every system: git need not read while we write.
MOST_INPUT_BYTES = 4_096
_KILL = 9
_TRIES, _PAUSE_S = 20, 0.02


def unbound(environ: Mapping[str, str]) -> dict[str, str]:
    """The environment without what binds git to one repository or its state."""
    return {name: value for name, value in environ.items() if name not in LOCAL_NAMES}


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
        terminal: int | None = None,
    ) -> None:
        """`env` is added to the cleaned environment; git inherits `keep_fds`, so that a lock on one of
        them lasts as long as git does; it reads from and writes to `terminal` where one is given."""
        import subprocess

        full = _environment() | dict(env or {})
        pipe = subprocess.PIPE
        talk = pipe if terminal is None else terminal
        self._args = args
        try:
            self._child = subprocess.Popen(
                ["git", *args], cwd=cwd, env=full, stdin=talk, stdout=talk, stderr=pipe, pass_fds=keep_fds
            )
        except OSError as error:
            raise GitFailed(args, 127, str(error)) from error

    def finish(self, input: bytes | None = None, *, check: bool = True, timeout_s: float = 60) -> bytes:
        """What git prints. `check=False` accepts any exit code."""
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
        """End it if it was not needed after all. Calling it again has no effect."""
        if self._child.poll() is None:
            _end(self._child)
        for stream in (self._child.stdin, self._child.stdout, self._child.stderr):
            if stream is not None:
                stream.close()


class Live(Started):
    """A git that answers question after question until it is closed. Whoever asks reads the whole answer
    before asking again; questions must fit into a pipe, else both sides would wait for each other."""

    __slots__ = ("_ears", "_fds", "_heard")

    def __init__(self, args: Sequence[str], cwd: str, *, on_terminal: bool = False) -> None:
        """`on_terminal`: for a git that keeps its answers back as long as they go into a pipe."""
        ours, theirs = _open_terminal() if on_terminal else (-1, -1)
        try:
            super().__init__(args, cwd, terminal=theirs if on_terminal else None)
        except GitFailed:
            _close_fds(ours)
            raise
        finally:
            _close_fds(theirs)
        child = self._child
        pipes = [stream.fileno() for stream in (child.stdin, child.stdout) if stream is not None]
        self._fds = (ours, ours) if on_terminal else (pipes[0], pipes[1])
        import select

        self._heard = bytearray()
        self._ears = select.poll()
        self._ears.register(self._fds[1], select.POLLIN)

    def ask(self, question: bytes) -> None:
        rest = memoryview(question)
        try:
            while rest:
                rest = rest[os.write(self._fds[0], rest) :]
        except OSError as error:
            raise self._failed(str(error)) from error

    def take_until(self, end: bytes, *, timeout_s: float = 60) -> bytes:
        """The next part of the answer, without its end."""
        at = self._heard.find(end)
        while at < 0:
            start = max(0, len(self._heard) - len(end) + 1)
            self._hear(timeout_s)
            at = self._heard.find(end, start)
        return self.take(at + len(end))[: -len(end)]

    def take(self, size_bytes: int, *, timeout_s: float = 60) -> bytes:
        while len(self._heard) < size_bytes:
            self._hear(timeout_s)
        taken = bytes(self._heard[:size_bytes])
        del self._heard[:size_bytes]
        return taken

    def _hear(self, timeout_s: float) -> None:
        import select

        heard = self._ears.poll(timeout_s * 1_000)
        if not heard:
            raise GitFailed(self._args, 124, f"no answer after {timeout_s} s")
        if heard[0][1] & select.POLLNVAL:  # a system that cannot wait for a terminal would read for ever
            raise GitFailed(self._args, 127, "its answer cannot be waited for")
        try:
            more = os.read(self._fds[1], 1 << 16)
        except OSError as error:  # how a terminal says that nobody is there any more
            raise self._failed(str(error)) from error
        if not more:
            raise self._failed("it ended")
        self._heard += more

    def _failed(self, why: str) -> GitFailed:
        """It ended though it was still needed: with its last words."""
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
    """(our end, git's end) of a terminal that passes on every byte as it is."""
    import tty  # only who merges several times needs it

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
    import subprocess

    env = unbound(os.environ)
    try:
        return subprocess.call(["git", *args], cwd=cwd, env=env)
    except OSError as error:
        raise GitFailed(args, 127, str(error)) from error


def _end(child: subprocess.Popen[bytes]) -> None:
    """Asked, git removes its lock files and ends what it started; killed, it does neither."""
    import subprocess

    child.terminate()
    try:
        child.wait(5)
    except subprocess.TimeoutExpired:
        child.kill()


def quick_git(args: Sequence[str], cwd: str, given: bytes = b"", *, check: bool = True) -> bytes:
    """What git prints, for hooks: a small question, without the cost of `subprocess`. The hook's own time
    limit ends what hangs.

    An OSError when git ends with another exit code than 0, unless `check` is False. At most 4 KiB of input.
    """
    if len(given) > MOST_INPUT_BYTES:
        raise ValueError(f"more than {MOST_INPUT_BYTES} bytes of input")
    ear, mouth = os.pipe()
    source, sink = os.pipe()
    try:
        os.write(sink, given)
        actions = [
            (os.POSIX_SPAWN_DUP2, source, 0),
            (os.POSIX_SPAWN_DUP2, mouth, 1),
            (os.POSIX_SPAWN_OPEN, 2, os.devnull, os.O_WRONLY, 0),
        ]
        pid = os.posix_spawnp("git", ["git", "-C", cwd, *args], _environment(), file_actions=actions)
    except BaseException:
        os.close(ear)
        raise
    finally:
        for fd in (mouth, source, sink):
            os.close(fd)
    output, status = _output(pid, ear)
    if status and check:
        raise OSError(f"git {' '.join(args)} ended with status {status}")
    return output


def _output(pid: int, ear: int) -> tuple[bytes, int]:
    pieces = []
    try:
        while piece := os.read(ear, 1 << 16):
            pieces.append(piece)
    except BaseException:
        os.kill(pid, _KILL)
        raise
    finally:
        os.close(ear)
        _, status = os.waitpid(pid, 0)
    return b"".join(pieces), status


def _environment() -> dict[str, str]:
    """Ours, bound to no repository. What we do ourselves was judged before: the gate in git's hooks lets it
    pass."""
    env = unbound(os.environ)
    return env | {"LC_ALL": "C", "GIT_TERMINAL_PROMPT": "0", "LINECLEAR_GATE": "open"}
