"""Facts as short lines, so that a test can list what it expects.

Parameters: `a` by place or name, `a/` by place only, `a:` by name only, `*a` and `**a` for the rest; `?` if
it may be left out.
"""

from __future__ import annotations

from lineclear.code.facts.reading import read_facts
from lineclear.core.radar.facts import (
    BY_NAME,
    BY_PLACE,
    CALL,
    LITERAL,
    NAMED_REST,
    REST,
    Definition,
    Parameter,
    Use,
)


def definitions(path: str, text: str) -> list[str]:
    return [shown_definition(one) for one in read_facts(path, text).definitions]


def uses(path: str, text: str, *kinds: str, inside: str | None = None) -> list[str]:
    """The uses of these kinds (of all kinds), in this definition (in all)."""
    found = read_facts(path, text).uses
    return [
        shown_use(one)
        for one in found
        if (not kinds or one.kind in kinds) and (inside is None or one.inside == inside)
    ]


def imports(path: str, text: str) -> list[str]:
    return [
        f"{one.module}: {one.name} as {one.alias}" + " (passed on)" * one.is_passed_on
        for one in read_facts(path, text).imports
    ]


def shown_definition(one: Definition) -> str:
    text = f"{one.kind} {one.name}"
    if one.parameters is not None:
        text += f"({', '.join(map(_parameter, one.parameters))})"
    text += f" -> {one.type}" if one.type else ""
    text += f" < {', '.join(one.bases)}" if one.bases else ""
    return text + " open" * one.is_open + " optional" * one.is_optional + " private" * one.is_private


def _parameter(one: Parameter) -> str:
    before = {REST: "*", NAMED_REST: "**"}.get(one.kind, "")
    behind = {BY_PLACE: "/", BY_NAME: ":"}.get(one.kind, "")
    is_left_out = not one.is_required and not before
    return before + one.name + behind + "?" * is_left_out


def shown_use(one: Use) -> str:
    receiver = one.receiver + (f"<{one.receiver_type}>" if one.receiver_type else "")
    text = f"{one.kind} {receiver + ' ' if receiver else ''}{one.name}"
    if one.kind in (CALL, LITERAL):
        text += f"({', '.join([str(one.places), *one.names])})"
    return text
