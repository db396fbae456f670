"""New migrations on both sides with the same number or the same parent: the right side's come later.

They get the next free numbers and follow the left side's last migration, with references rewritten. If the
texts do not clearly say which one follows which, nothing is changed and the doubt is reported.
"""

from __future__ import annotations

import re

from lineclear.code.migrations import (
    ALEMBIC_ID,
    ALEMBIC_PARENT,
    PRISMA,
    django_parents,
    number_of,
)


class MigrationMoves:
    """`changed`: old path -> (new path, new text)."""

    def __init__(
        self,
        changed: dict[str, tuple[str, str]] | None = None,
        commands: list[str] | None = None,
        doubts: list[tuple[list[str], str]] | None = None,
    ) -> None:
        self.changed = changed or {}
        self.commands = commands or []
        self.doubts = doubts or []


def renumber(left: dict[str, str], right: dict[str, str], paths: set[str]) -> MigrationMoves:
    moves = MigrationMoves()
    prisma = {path: text for path, text in right.items() if PRISMA.fullmatch(path)}
    if prisma:
        _prisma({path: text for path, text in left.items() if PRISMA.fullmatch(path)}, prisma, moves)
    for folder in sorted({path.rpartition("/")[0] for path in right if path not in prisma}):
        ours = {path: text for path, text in left.items() if path.rpartition("/")[0] == folder}
        theirs = {path: text for path, text in right.items() if path.rpartition("/")[0] == folder}
        if not ours:
            continue
        if any(ALEMBIC_ID.search(text) for text in theirs.values()):
            _alembic(ours, theirs, moves)
        elif any("migrations.Migration" in text for text in theirs.values()):
            _django(folder, ours, theirs, paths, moves)
        else:
            _numbered(ours, theirs, paths, moves)
    return moves


# -- by number: Rails, Flyway, golang-migrate, Knex, plain SQL --------------------------------------


def _taken(paths: set[str], folder: str) -> set[int]:
    parts = (number_of(path) for path in paths if path.rpartition("/")[0] == folder)
    return {part[1] for part in parts if part is not None}


def _numbered(ours: dict[str, str], theirs: dict[str, str], paths: set[str], moves: MigrationMoves) -> None:
    """Move up the right side's numbers, in order, from the first one that collides."""
    folder = next(iter(theirs)).rpartition("/")[0]
    used = _taken(set(ours), folder)
    mine = sorted({part[1] for part in map(number_of, theirs) if part is not None})
    if not used & set(mine):
        return
    free = max(used | _taken(paths - set(theirs), folder)) + 1
    first = min(used & set(mine))
    new_numbers: dict[int, int] = {}
    for number in mine:
        if number >= first:
            new_numbers[number] = free
            free += 1
    for path, text in sorted(theirs.items()):
        part = number_of(path)
        if part is not None and part[1] in new_numbers:
            letter, number, digits, rest = part
            name = f"{letter}{new_numbers[number]:0{len(digits)}d}{rest}"
            moves.changed[path] = (f"{folder}/{name}", text)
    if any(path.endswith(".rb") for path in theirs):
        moves.commands.append("bin/rails db:migrate")


# -- by parent: Alembic ----------------------------------------------------------------------------


def _alembic(ours: dict[str, str], theirs: dict[str, str], moves: MigrationMoves) -> None:
    """Make the last migration of the left side the parent of the first one of the right side."""
    chains = []
    for side in (ours, theirs):
        links = {}
        for path, text in side.items():
            own, parent = ALEMBIC_ID.search(text), ALEMBIC_PARENT.search(text)
            if own is None or parent is None:
                moves.doubts.append(
                    ([path], "a revision without one plain parent: run `alembic merge heads`")
                )
                return
            links[own[1]] = (parent[3], path)
        chains.append(links)
    left, right = chains
    roots = [(name, *link) for name, link in right.items() if link[0] not in right]
    heads = [name for name in left if name not in {parent for parent, _ in left.values()}]
    starts = {parent for parent, _ in left.values() if parent not in left}
    if len(roots) != 1 or len(heads) != 1 or roots[0][1] not in starts:
        if {root[1] for root in roots} & starts:
            paths = sorted([*ours, *theirs])
            moves.doubts.append((paths, "more than two heads from one parent: run `alembic merge heads`"))
        return
    path = roots[0][2]
    text = ALEMBIC_PARENT.sub(rf"\g<1>\g<2>{heads[0]}\g<2>", theirs[path], count=1)
    text = re.sub(
        rf"^(Revises:\s*){re.escape(roots[0][1])}\s*$", rf"\g<1>{heads[0]}", text, count=1, flags=re.M
    )
    moves.changed[path] = (path, text)
    moves.commands.append("alembic upgrade head")


