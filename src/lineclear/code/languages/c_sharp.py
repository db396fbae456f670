"""C#."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from lineclear.code.facts.definitions import add_field, define
from lineclear.code.facts.scopes import plain_type
from lineclear.code.facts.uses import called, count_arguments, note_call, path_text, receiver_text, split_path
from lineclear.code.languages.table import FactNodes, Language, Shape
from lineclear.code.nodes import flat_text, text_of
from lineclear.core.radar.facts import (
    CALL,
    FIELD,
    INTERFACE,
    LITERAL,
    MENTION,
    METHOD,
    PLAIN,
    REST,
    TYPE,
    TYPE_NAME,
    Import,
    Parameter,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from tree_sitter import Node

    from lineclear.code.facts.scopes import Scope
    from lineclear.code.facts.walk import Step, Walk

# -- definitions -------------------------------------------------------------------------------

_TYPES = {
    "class_declaration": TYPE,
    "struct_declaration": TYPE,
    "record_declaration": TYPE,
    "enum_declaration": TYPE,
    "delegate_declaration": TYPE,
    "interface_declaration": INTERFACE,
}
_METHODS = ("method_declaration", "constructor_declaration", "local_function_statement")
_FIELDS = ("field_declaration", "event_field_declaration")


def _shape(node: Node, scope: Scope) -> Shape | None:
    words = _modifiers(node)
    if node.type in _FIELDS:
        return _fields(node, scope, words)
    name = node.child_by_field_name("name")
    if name is None:
        return None
    shape = Shape(kind=FIELD, names=[name], body=node.child_by_field_name("body"))
    shape.is_private = _is_private(words, scope)
    if node.type in _TYPES:
        return _type(node, shape, words)
    if node.type in _METHODS:
        shape.kind = METHOD
        shape.parameters = node.child_by_field_name("parameters")
        shape.result = node.child_by_field_name("returns") or node.child_by_field_name("type")
        shape.is_open = "abstract" in words or (scope.kind == INTERFACE and shape.body is None)
    elif node.type == "property_declaration":
        accessors = node.child_by_field_name("accessors")
        shape.result = node.child_by_field_name("type")
        shape.body = accessors or node.child_by_field_name("value")
        has_body = (
            accessors is None or b"=>" in (accessors.text or b"") or b"return" in (accessors.text or b"")
        )
        shape.is_open = "abstract" in words or (scope.kind == INTERFACE and not has_body)
        shape.is_optional = "required" not in words
    else:  # a member of an enum
        shape.is_private = False
    return shape


def _type(node: Node, shape: Shape, words: set[str]) -> Shape:
    shape.kind = _TYPES[node.type]
    shape.is_private = "private" in words
    if node.type == "delegate_declaration":
        return shape
    for child in node.named_children:
        if child.type == "parameter_list":
            shape.parameters = child
        elif child.type == "base_list" and node.type != "enum_declaration":
            shape.bases = [
                one.child_by_field_name("type") or one for one in child.named_children if one.is_named
            ]
            shape.bases = [one for one in shape.bases if one.type != "argument_list"]
    if shape.body is None:
        shape.body = next((one for one in node.named_children if one.type == "base_list"), None)
    is_made = node.type in ("class_declaration", "struct_declaration", "record_declaration")
    # Another part of the class may have a constructor.
    shape.is_class = is_made and not {"static", "partial", "abstract"} & words
    return shape


def _fields(node: Node, scope: Scope, words: set[str]) -> Shape | None:
    declared = next((one for one in node.named_children if one.type == "variable_declaration"), None)
    names = [name for name, _ in _declared(declared)] if declared is not None else []
    if declared is None or not names:
        return None
    shape = Shape(kind=FIELD, names=names, result=declared.child_by_field_name("type"))
    shape.is_private = _is_private(words, scope)
    shape.is_optional = "required" not in words
    return shape


def _declared(declaration: Node) -> Iterator[tuple[Node, Node | None]]:
    """(name, value) of each variable."""
    for one in declaration.named_children:
        name = one.child_by_field_name("name") if one.type == "variable_declarator" else None
        if name is not None:
            yield name, one.named_children[-1] if one.named_child_count > 1 else None


def _modifiers(node: Node) -> set[str]:
    return {text_of(one) for one in node.named_children if one.type == "modifier"}


def _is_private(words: set[str], scope: Scope) -> bool:
    return "private" in words or (scope.kind == TYPE and not words & {"public", "internal", "protected"})


def _parameters(listing: Node) -> Iterator[tuple[Parameter, Node]]:
    for node in listing.named_children:
        name, written = node.child_by_field_name("name"), node.child_by_field_name("type")
        if node.type == "parameter" and name is not None:
            is_required = all(one.type != "=" for one in node.children)
            type = flat_text(written) if written is not None else ""
            yield Parameter(text_of(name), PLAIN, is_required, type), name
    rest, written = listing.child_by_field_name("name"), listing.child_by_field_name("type")
    if rest is not None:  # `params` has no node of its own
        yield Parameter(text_of(rest), REST, False, flat_text(written) if written is not None else ""), rest


def _define_type(walk: Walk, node: Node) -> Iterable[Step]:
    is_member = not walk.scope.is_local
    steps = define(walk, node)
    draft = walk.types.get(walk.scope.name) if is_member else None
    if draft is None or walk.scope.owner != draft.name:
        return steps
    if node.type == "record_declaration":
        for listing in node.named_children:
            if listing.type == "parameter_list":
                for parameter, name in _parameters(listing):
                    place = name.parent or name
                    add_field(walk, place, draft.name, parameter.name, parameter.type, is_private=False)
    if node.type == "struct_declaration" and draft.is_class:
        draft.constructors.append(())  # always there
    return steps


def _define_method(walk: Walk, node: Node) -> Iterable[Step]:
    is_member = not walk.scope.is_local
    steps = define(walk, node)
    listing = node.child_by_field_name("parameters")
    first = listing.named_children[0] if listing is not None and listing.named_child_count else None
    if is_member and first is not None and "this" in _modifiers(first) and walk.drafts:
        # Callers of an extension method write its first argument before the dot.
        walk.drafts[-1].parameters = (walk.drafts[-1].parameters or ())[1:]
    return steps


# -- local names -------------------------------------------------------------------------------


def _variables(walk: Walk, node: Node) -> Iterable[Step]:
    if walk.scope.kind == FIELD:
        return node.children
    written = node.child_by_field_name("type")
    type = plain_type(flat_text(written)) if written is not None and written.type != "implicit_type" else ""
    for name, value in _declared(node):
        walk.bind(name, type or (_value_type(value) if value is not None else ""))
    return node.children


def _bind_typed(walk: Walk, node: Node) -> Iterable[Step]:
    """`foreach (Cart cart in carts)`, `catch (Error e)`, `is Cart cart`, `out Cart cart`"""
    name = node.child_by_field_name("name") or node.child_by_field_name("left")
    written = node.child_by_field_name("type")
    if name is not None:
        is_said = written is not None and written.type != "implicit_type"
        walk.bind(name, plain_type(flat_text(written)) if written is not None and is_said else "")
    return node.children


def _value_type(value: Node) -> str:
    made = value.child_by_field_name("type") if value.type == "object_creation_expression" else None
    return plain_type(path_text(made)) if made is not None else ""


# -- uses --------------------------------------------------------------------------------------

_OF_TYPES = ("type_argument_list", "nullable_type", "array_type", "type_list", "typeof_expression")


def _name(walk: Walk, node: Node) -> Iterable[Step]:
    """A name, which is a type where only types may be."""
    if walk.is_skipped(node):
        return ()
    around = node.parent
    is_type = False
    if around is not None:
        places = (around.child_by_field_name("type"), around.child_by_field_name("returns"))
        is_type = around.type in _OF_TYPES or node in places
    walk.use(text_of(node), TYPE_NAME if is_type else MENTION, node)
    return ()


def _generic(walk: Walk, node: Node) -> Iterable[Step]:
    if not walk.is_skipped(node):
        walk.use(path_text(node), TYPE_NAME, node)
    return [one for one in node.named_children if one.type == "type_argument_list"]


def _invocation(walk: Walk, node: Node) -> Iterable[Step]:
    target, arguments = node.child_by_field_name("function"), node.child_by_field_name("arguments")
    if target is None:
        return node.children
    binding = target.named_children[-1] if target.type == "conditional_access_expression" else target
    if binding.type != "member_binding_expression":
        return called(walk, node, target, arguments)
    name = binding.child_by_field_name("name")
    if name is not None:
        note_call(walk, name, _before_question(binding), arguments)
        walk.skip(binding)
    return node.children


def _binding(walk: Walk, node: Node) -> Iterable[Step]:
    """`.Name` after `cart?`"""
    name, before = node.child_by_field_name("name"), _before_question(node)
    if name is not None and not walk.is_skipped(node):
        walk.skip(name)
        walk.use(
            split_path(path_text(name))[1], MENTION, name, receiver_text(before) if before is not None else ""
        )
    return node.children


def _before_question(node: Node) -> Node | None:
    above = node.parent
    while above is not None and above.type != "conditional_access_expression":
        above = above.parent
    return above.child_by_field_name("condition") if above is not None else None


def _creation(walk: Walk, node: Node) -> Iterable[Step]:
    """`new Cart(owner) { Limit = 1 }` calls the constructor and sets a field."""
    made = node.child_by_field_name("type") or _expected_type(node)
    parts = {one.type: one for one in node.named_children}
    if made is None:
        return node.children
    receiver, name = split_path(path_text(made))
    places, names = count_arguments(walk, parts.get("argument_list"))
    walk.use(name, CALL, made, receiver, places=places, names=names)
    initializer = parts.get("initializer_expression")
    left = []
    for one in initializer.named_children if initializer is not None else ():
        target = one.child_by_field_name("left") if one.type == "assignment_expression" else None
        if target is not None and target.type == "identifier":
            left.append(target)
            walk.skip(target)
    if left:
        walk.use(name, LITERAL, made, receiver, names=tuple(text_of(one) for one in left))
    others = [one for one in node.children if one != made]
    arguments = [one for one in made.named_children if one.type == "type_argument_list"]
    return [*arguments, *others]


def _expected_type(node: Node) -> Node | None:
    """Of `new()`: what its variable or property is declared as."""
    above = node.parent
    if above is not None and above.type == "variable_declarator":
        above = above.parent
    if above is None or above.type not in ("variable_declaration", "property_declaration"):
        return None
    return above.child_by_field_name("type")


def _constructor_call(walk: Walk, node: Node) -> Iterable[Step]:
    """`: base(owner)` and `: this(owner)`"""
    owner = walk.types.get(walk.owner())
    arguments = next((one for one in node.named_children if one.type == "argument_list"), None)
    is_own = any(one.type == "this" for one in node.children)
    if owner is not None and (is_own or owner.bases):
        receiver, name = split_path(owner.name if is_own else owner.bases[0])
        places, names = count_arguments(walk, arguments)
        walk.use(name, CALL, node, receiver, places=places, names=names)
    return node.children


def _base_call(walk: Walk, node: Node) -> Iterable[Step]:
    """`record Gift(int Id) : Cart(Id)`"""
    base = node.child_by_field_name("type")
    arguments = next((one for one in node.named_children if one.type == "argument_list"), None)
    if base is not None and arguments is not None:
        receiver, name = split_path(path_text(base))
        places, names = count_arguments(walk, arguments)
        walk.use(name, CALL, base, receiver, places=places, names=names)
    return node.children


def _argument(walk: Walk, node: Node) -> Iterable[Step]:
    name = node.child_by_field_name("name")
    return [one for one in node.children if one != name]


def _argument_name(argument: Node) -> str:
    name = argument.child_by_field_name("name") if argument.type == "argument" else None
    return text_of(name) if name is not None else ""


# -- imports -----------------------------------------------------------------------------------


def _read_imports(node: Node) -> list[Import]:
    alias = node.child_by_field_name("name")
    paths = [path_text(one) for one in node.named_children if one != alias]
    if not paths:
        return []
    if alias is not None:
        module, name = split_path(paths[-1])
        return [Import(module, name, text_of(alias))]
    is_static = any(one.type == "static" for one in node.children)
    return [Import(paths[-1], "*" if is_static else "", "")]


def _namespace(walk: Walk, node: Node) -> Iterable[Step]:
    name, body = node.child_by_field_name("name"), node.child_by_field_name("body")
    if name is not None:
        walk.package = walk.package or flat_text(name)
    if body is not None:
        return body.children
    return [one for one in node.named_children if one != name]


_FACTS = FactNodes(
    defines=(*_TYPES, *_METHODS, *_FIELDS, "property_declaration", "enum_member_declaration"),
    shape=_shape,
    parameters=_parameters,
    constructors=("",),
    type_parameters=("type_parameter",),
    scopes=("lambda_expression", "anonymous_method_expression", "indexer_declaration"),
    binds={"tuple_pattern": "name", "from_clause": "name", "let_clause": "name"},
    bound=("identifier", "implicit_parameter"),
    value_type=_value_type,
    accesses={"member_access_expression": ("expression", "name")},
    names=("identifier", "generic_name"),
    type_paths=("qualified_name",),
    argument_name=_argument_name,
    fields_are_bare=True,
    read_imports=_read_imports,
    special={
        "identifier": _name,
        "generic_name": _generic,
        "invocation_expression": _invocation,
        "member_binding_expression": _binding,
        "object_creation_expression": _creation,
        "implicit_object_creation_expression": _creation,
        "constructor_initializer": _constructor_call,
        "primary_constructor_base_type": _base_call,
        "argument": _argument,
        "variable_declaration": _variables,
        "foreach_statement": _bind_typed,
        "catch_declaration": _bind_typed,
        "declaration_pattern": _bind_typed,
        "declaration_expression": _bind_typed,
        "namespace_declaration": _namespace,
        "file_scoped_namespace_declaration": _namespace,
        **dict.fromkeys(_TYPES, _define_type),
        **dict.fromkeys(_METHODS, _define_method),
    },
)
_MEMBERS = (
    "method_declaration",
    "constructor_declaration",
    "property_declaration",
    "class_declaration",
    "interface_declaration",
    "struct_declaration",
    "record_declaration",
    "enum_declaration",
)
C_SHARP = Language(
    name="c_sharp",
    grammar="tree_sitter_c_sharp",
    definitions={
        "method_declaration": "method",
        "constructor_declaration": "constructor",
        "class_declaration": "type",
        "interface_declaration": "type",
        "struct_declaration": "type",
        "enum_declaration": "type",
        "record_declaration": "type",
        "delegate_declaration": "type",
        "namespace_declaration": "namespace",
        "file_scoped_namespace_declaration": "namespace",
        "variable_declarator": "variable",
        "field_declaration": "field",
        "property_declaration": "field",
        "event_declaration": "field",
        "enum_member_declaration": "case",
    },
    bodies=("declaration_list", "block", "preproc_if"),
    overloads=True,
    overload_bodies=True,
    members={"compilation_unit": _MEMBERS, "declaration_list": _MEMBERS},
    arguments=("argument_list",),
    values=("identifier", "attribute"),
    imports=("using_directive",),
    import_parents=("preproc_if",),
    imports_tell_names=False,
    import_line=re.compile(r"(?:global\s+)?using\s+(?:static\s+)?[\w.]+(?:\s*=\s*[\w.<>]+)?;"),
    import_words=("using", "global"),
    import_end=re.compile(r"[^;]*;\s*(?://[^;\n]*)?$"),
    facts=_FACTS,
    opaque=("comment", "string_literal", "raw_string_literal"),
    texts=(
        "interpolated_string_expression",
        "raw_string_literal",
        "string_literal",
        "verbatim_string_literal",
    ),
)
