"""`git status --porcelain=v2 --branch -z` as rows that can be replaced path by path. No I/O."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection

# In the order in which git prints them, with the number of fields before the path.
CHANGED, UNMERGED, UNTRACKED = 0, 1, 2
_SORTS = {b"1 ": (CHANGED, 8), b"u ": (UNMERGED, 10), b"? ": (UNTRACKED, 1)}


class Rows:
    """What git said: `head` about the branch, `rows` (sort, path) -> row, and `ignored`, those directories
    that a rule leaves out, without the slash at their end."""

    __slots__ = ("head", "ignored", "rows")

    def __init__(self, output: bytes) -> None:
        """Raises ValueError for rows that nobody asked for, such as renames."""
        self.head: list[bytes] = []
        self.rows: dict[tuple[int, bytes], bytes] = {}
        self.ignored: set[bytes] = set()
        for row in output.split(b"\0"):
            sort = row[:2]
            if sort in _SORTS:
                place, fields = _SORTS[sort]
                self.rows[place, row.split(b" ", fields)[fields]] = row
            elif sort == b"# ":
                self.head.append(row)
            elif sort == b"! ":
                if row.endswith(b"/"):
                    self.ignored.add(row[2:-1])
            elif row:
                raise ValueError(f"git status said {row!r}")

    def replace(self, places: Collection[bytes], fresh: Rows) -> None:
        """At these paths, and below them, it is now as git said when it was asked for them alone."""
        gone = [key for key in self.rows if is_below(key[1].rstrip(b"/"), places)]
        for key in gone:
            del self.rows[key]
        self.rows.update(fresh.rows)
        self.head = fresh.head

    def output(self) -> bytes:
        """As git prints it."""
        rows = [self.rows[key] for key in sorted(self.rows)]
        return b"".join(row + b"\0" for row in (*self.head, *rows))


def is_below(path: bytes, places: Collection[bytes]) -> bool:
    """Is it one of them, or in one of them?"""
    while path not in places:
        path, slash, _ = path.rpartition(b"/")
        if not slash:
            return False
    return True


def outermost(paths: Collection[bytes]) -> list[bytes]:
    """Without those that lie below another."""
    return sorted(path for path in paths if not is_below(path.rpartition(b"/")[0], paths))
