"""A sandbox for an agent, by bubblewrap: the whole disk is readable, a few places are writable.

It protects files outside those places, and other processes (it has its own process ids, so ending its first
process ends everything in it). It does not restrict the network. Linux only; elsewhere `why_unavailable` says
so.
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
# A user namespace even for root: without one, root could reach the host's files through /proc/1/root, and
# mount the disk again as writable.
_WALLS = ("--unshare-user", "--unshare-pid", "--cap-drop", "ALL")
_PROBE_TIMEOUT_S = 20.0


def why_unavailable() -> str:
    """Why no sandbox can be made here; "" if one can. We try it, since many containers and some distributions
    lack or forbid user namespaces."""
    program = shutil.which(PROGRAM)
    if program is None:
        return "bwrap is not installed; Debian and Ubuntu have it in the package bubblewrap."
    words = [program, *_WALLS, "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "true"]
    code, _, errors = capture(words, cwd="/", env=os.environ, timeout_s=_PROBE_TIMEOUT_S)
    if code == 0:
        return ""
    return errors.decode("utf-8", "replace").strip() or f"bwrap ended with {code}"


def require() -> None:
    """Refuse if no sandbox can be made here."""
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

    Writable are the worktree, the git directory that all worktrees share, the `writable` paths (refused if
    one does not exist), and a private /tmp, stored in `tmp`. The `protected` paths that exist are read-only
    even inside those. Descriptors, signals, environment and process group pass through. The command does not
    end with its parent.
    """
    places = [os.path.realpath(path) for path in writable]
    for path in places:
        if not os.path.exists(path):
            raise refuse("sandbox.path", path=path, why="it does not exist")
    binds = [("--bind", path) for path in (common_dir, *places, worktree)]
    binds += [("--ro-bind", path) for path in protected if os.path.exists(path)]
    # A private /tmp hides the real one; a repository in there must still be found.
    hidden = [("--ro-bind", path) for path in (os.path.dirname(common_dir),) if is_inside(path, "/tmp")]
    words = [PROGRAM, *_WALLS, "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc"]
    words += ["--bind", tmp, "/tmp"]
    for option, path in [*hidden, *binds]:
        words += [option, path, path]
    return [*words, "--chdir", worktree, "--", *argv]
