"""What two sides' changes do to each other. Compares change with change: a definition that one side changed
with a use that the other side wrote, or what both made. Textual conflicts are found by the merge itself.
"""

from __future__ import annotations

from posixpath import dirname
from typing import TYPE_CHECKING

from lineclear.core.radar.deltas import import_as_use, members
from lineclear.core.radar.facts import (
    BASE,
    CALL,
    CONSTANT,
    DEPENDENCY,
    FIELD,
    INTERFACE,
    LITERAL,
    METHOD,
    MIGRATION,
    TYPE,
)
from lineclear.core.radar.findings import DEPENDENCY as EXCLUDING
from lineclear.core.radar.findings import (
    LIKELY,
    POSSIBLE,
    REMOVED,
    SAME_NAME,
    SAME_SYMBOL,
    SIGNATURE,
    SURE,
    Finding,
)
from lineclear.core.radar.modules import BY_PACKAGE, Place, is_module_of
from lineclear.core.radar.ranges import exclude_each_other
from lineclear.core.radar.resolving import bare_type, imports_name, may_inherit, means, sees
from lineclear.core.radar.shapes import misfit_of, missing_fields, reordering_of, return_change, retyping_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from lineclear.core.radar.deltas import Delta, PlacedUse, Reshaped
    from lineclear.core.radar.facts import Definition, FileFacts
    from lineclear.core.radar.resolving import World

_TYPES = (TYPE, INTERFACE)
# Two functions of one name may stand side by side if their parameters differ.
_OVERLOADED = ("jvm", "c_sharp", "cpp", "c")


def compare(left: Delta, right: Delta, world: World) -> list[Finding]:
    """All findings between two sides, but textual conflicts. The order of the sides does not matter."""
    left, right = sorted((left, right), key=lambda side: side.name)
    found = [
        *_breaking(left, right, world),
        *_breaking(right, left, world),
        *_both_edited(left, right),
        *_both_made(left, right),
        *_both_registered(left, right),
    ]
    return list({finding.key: finding for finding in reversed(found)}.values())[::-1]


# -- one side changes, the other uses ---------------------------------------------------------------


def _breaking(changer: Delta, user: Delta, world: World) -> Iterator[Finding]:
    """What the changer did to definitions that the user newly uses."""
    for row in changer.reshaped:
        before = changer.files[row.path].before
        if before is None or _is_settled(row, user):
            continue
        there = Place(row.path, before)
        if row.is_gone:
            yield from _removed(row, there, changer, user, world)
        else:
            yield from _reformed(row, there, changer, user, world)
    yield from _new_members(changer, user, world)
    yield from _gone_modules(changer, user)


def _is_settled(row: Reshaped, user: Delta) -> bool:
    """Did the user's side do the same to the definition, or change it too? Then both changed one symbol."""
    return any(other.path == row.path and other.name == row.name for other in user.reshaped)


def _removed(row: Reshaped, there: Place, changer: Delta, user: Delta, world: World) -> Iterator[Finding]:
    wanted, owner = row.old[0], row.name.rpartition(".")[0]
    if owner and any(
        other.path == row.path and other.name == owner and other.is_gone for other in changer.reshaped
    ):
        return  # the whole type is gone, and reported
    if _is_made_by(user, row, there):
        return
    sure, path = "", ""
    for placed in user.imported:
        here = _place(user, placed.path)
        if not owner and here is not None and imports_name(placed.imported, here, row.bare, there):
            sure, path = SURE, placed.path
            break
    for use in () if sure else user.used.get(row.bare, ()):
        here = _place(user, use.path)
        if here is None or not use.is_new:
            continue
        sure = means(use.use, here, wanted, there, world)
        if sure:
            path = use.path
            break
    if not sure:
        return
    if owner and may_inherit(owner, row.bare, there, world):
        sure = POSSIBLE
    detail = ""
    if row.moved_to:
        detail = f"moved to {row.moved_to}"
    elif row.renamed_to:
        detail = f"renamed to {row.renamed_to}"
    yield Finding(
        kind=REMOVED,
        agents=(changer.name, user.name),
        files=_files(row.path, path),
        symbol=row.name,
        old=wanted.head,
        new=row.renamed_to or row.moved_to,
        detail=detail,
        confidence=sure,
        interrupts=sure != POSSIBLE,
    )


