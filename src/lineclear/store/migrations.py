"""Schema migrations: numbered SQL files, applied only forward, each recorded with its checksum."""

from __future__ import annotations

from lineclear.core.words.refusals import refuse

TYPE_CHECKING = False
if TYPE_CHECKING:
    from importlib.resources.abc import Traversable


class Migration:
    __slots__ = ("checksum", "name", "number", "sql")

    def __init__(self, number: int, name: str, sql: str, checksum: str) -> None:
        self.number, self.name, self.sql, self.checksum = number, name, sql, checksum


def read_migrations(folder: Traversable) -> list[Migration]:
    """All migrations in order. A gap or a repeated number is a broken build, not a user's mistake."""
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


def check_schema(found: int, path: str, *, known: int) -> None:
    """Refuse a store whose schema is not the one that this program knows."""
    if found > known:
        raise refuse("store.newer", path=path, found=found, known=known)
    if found < known:
        raise refuse("store.older", path=path, found=found, needed=known)
