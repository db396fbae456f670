"""The types of receivers, as far as the file itself says them: of a local, of a field, of a global."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lineclear.core.radar.facts import Use

if TYPE_CHECKING:
    from lineclear.code.facts.scopes import FoundUse
    from lineclear.code.facts.walk import Walk


def with_types(walk: Walk) -> tuple[Use, ...]:
    return tuple(
        Use(
            found.name,
            found.kind,
            found.receiver,
            _type_of(walk, found) if found.receiver else "",
            found.places,
            found.names,
            found.inside,
            found.row,
        )
        for found in walk.uses
    )


def _type_of(walk: Walk, use: FoundUse) -> str:
    """Follows `self.repo.cache` from field to field. What a bare `self` is follows from `inside`."""
    first, dot, rest = use.receiver.partition(".")
    type = use.root_type
    if not dot and first in walk.nodes.selves:
        return ""
    if type is None:
        type = _outside_scopes(walk, use, first)
    while dot and type:
        field, dot, rest = rest.partition(".")
        type = walk.field_types.get(type, {}).get(field, "")
    return type or ""


def _outside_scopes(walk: Walk, use: FoundUse, first: str) -> str:
    owner = use.inside.rpartition(".")[0]
    if first in walk.nodes.selves:
        return owner
    if walk.nodes.fields_are_bare and first in walk.field_types.get(owner, ()):
        return walk.field_types[owner][first]
    return walk.field_types.get("", {}).get(first, "")
