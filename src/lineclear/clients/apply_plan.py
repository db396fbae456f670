"""The only place that writes a client's files: a plan in, files changed, each whole or not at all."""

from __future__ import annotations

import os

from lineclear.app.setup.plan import Change, Move

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

_PROGRAM_MODE = 0o755


class Moved(Exception):
    """A file is no longer what the plan was made from; nothing was changed in it."""

    def __init__(self, path: str) -> None:
        super().__init__(path)
        self.path = path


def read(path: str) -> bytes | None:
    """What the file holds; None when there is none."""
    try:
        with open(path, "rb") as file:
            return file.read()
    except (FileNotFoundError, NotADirectoryError):
        return None


def missing_directories(paths: Iterable[str]) -> list[str]:
    """The directories that have to be made for these files, outermost first."""
    found: set[str] = set()
    for path in paths:
        place = os.path.dirname(path)
        while place and place not in found and not os.path.isdir(place):
            found.add(place)
            place = os.path.dirname(place)
    return sorted(found, key=len)


def apply(changes: Sequence[Change | Move], write: Callable[[str, bytes], None]) -> None:
    """`write` replaces a file as a whole. Whatever differs from the plan's picture stops it before."""
    moved_away = {change.path for change in changes if isinstance(change, Move)}
    for change in changes:
        if (
            isinstance(change, Change)
            and change.path not in moved_away
            and read(change.path) != change.before
        ):
            raise Moved(change.path)
    for change in changes:
        if isinstance(change, Move):
            os.rename(change.path, change.to)
        elif change.after is None:
            os.unlink(change.path)
        else:
            _put(change, change.after, write)


def _put(change: Change, data: bytes, write: Callable[[str, bytes], None]) -> None:
    os.makedirs(os.path.dirname(change.path), exist_ok=True)
    # Whoever keeps settings elsewhere and links to them goes on doing so.
    write(os.path.realpath(change.path) if os.path.islink(change.path) else change.path, data)
    if change.is_program:
        os.chmod(change.path, _PROGRAM_MODE)


def remove_directories(paths: Iterable[str]) -> None:
    """Those that we made, innermost first, if nothing is left in them."""
    for path in sorted(paths, key=len, reverse=True):
        try:
            os.rmdir(path)
        except OSError:
            pass
