"""Where the demonstration runs: a temporary directory, and processes that end with it."""

from __future__ import annotations

import os
import shutil
import signal
from contextlib import contextmanager
from tempfile import mkdtemp
from typing import TYPE_CHECKING

from lineclear.core.words.refusals import refuse
from lineclear.host.commands import session
from lineclear.wiring.scratch import NO_SETTINGS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

_KEPT = (
    "PATH", "LANG", "LC_ALL", "LC_CTYPE", "TMPDIR", "PYTHONPATH", "LD_LIBRARY_PATH", "TERM", "COLUMNS",
    "NO_COLOR",
)  # fmt: skip
STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
# Long enough for a supervisor to stop its agents.
PATIENCE_S = 20


def scratch_environ(environ: Mapping[str, str], directory: str) -> dict[str, str]:
    """An environment that keeps the user's settings and the demonstration apart."""
    kept = {name: environ[name] for name in _KEPT if name in environ}
    return {**kept, "HOME": directory, "PYTHONDONTWRITEBYTECODE": "1", **NO_SETTINGS}


@contextmanager
def scratch_directory(keep: str = "") -> Iterator[str]:
    """A temporary directory that is always removed; with `keep`, that directory, which stays."""
    directory = _new_directory(keep) if keep else os.path.realpath(mkdtemp(prefix="lineclear-demo-"))
    with _stop_signals_interrupt():
        try:
            yield directory
        finally:
            for number in STOP_SIGNALS:
                signal.signal(number, signal.SIG_IGN)  # do not interrupt the clean-up
            if not keep:
                shutil.rmtree(directory)


def _new_directory(path: str) -> str:
    try:
        os.makedirs(path, exist_ok=True)
        is_empty = not os.listdir(path)
    except OSError as error:
        raise refuse("input.bad", name="--keep", given=path, why=os.strerror(error.errno or 0)) from error
    if not is_empty:
        raise refuse("input.bad", name="--keep", given=path, why="it is not empty")
    return os.path.realpath(path)


@contextmanager
def _stop_signals_interrupt() -> Iterator[None]:
    """Turn every stop signal into KeyboardInterrupt, so that the clean-up runs."""

    def interrupt(_number: int, _frame: object) -> None:
        raise KeyboardInterrupt

    before = {number: signal.signal(number, interrupt) for number in STOP_SIGNALS}
    try:
        yield
    finally:
        for number, action in before.items():
            signal.signal(number, action)


def run_group(
    argv: Sequence[str], *, cwd: str, env: Mapping[str, str], stdout: int | None = None,
    stderr: int | None = None, tell: Callable[[str], None] | None = None,
) -> tuple[int, str]:  # fmt: skip
    """Run a command in its own session; return its exit code and its piped output.

    `tell` gets each line of output as it comes. If we are interrupted, all processes of the session have
    ended when this raises.
    """
    lines = []
    with session(argv, cwd=cwd, env=env, stdout=stdout, stderr=stderr, grace_s=PATIENCE_S) as child:
        for data in child.stdout or ():
            line = data.decode("utf-8", "replace")
            lines.append(line)
            if tell is not None:
                tell(line.rstrip("\n"))
        child.wait()
    return child.returncode, "".join(lines)
