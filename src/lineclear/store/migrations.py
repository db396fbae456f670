"""Schema migrations: numbered SQL files, applied forward only, each remembered with its checksum."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from importlib.resources.abc import Traversable


class Migration:
    __slots__ = ("checksum", "name", "number", "sql")

    def __init__(self, number: int, name: str, sql: str, checksum: str) -> None:
        self.number, self.name, self.sql, self.checksum = number, name, sql, checksum


def read_migrations(folder: Traversable) -> list[Migration]:
    """All of them in order; a gap or a doubled number is a broken build, not a user's mistake."""
    from hashlib import sha256

    found = []
    for entry in folder.iterdir():
        if entry.name.endswith(".sql"):
            sql = entry.read_text(encoding="utf-8")
            number = int(entry.name.partition("_")[0])
            found.append(Migration(number, entry.name, sql, sha256(sql.encode()).hexdigest()))
    found.sort(key=lambda migration: migration.number)
    if [migration.number for migration in found] != list(range(1, len(found) + 1)):
        raise RuntimeError(f"migrations are not numbered 1, 2, 3, ...: {[m.name for m in found]}")
    return found
