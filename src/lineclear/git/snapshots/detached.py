"""The process that a hook starts for a snapshot and the radar, and does not wait for. Like any other process
it may be killed at any instant. Every call that changed something pays for what this module imports.
"""

from __future__ import annotations

import sys

from lineclear.git.snapshots.marks import take_mark
from lineclear.host import spawning

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

# What the stub says about one call concerns no other process.
_OF_ONE_CALL = ("LINECLEAR_CALL",)


def start_snapshot(mark: str, every_ms: int, environ: Mapping[str, str], *, agent: str, path: str) -> bool:
    """Start a snapshot of the worktree at `path` if its mark is older than `every_ms`. True if this call
    started it: of many hooks at one instant only one does."""
    if not take_mark(mark, every_ms):
        return False
    variables = {name: value for name, value in environ.items() if name not in _OF_ONE_CALL}
    # `-P`: Python takes nothing that lies in the repository for a module of ours.
    words = ["-P", "-m", "lineclear", "-C", path, "salvage", "beside", "--as", agent]
    spawning.start_detached([sys.executable, *words], variables)
    return True
