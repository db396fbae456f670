"""Migrations: which files they are, and which number, revision and parent they have."""

from __future__ import annotations

import re
from itertools import pairwise

_FOLDER = re.compile(
    r"(?:^|/)(?:migrations?|migrate|versions|alembic|db/migrations?|sql|flyway)(?:/|$)", re.I
)
_NUMBERED = re.compile(r"(V|U)?(\d{1,17})(__|_|-)(.+)")
_FLYWAY = re.compile(r"[VU](\d{1,17}(?:[._]\d{1,17})*)__(.+)\.\w+")
_DJANGO_PARENTS = re.compile(r"dependencies\s*=\s*\[([^\[\]]*)\]")
ALEMBIC_ID = re.compile(r"""^revision(?:\s*:\s*str)?\s*=\s*["']([\w-]+)["']""", re.M)
ALEMBIC_PARENT = re.compile(r"""^(down_revision(?:\s*:\s*[^=\n]+)?\s*=\s*)(["'])([\w-]+)\2""", re.M)
PRISMA = re.compile(r"((?:.*/)?prisma/migrations/)(\d{14})(_[^/]+/migration\.sql)")
CHANGES = re.compile(
    r"(?:.*/)?[^/]*(?:change|liquibase|migration)[^/]*(?:/.*)?\.(?:xml|ya?ml|json|sql)", re.I
)
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


def migration_marks(path: str, text: str) -> list[tuple[str, str]]:
    """(name, migration): the number or revision that a migration has, and the one that it follows. Two
    migrations may not share either."""
    prisma = PRISMA.fullmatch(path)
    if prisma:
        return [(f"{prisma[1].rstrip('/')} {int(prisma[2])}", prisma[3].partition("/")[0].strip("_"))]
    if not is_migration(path):
        return []
    folder, _, name = path.rpartition("/")
    revision = ALEMBIC_ID.search(text)
    if revision:
        parent = ALEMBIC_PARENT.search(text)
        after = [(f"{folder} after {parent[3]}", revision[1])] if parent else []
        return [(f"{folder} {revision[1]}", name), *after]
    flyway = _FLYWAY.fullmatch(name)
    if flyway:
        return [(f"{folder} {flyway[1].replace('_', '.')}", flyway[2])]
    part = number_of(path)
    if part is None:
        return []
    stem = re.sub(r"(?:\.(?:up|down))?\.\w+$", "", name)
    marks = [(f"{folder} {part[1]}", stem)]
    if "migrations.Migration" in text:
        app = folder.rpartition("/")[0].rpartition("/")[2]
        marks += [(f"{folder} after {parent}", stem) for parent in django_parents(app, text)]
    return marks


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
