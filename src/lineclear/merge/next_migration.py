"""The name of the next migration in a folder, as the folder's own tool would choose it.

By number (Django, Flyway, golang-migrate, plain SQL), by time (Rails, Knex, Prisma), or by parent (Alembic,
whose names are random and need no reservation).
"""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass

from lineclear.code.migrations import ALEMBIC_ID, ALEMBIC_PARENT, number_of

NUMBER, TIME, PARENT = "number", "time", "parent"
# Year, month, day, hour, minute, second.
_TIME_DIGITS = 14


@dataclass(frozen=True, slots=True)
class Next:
    """`start` and `end` are the beginning and the end of its name; `parent` is the migration that it follows,
    if its text has to name it."""

    how: str
    start: str
    end: str
    _: KW_ONLY
    number: int = 0
    parent: str = ""


def next_migration(files: dict[str, str], at: str, *, least: int = 0) -> Next:
    """The next name. `files`: name -> text of the migrations in the folder, on every branch that counts.
    `at`: the time now, in 14 digits. `least`: the lowest number to use."""
    if any(ALEMBIC_ID.search(text) for text in files.values()):
        return Next(PARENT, "", ".py", parent=_alembic_head(files))
    numbered = [(part[1], name, part) for name in files for part in [number_of(name)] if part is not None]
    if not numbered:
        return Next(NUMBER, f"{max(1, least):04d}_", ".sql", number=max(1, least))
    highest, name, (letter, _, digits, rest) = max(numbered)
    number = max(highest + 1, least)
    if len(digits) >= _TIME_DIGITS:
        number = max(number, int(at))
    start = f"{letter}{number:0{len(digits)}d}{_separator(rest)}"
    how = TIME if len(digits) >= _TIME_DIGITS else NUMBER
    parent = name.removesuffix(".py") if "migrations.Migration" in files[name] else ""
    return Next(how, start, _ending(rest), number=number, parent=parent)


def _separator(rest: str) -> str:
    return rest[: len(rest) - len(rest.lstrip("_-"))] or "_"


def _ending(rest: str) -> str:
    """The ending of the name; `.up.sql` and `.down.sql` come in pairs, and the first stands for both."""
    slug = rest.lstrip("_-")
    if "." not in slug:
        return ""  # a folder, as Prisma has them
    ending = slug[slug.index(".") :]
    return ".up.sql" if ending == ".down.sql" else ending


def _alembic_head(files: dict[str, str]) -> str:
    """The one revision that no other follows; "" if there are several, which have to be merged first."""
    own, parents = set(), set()
    for text in files.values():
        name, parent = ALEMBIC_ID.search(text), ALEMBIC_PARENT.search(text)
        if name is not None:
            own.add(name[1])
        if parent is not None:
            parents.add(parent[3])
    heads = own - parents
    return heads.pop() if len(heads) == 1 else ""