def _is_made_by(user: Delta, row: Reshaped, there: Place) -> bool:
    """Does the user's side define the name itself, where its uses would find it?"""
    for (path, _), rows in user.made.items():
        if rows[0].bare != row.bare:
            continue
        here = _place(user, path)
        is_near = path == row.path or dirname(path) == dirname(row.path)
        if here is not None and here.family == there.family and is_near:
            return True
    return False


def _reformed(row: Reshaped, there: Place, changer: Delta, user: Delta, world: World) -> Iterator[Finding]:
    """A definition that is still there, but must be called, implemented or built in another way."""
    worst: tuple[str, PlacedUse, str] | None = None
    for placed in user.used.get(row.bare, ()):
        here = _place(user, placed.path)
        if here is None:
            continue
        why, limit = _does_not_fit(placed, row, there.facts)
        if not why:
            continue
        sure = means(placed.use, here, row.old[0], there, world)
        if not sure:
            continue
        sure = POSSIBLE if not placed.is_new else limit if sure == SURE else sure
        if worst is None or (sure == SURE and worst[2] != SURE):
            worst = (why, placed, sure)
    if worst is None:
        return
    why, placed, sure = worst
    yield Finding(
        kind=SIGNATURE,
        agents=(changer.name, user.name),
        files=_files(row.path, placed.path),
        symbol=row.name,
        old=_form(row.old),
        new=_form(row.new),
        detail=why,
        confidence=sure,
        interrupts=sure in (SURE, LIKELY),
    )


def _does_not_fit(placed: PlacedUse, row: Reshaped, there: FileFacts) -> tuple[str, str]:
    """(why a use that fitted the old form does not fit the new one, how sure that is at the most)."""
    use = placed.use
    if use.kind == CALL:
        if misfit_of(use, row.old):
            return "", ""  # it never fitted: not this function, or not our business
        why = misfit_of(use, row.new) or reordering_of(use, row.old, row.new)
        if why:
            return why, SURE
        why = retyping_of(use, there.language, row.old, row.new)
        if why:
            return why, LIKELY
        why = return_change(there.language, row.old, row.new)
        return why, LIKELY
    return "", ""


def _new_members(changer: Delta, user: Delta, world: World) -> Iterator[Finding]:
    """Types of the base that need more from those who implement or build them."""
    for path, file in changer.files.items():
        if file.before is None or file.after is None:
            continue
        there = Place(path, file.before)
        for row in file.after.definitions:
            if row.kind not in _TYPES or not any(old.name == row.name for old in file.before.definitions):
                continue
            yield from _unimplemented(row, there, file.after, changer, user, world)
            yield from _unbuilt(row, there, file.after, changer, user, world)


def _unimplemented(
    row: Definition, there: Place, after: FileFacts, changer: Delta, user: Delta, world: World
) -> Iterator[Finding]:
    """A member that implementors must provide, and a new implementor of the other side that lacks it."""
    old = members(there.facts, row.name, METHOD, FIELD)
    needed = {
        name: member
        for name, member in members(after, row.name, METHOD, FIELD).items()
        if member.is_open and not member.is_optional and (name not in old or not old[name].is_open)
    }
    changed = {
        name: member
        for name, member in members(after, row.name, METHOD).items()
        if name in old and member.is_open and misfit_between(old[name], member)
    }
    if not needed and not changed:
        return
    for placed in user.used.get(row.bare, ()):
        here = _place(user, placed.path)
        if here is None or placed.use.kind != BASE or not placed.is_new:
            continue
        sure = sees(row.bare, here, there, world) if not placed.use.receiver else LIKELY
        own = members(here.facts, placed.use.inside, METHOD, FIELD)
        if not sure or may_inherit_all(placed.use.inside, row.bare, here):
            continue
        lacking = [name for name in needed if name not in own]
        unfit = [name for name in changed if name in own and misfit_between(own[name], changed[name])]
        for name in [*lacking, *unfit][:1]:
            member = needed.get(name) or changed[name]
            before = old[name].head if name in old else ""
            why = (
                f"`{placed.use.inside}` does not have it"
                if name in lacking
                else f"`{placed.use.inside}.{name}` has the old form"
            )
            yield Finding(
                kind=SIGNATURE,
                agents=(changer.name, user.name),
                files=_files(there.path, placed.path),
                symbol=member.name,
                old=before,
                new=member.head,
                detail=why,
                confidence=sure,
                interrupts=True,
            )
            return


