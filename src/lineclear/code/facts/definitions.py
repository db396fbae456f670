"""The definitions of a file: their shape, their digest, and the local names that they bring."""

from __future__ import annotations

from bisect import bisect_left
from hashlib import blake2b
from typing import TYPE_CHECKING

from lineclear.code.facts.scopes import Scope, plain_type, type_of_parameter
from lineclear.code.facts.uses import base_of, skip_name
from lineclear.code.facts.walk import FoundDefinition
from lineclear.code.nodes import flat_text, flattened, text_of
from lineclear.core.radar.facts import (
    BASE,
    CONSTANT,
    FIELD,
    FUNCTION,
    INTERFACE,
    METHOD,
    TYPE,
    Definition,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from tree_sitter import Node

    from lineclear.code.facts.walk import Step, Walk
    from lineclear.code.languages.table import Shape
    from lineclear.core.radar.facts import Parameter

MAX_HEAD = 200
_BLANKS = b" \t\r\n\f\v"
_ABOVE = ("decorator", "annotation", "marker_annotation", "attribute_list", "attribute_item")
_TYPES = (TYPE, INTERFACE)


def define(walk: Walk, node: Node) -> Iterable[Step]:
    shape = walk.nodes.shape(node, walk.scope)
    if shape is None:
        return node.children
    around = walk.scope
    owner = shape.extends or around.owner
    kind = _kind(shape, is_member=bool(shape.extends) or around.kind in _TYPES)
    for token in shape.names:
        walk.skip(token)
    names = [text_of(token).lstrip("$@") for token in shape.names]
    value_type = _type_of(walk, shape) if kind in (FIELD, CONSTANT) else ""
    if around.is_local and not shape.extends:
        for name in names:
            around.bind(name, value_type)
        if kind in (FIELD, CONSTANT):
            return node.children
        return _inside(walk, node, shape, Scope(name=around.name, kind=kind, is_local=True))
    bases = [base for base in (base_of(one) for one in shape.bases) if base]
    parameters = _parameters(walk, shape) if kind not in (FIELD, CONSTANT) else None
    dotted = ""
    for name in names:
        dotted = f"{owner}.{name}" if owner else name
        draft = _draft(walk, node, shape, dotted, kind)
        draft.bases, draft.parameters = [base for _, base in bases], parameters
        walk.drafts.append(draft)
        walk.defined.add(dotted)
        if kind in _TYPES:
            walk.types.setdefault(dotted, draft)
            draft.fields, draft.inherits, draft.is_class = shape.fields, shape.inherits, shape.is_class
            draft.constructors += [parameters] if parameters is not None else []
        if value_type and kind in (FIELD, CONSTANT):
            walk.field_types.setdefault(owner, {})[name] = value_type
        if kind == METHOD and is_constructor(walk, name, owner) and parameters is not None:
            owned = walk.types.get(owner)
            if owned is not None:
                owned.constructors.append(parameters)
    is_type = kind in _TYPES
    scope = Scope(
        name=dotted,
        kind=kind,
        owner=dotted if is_type else "",
        bases=tuple(base for _, base in bases),
        is_local=not is_type,
        result=flat_text(shape.result).lstrip(": ") if shape.result is not None else "",
    )
    return _inside(walk, node, shape, scope, bases)


def _kind(shape: Shape, *, is_member: bool) -> str:
    if is_member:
        return {FUNCTION: METHOD, CONSTANT: FIELD}.get(shape.kind, shape.kind)
    return {METHOD: FUNCTION, FIELD: CONSTANT}.get(shape.kind, shape.kind)


def _inside(
    walk: Walk, node: Node, shape: Shape, scope: Scope, bases: Iterable[tuple[Node, str]] = ()
) -> Iterable[Step]:
    """Begin the scope of a definition, and go through everything in it but its own name."""
    close = walk.open(scope)
    if shape.parameters is not None:
        has_receiver = shape.has_receiver
        for parameter, pattern in walk.nodes.parameters(shape.parameters):
            walk.bind(pattern, walk.owner() if has_receiver else type_of_parameter(parameter))
            has_receiver = False
    generic = node.child_by_field_name("type_parameters")
    if generic is not None and not walk.nodes.type_parameters:
        walk.bind(generic)
    for base, dotted in bases:
        name = dotted.replace("::", ".").replace("\\", ".").rpartition(".")[2]
        walk.use(name, BASE, base, dotted[: -len(name)].rstrip(".:\\"))
        skip_name(walk, base)
    return [*node.children, close]


def _type_of(walk: Walk, shape: Shape) -> str:
    """The type of a field or variable: declared, or that of the new object it gets."""
    if shape.result is not None:
        return plain_type(flat_text(shape.result))
    if shape.value is not None and walk.nodes.value_type:
        return walk.nodes.value_type(shape.value)
    return ""


def _parameters(walk: Walk, shape: Shape) -> tuple[Parameter, ...] | None:
    if shape.parameters is None:
        return None
    found = tuple(parameter for parameter, _ in walk.nodes.parameters(shape.parameters))
    return found[1:] if shape.has_receiver else found


def is_constructor(walk: Walk, name: str, owner: str) -> bool:
    names = walk.nodes.constructors
    return name in names or ("" in names and name == owner.rpartition(".")[2])


def add_field(walk: Walk, node: Node, owner: str, name: str, type: str, *, is_private: bool) -> None:
    """A field that the constructor brings, by a parameter or by an assignment to `self`."""
    plain = plain_type(type)
    fields = walk.field_types.setdefault(owner, {})
    if plain and not fields.get(name):
        fields[name] = plain
    dotted = f"{owner}.{name}"
    if dotted not in walk.defined:
        walk.defined.add(dotted)
        place = (node.start_point[0], node.start_byte, node.end_byte)
        draft = FoundDefinition(
            dotted, FIELD, *place, flat_text(node)[:MAX_HEAD], type=type, is_private=is_private
        )
        walk.drafts.append(draft)


# -- texts -------------------------------------------------------------------------------------


def _draft(walk: Walk, node: Node, shape: Shape, dotted: str, kind: str) -> FoundDefinition:
    whole = node
    if walk.language.wrappers and kind not in (FIELD, CONSTANT):
        above = node.parent
        whole = above if above is not None and above.type == "decorated_definition" else node
    return FoundDefinition(
        dotted,
        kind,
        node.start_point[0],
        whole.start_byte,
        whole.end_byte,
        _head(node, shape),
        type=flat_text(shape.result).lstrip(": ") if shape.result is not None else "",
        is_open=shape.is_open,
        is_optional=shape.is_optional,
        is_private=shape.is_private,
    )


def _head(node: Node, shape: Shape) -> str:
    """The definition up to its body, on one line, without what stands above it."""
    start = node.start_byte
    for child in node.children:
        if child.type == "modifiers":
            plain = [inner for inner in child.children if inner.type not in _ABOVE]
            start = plain[0].start_byte if plain else child.end_byte
        elif child.type in _ABOVE:
            start = child.end_byte
            continue
        break
    end = shape.body.start_byte if shape.body is not None else node.end_byte
    text = (node.text or b"")[start - node.start_byte : end - node.start_byte]
    return flattened(text[: 4 * MAX_HEAD])[:MAX_HEAD].rstrip("{:=>;, ")


class Digests:
    """Digests of parts of a text, without blanks, comments and docstrings."""

    def __init__(self, source: bytes, cuts: list[tuple[int, int]]) -> None:
        self._source = source
        self._cuts = sorted(cuts)

    def of(self, start: int, end: int) -> str:
        pieces = []
        for cut in range(bisect_left(self._cuts, (start, 0)), len(self._cuts)):
            first, last = self._cuts[cut]
            if first >= end:
                break
            pieces.append(self._source[start:first])
            if first == last:
                pieces.append(b"\0")  # where a block ends, in a language without a word for it
            start = max(start, last)
        pieces.append(self._source[start:end])
        text = b"".join(pieces).translate(None, _BLANKS)
        for closing in (b")", b"]", b"}"):
            text = text.replace(b"," + closing, closing)  # formatters add and remove this comma
        return blake2b(text, digest_size=6).hexdigest()


def finished(walk: Walk, source: bytes) -> tuple[Definition, ...]:
    digests = Digests(source, walk.cuts)
    found = []
    for draft in walk.drafts:
        # A type with several constructors is given several times, like any overloaded function.
        shapes = _constructors(walk, draft) if draft.kind in _TYPES else [draft.parameters]
        found += [
            Definition(
                draft.name,
                draft.kind,
                draft.row,
                parameters,
                draft.type,
                tuple(draft.bases),
                digests.of(draft.start, draft.end),
                draft.head,
                draft.is_open,
                draft.is_optional,
                draft.is_private,
            )
            for parameters in shapes
        ]
    return tuple(found)


def _constructors(walk: Walk, draft: FoundDefinition) -> Sequence[tuple[Parameter, ...] | None]:
    """How the type can be called; [None] if the file does not show it."""
    own: list[Parameter] = []
    seen = set()
    while not draft.constructors:
        if not draft.is_class or id(draft) in seen:
            return [None]
        seen.add(id(draft))
        names = {parameter.name for parameter in own}
        own = [*(one for one in draft.fields or () if one.name not in names), *own]
        if not draft.inherits:
            return [tuple(own)]
        if draft.inherits not in walk.types:
            return [None]
        draft = walk.types[draft.inherits]
    return draft.constructors if not own else [None]
