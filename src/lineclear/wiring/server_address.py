"""Where the server of a repository is, for a command that cannot write to the store by itself."""

from __future__ import annotations

import errno
import os
from typing import TYPE_CHECKING

from lineclear.git.run import LOCAL_NAMES
from lineclear.host.server_address import read_address
from lineclear.wiring.repo import state_directory_at

if TYPE_CHECKING:
    from collections.abc import Mapping

    from lineclear.host.server_address import ServerAddress

_FORBIDDEN = (errno.EACCES, errno.EPERM, errno.EROFS)


def find_needed_door(cwd: str, environ: Mapping[str, str]) -> ServerAddress | None:
    """The door of the repository's server, where the store cannot be written from here (in a sandbox).

    None where it can, or no server is known; and where the environment points git elsewhere, since only this
    process knows what that means.
    """
    if any(name in environ for name in LOCAL_NAMES):
        return None
    directory = state_directory_at(cwd, environ)
    return None if not directory or is_writable(directory) else read_address(directory)


def is_writable(state_directory: str) -> bool:
    """Tried, not guessed: some sandboxes refuse only the write itself. True where there is no store."""
    from lineclear.store.sqlite.engine import LOCK

    # SQLite's gate; a clone that uses a team's store has its own name in a file.
    for name in (LOCK, "clone"):
        try:
            os.close(os.open(f"{state_directory}/{name}", os.O_RDWR | os.O_CLOEXEC))
        except FileNotFoundError:
            continue
        except OSError as error:
            return error.errno not in _FORBIDDEN
        return True
    return True