def may_inherit_all(type_name: str, base: str, here: Place) -> bool:
    """Has the type another base that may provide the member? Then nothing can be said."""
    row = next((row for row in here.facts.definitions if row.name == type_name), None)
    others = [name for name in map(bare_type, row.bases if row is not None else ()) if name != base]
    return any(name not in ("ABC", "Protocol", "object", "Generic") for name in others) or (
        row is not None and row.kind == INTERFACE
    )


def misfit_between(given: Definition, wanted: Definition) -> bool:
    """Can a method with one form not stand in for the other?"""
    if given.parameters is None or wanted.parameters is None:
        return False
    needed = [row for row in given.parameters if row.is_required and row.kind == "plain"]
    offered = [row for row in wanted.parameters if row.kind == "plain"]
    has_rest = any(row.kind in ("rest", "named rest") for row in given.parameters)
    taken = [row for row in given.parameters if row.kind == "plain"]
    required = [row for row in offered if row.is_required]
    return len(needed) > len(offered) or (len(taken) < len(required) and not has_rest)


def _unbuilt(
    row: Definition, there: Place, after: FileFacts, changer: Delta, user: Delta, world: World
) -> Iterator[Finding]:
    """A literal of the other side that lacks a field which is required now, or has one that is gone."""
    old, new = members(there.facts, row.name, FIELD), members(after, row.name, FIELD)
    if not new or old == new:
        return
    for placed in user.used.get(row.bare, ()):
        here = _place(user, placed.path)
        if here is None or placed.use.kind != LITERAL or not placed.is_new:
            continue
        required_before = {name for name, field in old.items() if not field.is_optional}
        why = ""
        if there.facts.language != "go":
            why = missing_fields(placed.use, new.values(), required_before)
        gone = [name for name in placed.use.names if name in old and name not in new]
        if not why and gone and not after.is_broken:
            why = f"sets `{gone[0]}`, which is gone"
        sure = sees(row.bare, here, there, world) if why and not placed.use.receiver else ""
        if why and placed.use.receiver:
            sure = means(placed.use, here, row, there, world)
        if sure:
            yield Finding(
                kind=SIGNATURE,
                agents=(changer.name, user.name),
                files=_files(there.path, placed.path),
                symbol=row.name,
                old=_fields(old),
                new=_fields(new),
                detail=why,
                confidence=sure,
                interrupts=True,
            )
            return


def _gone_modules(changer: Delta, user: Delta) -> Iterator[Finding]:
    """A file that one side removed or moved, and that the other newly imports as a whole."""
    for path, successor in changer.gone_files.items():
        before = changer.files[path].before
        if before is None:
            continue
        there = Place(path, before)
        for placed in user.imported:
            here = _place(user, placed.path)
            if here is None or here.family != there.family or here.family in (*BY_PACKAGE, "go"):
                continue
            if placed.imported.name not in ("", "*") or not is_module_of(placed.imported.module, here, there):
                continue
            yield Finding(
                kind=REMOVED,
                agents=(changer.name, user.name),
                files=_files(path, placed.path),
                symbol=path,
                old=path,
                new=successor,
                detail=f"moved to {successor}" if successor else "",
                interrupts=True,
            )
            break


# -- both do the same ---------------------------------------------------------------------------


def _both_edited(left: Delta, right: Delta) -> Iterator[Finding]:
    for place in left.edited.keys() & right.edited.keys():
        path, name = place
        ours, theirs = left.edited[place][1], right.edited[place][1]
        if [row.text for row in ours] == [row.text for row in theirs] or ours[0].kind == CONSTANT:
            continue
        yield Finding(
            kind=SAME_SYMBOL,
            agents=(left.name, right.name),
            files=(path,),
            symbol=name,
            old=ours[0].head,
            new=theirs[0].head,
            confidence=SURE,
        )


