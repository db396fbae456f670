"""A sandbox for an agent, by Debian's bubblewrap: the whole disk can be read, a few places written.

What it keeps: files outside the named places, and other processes (it has process ids of its own, so
ending its first process ends all it ever started). What it does not: the network stays as it is.
Linux only; elsewhere `why_unavailable` says so.
"""

from __future__ import annotations

import os
import shutil
from typing import TYPE_CHECKING

from lineclear.core.words.refusals import refuse
from lineclear.core.worktrees.rules import is_inside
from lineclear.host.commands import capture

if TYPE_CHECKING:
    from collections.abc import Sequence

PROGRAM = "bwrap"
# A user namespace also for root: without it the first process outside could be reached through /proc/1/root,
# and root could mount the disk again as it likes.
_WALLS = ("--unshare-user", "--unshare-pid", "--cap-drop", "ALL")
_PROBE_TIMEOUT_S = 20.0


def why_unavailable() -> str:
    """Why no sandbox can be made here, in words; "" when one can. Tried, not guessed: many containers and
    some distributions forget or forbid user namespaces."""
    program = shutil.which(PROGRAM)
    if program is None:
        return "bwrap is not installed; Debian and Ubuntu have it in the package bubblewrap."
    words = [program, *_WALLS, "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "true"]
    code, _, errors = capture(words, cwd="/", env=os.environ, timeout_s=_PROBE_TIMEOUT_S)
    if code == 0:
        return ""
    return errors.decode("utf-8", "replace").strip() or f"bwrap ended with {code}"


def require() -> None:
    """Refuse where no sandbox can be made."""
    why = why_unavailable()
    if why:
        raise refuse("sandbox.missing", reason=why)


def wrap(
    argv: Sequence[str],
    *,
    worktree: str,
    common_dir: str,
    tmp: str,
    writable: Sequence[str] = (),
    protected: Sequence[str] = (),
) -> list[str]:
    """The command line that runs `argv` in the sandbox, with the worktree as its directory.

    Writable are the worktree, the git directory that all worktrees share, what `writable` names (refused
    where it is not there), and a /tmp of its own, kept in `tmp`. What `protected` names is read-only even
    inside those; what is not there is passed over. Descriptors, signals, environment and the process group
    pass through; it does not end with its parent.
    """
    places = [os.path.realpath(path) for path in writable]
    for path in places:
        if not os.path.exists(path):
            raise refuse("sandbox.path", path=path, why="it does not exist")
    binds = [("--bind", path) for path in (common_dir, *places, worktree)]
    binds += [("--ro-bind", path) for path in protected if os.path.exists(path)]
    # A private /tmp hides what lies in the real one; the repository itself must still be found.
    hidden = [("--ro-bind", path) for path in (os.path.dirname(common_dir),) if is_inside(path, "/tmp")]
    words = [PROGRAM, *_WALLS, "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc"]
    words += ["--bind", tmp, "/tmp"]
    for option, path in [*hidden, *binds]:
        words += [option, path, path]
    return [*words, "--chdir", worktree, "--", *argv]
