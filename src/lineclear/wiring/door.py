"""Where the server of a repository is, for whoever wants to be quick: imports next to nothing."""

from __future__ import annotations

from lineclear.core.refusals import Refusal
from lineclear.git.layout import STATE_DIRECTORY, find_layout
from lineclear.git.run import LOCAL_NAMES
from lineclear.process.door import read_door

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from lineclear.process.door import Door


def find_door(cwd: str, environ: Mapping[str, str]) -> Door | None:
    """The door of the repository that `cwd` is in. None where there is no repository or no server, and where
    the environment points git elsewhere: only this process knows what that means."""
    if any(name in environ for name in LOCAL_NAMES):
        return None
    try:
        layout = find_layout(cwd, environ)
    except Refusal:
        return None
    return read_door(f"{layout.common_dir}/{STATE_DIRECTORY}")