def _both_made(left: Delta, right: Delta) -> Iterator[Finding]:
    """The same new name in one scope: a file, or a package where the language has them."""
    theirs: dict[tuple[str, str], tuple[str, Sequence[Definition]]] = {}
    for (path, name), rows in right.made.items():
        theirs[_scope(right, path), name] = (path, rows)
    for (path, name), rows in left.made.items():
        found = theirs.get((_scope(left, path), name))
        if found is None or not _clash(left, path, rows, found[1]):
            continue
        owner = name.rpartition(".")[0]
        if owner and (path, owner) in left.made and (found[0], owner) in right.made:
            continue  # the type around it is reported
        yield Finding(
            kind=SAME_NAME,
            agents=(left.name, right.name),
            files=_files(path, found[0]),
            symbol=name,
            old=rows[0].head,
            new=found[1][0].head,
            interrupts=True,
        )


def _scope(side: Delta, path: str) -> str:
    here = _place(side, path)
    if here is None:
        return path
    if here.family == "go":
        return f"{dirname(path)} {here.package}"
    if here.family in BY_PACKAGE and here.package:
        return f"{here.family} {here.package}"
    return path


def _clash(side: Delta, path: str, ours: Sequence[Definition], theirs: Sequence[Definition]) -> bool:
    if {row.text for row in ours} & {row.text for row in theirs} or ours[0].bare in ("init", "main", "_"):
        return False
    here = _place(side, path)
    if here is not None and here.family in _OVERLOADED and ours[0].parameters is not None:
        types = [tuple(one.type for one in row.parameters or ()) for row in ours]
        others = [tuple(one.type for one in row.parameters or ()) for row in theirs]
        return bool(set(types) & set(others)) or ours[0].kind in _TYPES
    return True


def _both_registered(left: Delta, right: Delta) -> Iterator[Finding]:
    for (kind, name), (path, key) in left.keys.items():
        found = right.keys.get((kind, name))
        if found is None or found[1].meaning == key.meaning:
            continue
        other, theirs = found
        if kind == DEPENDENCY:
            ecosystem, _, package = name.partition(" ")
            if not exclude_each_other(ecosystem, key.meaning, theirs.meaning):
                continue
            yield Finding(
                kind=EXCLUDING,
                agents=(left.name, right.name),
                files=_files(path, other),
                symbol=package,
                old=key.meaning,
                new=theirs.meaning,
                interrupts=True,
            )
        elif kind != MIGRATION:  # the merge settles most of them, and says which it cannot
            yield Finding(
                kind=SAME_NAME,
                agents=(left.name, right.name),
                files=_files(path, other),
                symbol=name,
                old=key.meaning,
                new=theirs.meaning,
                detail=kind,
                interrupts=True,
            )


# -- small parts ---------------------------------------------------------------------------------


def _place(side: Delta, path: str) -> Place | None:
    file = side.files.get(path)
    return Place(path, file.after) if file is not None and file.after is not None else None


def _files(*paths: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(paths))


def _form(rows: Sequence[Definition]) -> str:
    return " | ".join(row.head for row in rows[:3])


def _fields(fields: dict[str, Definition]) -> str:
    return "{" + ", ".join(f"{name}{'?' if row.is_optional else ''}" for name, row in fields.items()) + "}"


def offers(delta: Delta) -> set[str]:
    """The bare names that this side's changes may break for others."""
    names = {row.bare for row in delta.reshaped}
    for file in delta.files.values():
        if file.before is not None and file.after is not None:
            types = {row.name for row in file.before.definitions if row.kind in _TYPES}
            names |= {bare_type(row.name) for row in file.after.definitions if row.name in types}
    return names


def wants(delta: Delta) -> set[str]:
    """The bare names that this side newly uses."""
    return set(delta.used) | {import_as_use(placed).name for placed in delta.imported}
