"""Migrations: which files they are, and which number, revision and parent they have."""

from __future__ import annotations

import re
from itertools import pairwise

_FOLDER = re.compile(
    r"(?:^|/)(?:migrations?|migrate|versions|alembic|db/migrations?|sql|flyway)(?:/|$)", re.I
)
_NUMBERED = re.compile(r"(V|U)?(\d{1,17})(__|_|-)(.+)")
_DJANGO_PARENTS = re.compile(r"dependencies\s*=\s*\[([^\[\]]*)\]")
ALEMBIC_ID = re.compile(r"""^revision(?:\s*:\s*str)?\s*=\s*["']([\w-]+)["']""", re.M)
ALEMBIC_PARENT = re.compile(r"""^(down_revision(?:\s*:\s*[^=\n]+)?\s*=\s*)(["'])([\w-]+)\2""", re.M)
PRISMA = re.compile(r"((?:.*/)?prisma/migrations/)(\d{14})(_[^/]+/migration\.sql)")
_CHANGE_SET = re.compile(r"<changeSet\b|\bchangeSet[\"']?\s*:|^--\s*changeset\s", re.M)


def is_migration(path: str) -> bool:
    folder, _, name = path.rpartition("/")
    return bool(_FOLDER.search(folder) and re.search(r"\.(?:py|rb|sql|js|ts|xml|ya?ml|java|kt)$", name)) and (
        not name.startswith("__")
    )


def number_of(path: str) -> tuple[str, int, str, str] | None:
    """(letter, number, its digits, the rest of the name); None if the name has no number."""
    found = _NUMBERED.fullmatch(path.rpartition("/")[2])
    return (found[1] or "", int(found[2]), found[2], found[3] + found[4]) if found else None


def django_parents(app: str, text: str) -> list[str]:
    """The migrations of the same app that a Django migration follows."""
    found = _DJANGO_PARENTS.search(text)
    pattern = rf"""\(\s*["']{re.escape(app)}["']\s*,\s*["']([\w-]+)["']"""
    return re.findall(pattern, found[1]) if found else []


def change_sets(text: str) -> dict[str, str]:
    """Liquibase: id and author of each change set in a file -> its text up to the next one."""
    starts = [found.start() for found in _CHANGE_SET.finditer(text)]
    found: dict[str, str] = {}
    for start, end in pairwise([*starts, len(text)]):
        body = text[start:end]
        plain = re.match(r"--\s*changeset\s+([\w.@-]+):([\w.-]+)", body)
        author, number = (plain[1], plain[2]) if plain else (_value("author", body), _value("id", body))
        if author and number:
            found[f"change set {number} of {author}"] = " ".join(body.split())
    return found


def _value(key: str, body: str) -> str:
    found = re.search(rf"""\b{key}["']?\s*[=:]\s*["']?([\w.@-]+)""", body[:400])
    return found[1] if found else ""