# -- by time: Prisma ---------------------------------------------------------------------------------


def _prisma(ours: dict[str, str], theirs: dict[str, str], moves: MigrationMoves) -> None:
    """Each migration is a folder named by its time. One that is older than the left side's last gets a later
    time: Prisma takes migrations that run out of order for a lost history."""
    last = max((found[2] for found in map(PRISMA.fullmatch, ours) if found), default="")
    rows = [(found, path) for path in sorted(theirs) for found in [PRISMA.fullmatch(path)] if found]
    late = [(found, path) for found, path in rows if found[2] <= last]
    taken = {found[2] for found, path in rows}
    time = int(last or 0)
    for found, path in late:
        time += 1
        while f"{time:014d}" in taken:
            time += 1
        moves.changed[path] = (f"{found[1]}{time:014d}{found[3]}", theirs[path])
    if late:
        moves.commands.append("npx prisma migrate dev")


# -- by number and parent: Django --------------------------------------------------------------------


def _django(
    folder: str, ours: dict[str, str], theirs: dict[str, str], paths: set[str], moves: MigrationMoves
) -> None:
    app = folder.rpartition("/")[0].rpartition("/")[2]
    left, right = _django_links(app, ours), _django_links(app, theirs)
    if left is None or right is None:
        moves.doubts.append((sorted([*ours, *theirs]), "run `python manage.py makemigrations --merge`"))
        return
    shared = {parent for parent in right.values() if parent not in right} & {
        parent for parent in left.values() if parent not in left
    }
    if not shared:
        return
    heads = [name for name in left if name not in left.values()]
    roots = [name for name, parent in right.items() if parent not in right]
    if len(heads) != 1 or len(roots) != 1:
        moves.doubts.append((sorted([*ours, *theirs]), "run `python manage.py makemigrations --merge`"))
        return
    names = _django_names(folder, right, roots[0], set(ours) | (paths - set(theirs)))
    names[right[roots[0]]] = heads[0]
    for path, text in theirs.items():
        old = path.rpartition("/")[2].removesuffix(".py")
        moves.changed[path] = (f"{folder}/{names.get(old, old)}.py", _django_rewrite(app, text, names))
    moves.commands.append("python manage.py migrate")


def _django_links(app: str, side: dict[str, str]) -> dict[str, str] | None:
    """Migration -> its one parent in the same app; None if one has several or none."""
    links = {}
    for path, text in side.items():
        parents = django_parents(app, text)
        if len(parents) != 1:
            return None
        links[path.rpartition("/")[2].removesuffix(".py")] = parents[0]
    return links


def _django_names(folder: str, links: dict[str, str], root: str, taken: set[str]) -> dict[str, str]:
    """Old name -> new name along the chain, with the numbers after the highest one that is taken."""
    numbers = _taken(taken, folder)
    free = max(numbers, default=0) + 1
    names: dict[str, str] = {}
    name: str | None = root
    while name is not None:
        found = re.fullmatch(r"(\d+)(_.*)", name)
        if found:
            names[name] = f"{free:0{len(found[1])}d}{found[2]}"
            free += 1
        name = next((child for child, parent in links.items() if parent == name), None)
    return names


def _django_rewrite(app: str, text: str, names: dict[str, str]) -> str:
    def new_name(found: re.Match[str]) -> str:
        return f"{found[1]}{names.get(found[2], found[2])}{found[3]}"

    return re.sub(rf"""(\(\s*["']{re.escape(app)}["']\s*,\s*["'])([\w-]+)(["'])""", new_name, text)
