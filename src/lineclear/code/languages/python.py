"""Python."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from lineclear.code.facts.definitions import add_field, define
from lineclear.code.facts.scopes import plain_type
from lineclear.code.facts.uses import path_text, split_path
from lineclear.code.languages.table import FactNodes, Language, Shape
from lineclear.code.nodes import flat_text, text_of
from lineclear.core.radar.facts import (
    BY_NAME,
    BY_PLACE,
    CONSTANT,
    FIELD,
    FUNCTION,
    INTERFACE,
    MENTION,
    METHOD,
    NAMED_REST,
    PLAIN,
    REST,
    TYPE,
    Import,
    Parameter,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from tree_sitter import Node

    from lineclear.code.facts.scopes import Scope
    from lineclear.code.facts.walk import Step, Walk


def _imported(node: Node) -> list[str]:
    names = [flat_text(name) for name in node.children_by_field_name("name")]
    if node.type == "import_statement":
        return [f"import {name}" for name in names]
    module = node.child_by_field_name("module_name")
    source = flat_text(module) if module else "__future__"
    return [f"{source}: {name}" for name in names] or [flat_text(node)]


# -- definitions -------------------------------------------------------------------------------

_OF_FIELDS = {"dataclass", "define", "frozen", "mutable", "s", "attrs", "attributes"}  # decorators
_BY_KEYWORD = {"BaseModel", "SQLModel", "TypedDict"}  # bases that make a constructor of the fields
_BY_POSITION = {"NamedTuple"}
_NEUTRAL = {"object", "ABC", "Protocol", "Generic"} | _BY_KEYWORD | _BY_POSITION
_NO_DEFAULT = re.compile(r"(?:\w+\.)*(?:field|ib|Field)\((?!.*\b(?:default|default_factory|factory)\s*=)")


def _shape(node: Node, scope: Scope) -> Shape | None:
    if node.type == "assignment":
        return _variable(node, scope)
    if node.type == "type_alias_statement":
        left = node.child_by_field_name("left")
        names = left.named_children[:1] if left is not None else []
        return Shape(kind=TYPE, names=names) if names else None
    name = node.child_by_field_name("name")
    if name is None:
        return None
    text = text_of(name)
    shape = Shape(kind=FUNCTION, names=[name], body=node.child_by_field_name("body"))
    shape.is_private = _is_private(text)
    decorators = _decorators(node)
    if node.type == "class_definition":
        return _class(node, shape, decorators)
    shape.parameters = node.child_by_field_name("parameters")
    shape.result = node.child_by_field_name("return_type")
    shape.has_receiver = bool(scope.owner) and "staticmethod" not in decorators
    shape.is_open = any(one.startswith("abstract") for one in decorators) or _is_protocol(scope)
    if scope.owner and any(one in decorators for one in ("property", "cached_property", "setter")):
        shape.kind = FIELD
    return shape


def _class(node: Node, shape: Shape, decorators: dict[str, str]) -> Shape:
    written = node.child_by_field_name("superclasses")
    arguments = written.named_children if written is not None else []
    shape.bases = [one for one in map(_base, arguments) if one is not None]
    bases = [split_path(path_text(base))[1] for base in shape.bases]
    is_abstract = written is not None and b"ABCMeta" in (written.text or b"")
    shape.kind = INTERFACE if is_abstract or {"ABC", "Protocol"} & set(bases) else TYPE
    inherited = [
        path_text(base) for base, bare in zip(shape.bases, bases, strict=True) if bare not in _NEUTRAL
    ]
    shape.is_class = True
    shape.inherits = ", ".join(inherited)  # several: no single class has this name
    made_by = next((text for name, text in decorators.items() if name in _OF_FIELDS), None)
    if made_by is not None or (_BY_KEYWORD | _BY_POSITION) & set(bases):
        by_name = made_by is not None and re.search(r"kw_only\s*=\s*True", made_by)
        kind = BY_NAME if by_name or _BY_KEYWORD & set(bases) else PLAIN
        shape.fields = tuple(_fields(shape.body, kind))
    return shape


def _base(argument: Node) -> Node | None:
    if argument.type == "subscript":
        return argument.child_by_field_name("value")
    return argument if argument.type in ("identifier", "attribute") else None


def _fields(body: Node | None, kind: str) -> Iterator[Parameter]:
    """The parameters of a constructor that is made from the fields."""
    for statement in body.named_children if body is not None else ():
        node = statement.named_children[0] if statement.named_child_count else statement
        left = node.child_by_field_name("left")
        if node.type != "assignment" or left is None or left.type != "identifier":
            continue
        written, value = node.child_by_field_name("type"), node.child_by_field_name("right")
        type, default = (flat_text(one) if one is not None else "" for one in (written, value))
        if "KW_ONLY" in type:
            kind = BY_NAME
        elif (type or ".ib(" in default) and "ClassVar" not in type and "init=False" not in default:
            is_required = value is None or _NO_DEFAULT.match(default) is not None
            by_name = kind == BY_NAME or "kw_only=True" in default.replace(" ", "")
            yield Parameter(text_of(left), BY_NAME if by_name else kind, is_required, type)


def _variable(node: Node, scope: Scope) -> Shape | None:
    names, left, value = [], node.child_by_field_name("left"), node.child_by_field_name("right")
    todo = [left] if left is not None else []
    while value is not None and value.type == "assignment":  # `a = b = 1`
        inner = value.child_by_field_name("left")
        todo += [inner] if inner is not None else []
        value = value.child_by_field_name("right")
    while todo:
        part = todo.pop()
        if part.type == "identifier":
            names.append(part)
        elif part.type not in ("attribute", "subscript"):
            todo += part.named_children
    if not names:
        return None
    names.sort(key=lambda name: name.start_byte)
    shape = Shape(kind=CONSTANT, names=names, result=node.child_by_field_name("type"), value=value)
    if value is not None and value.type == "lambda" and not scope.is_local:
        shape.kind, shape.parameters = FUNCTION, value.child_by_field_name("parameters")
    shape.is_open = _is_protocol(scope)
    shape.is_optional = bool(scope.owner) and value is not None
    shape.is_private = _is_private(text_of(names[0]))
    return shape


def _decorators(node: Node) -> dict[str, str]:
    """The last word of each decorator -> its text."""
    above = node.parent
    if above is None or above.type != "decorated_definition":
        return {}
    texts = [flat_text(one).removeprefix("@") for one in above.children if one.type == "decorator"]
    return {text.partition("(")[0].strip().rpartition(".")[2]: text for text in texts}


def _is_private(name: str) -> bool:
    return name.startswith("_") and not (name.startswith("__") and name.endswith("__"))


def _is_protocol(scope: Scope) -> bool:
    return scope.kind == INTERFACE and any(base.endswith("Protocol") for base in scope.bases)


def _parameters(listing: Node) -> Iterator[tuple[Parameter, Node]]:
    found: list[tuple[Parameter, Node]] = []
    kind = PLAIN
    for node in listing.named_children:
        if node.type == "positional_separator":
            found = [
                (Parameter(one.name, BY_PLACE, one.is_required, one.type), token) for one, token in found
            ]
        elif node.type == "keyword_separator":
            kind = BY_NAME
        else:
            name = node.child_by_field_name("name") or node
            while name.type != "identifier" and name.named_child_count and name.type != "tuple_pattern":
                name = name.named_children[0]
                if name.type == "list_splat_pattern":
                    kind = REST
            if name.type not in ("identifier", "tuple_pattern"):
                continue
            found.append(_parameter(node, name, kind))
            kind = BY_NAME if found[-1][0].kind == REST else kind
    yield from found


def _parameter(node: Node, name: Node, kind: str) -> tuple[Parameter, Node]:
    stars = len(flat_text(node)) - len(flat_text(node).lstrip("*"))
    kind = (kind, REST, NAMED_REST)[min(stars, 2)]
    written = node.child_by_field_name("type")
    is_required = not stars and node.child_by_field_name("value") is None
    type = flat_text(written) if written is not None else ""
    return Parameter(text_of(name), kind, is_required, type), name


# -- uses --------------------------------------------------------------------------------------


def _value_type(value: Node) -> str:
    """`Cart()` and `shop.Cart()` make a Cart."""
    function = value.child_by_field_name("function") if value.type == "call" else None
    if function is None or function.type not in ("identifier", "attribute"):
        return ""
    path = path_text(function)
    return plain_type(path) if split_path(path)[1].lstrip("_")[:1].isupper() else ""


def _argument_name(argument: Node) -> str:
    name = argument.child_by_field_name("name") if argument.type == "keyword_argument" else None
    return text_of(name) if name is not None else ""


def _assign(walk: Walk, node: Node) -> Iterable[Step]:
    left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
    if left is not None and left.type == "attribute" and walk.scope.kind in (METHOD, FIELD):
        _assign_field(walk, node, left, right)
    elif left is not None and right is not None and left.text == b"__all__" and not walk.scope.name:
        strings = (one for one in right.named_children if one.type == "string")
        walk.exported.update(text_of(one).strip("\"'") for one in strings)
    return define(walk, node)


def _assign_field(walk: Walk, node: Node, left: Node, right: Node | None) -> None:
    """`self.repo = Repo()` in a method."""
    owner = walk.owner()
    receiver, name = split_path(path_text(left))
    if receiver != "self" or not owner:
        return
    written = node.child_by_field_name("type")
    type = flat_text(written) if written is not None else ""
    if not type and right is not None:
        type = _value_type(right) or walk.scope.types.get(text_of(right), "")
    add_field(walk, node, owner, name, type, is_private=_is_private(name))


def _augment(walk: Walk, node: Node) -> Iterable[Step]:
    left = node.child_by_field_name("left")
    if left is not None and left.type == "identifier" and walk.scope.is_local:
        walk.bind(left)
    return node.children


def _outer(walk: Walk, node: Node) -> Iterable[Step]:
    """`global` and `nonlocal`"""
    walk.scope.outer_names.update(text_of(one) for one in node.named_children)
    return ()


def _keyword(_: Walk, node: Node) -> Iterable[Step]:
    return node.children_by_field_name("value")


def _block(walk: Walk, node: Node) -> Iterable[Step]:
    """No digest counts a docstring. It counts where a block ends: a line may move out of a loop."""
    first = node.named_children[0] if node.named_child_count else None
    if first is not None and first.type == "expression_statement" and first.named_child_count == 1:
        said = first.named_children[0]
        if said.type == "string":
            walk.cuts.append((said.start_byte, said.end_byte))
    walk.cuts.append((node.end_byte, node.end_byte))
    return node.children


def _pattern(walk: Walk, node: Node) -> Iterable[Step]:
    """A pattern of `case`: a plain name is bound, a dotted one is compared with."""
    for name in node.named_children:
        if name.type == "dotted_name" and name.named_child_count == 1:
            walk.bind(name.named_children[0])
    return node.children


def _keyword_pattern(walk: Walk, node: Node) -> Iterable[Step]:
    walk.skip(node.named_children[0])
    return _pattern(walk, node)


def _dotted(walk: Walk, node: Node) -> Iterable[Step]:
    if node.named_child_count < 2:
        return node.children
    receiver, name = split_path(path_text(node))
    walk.use(name, MENTION, node, receiver)
    return node.named_children[:1]


def _splat(walk: Walk, node: Node) -> Iterable[Step]:
    walk.bind(node)
    return ()


# -- imports -----------------------------------------------------------------------------------


def _read_imports(node: Node) -> list[Import]:
    module = node.child_by_field_name("module_name")
    source = "".join(text_of(module).split()) if module is not None else "__future__"
    found = []
    for one in node.children_by_field_name("name"):
        written, alias = one.child_by_field_name("name") or one, one.child_by_field_name("alias")
        name = flat_text(written)
        if node.type == "import_statement":
            found.append(Import(name, "", text_of(alias) if alias is not None else name.partition(".")[0]))
        else:
            # `import x as x` is how stubs say that they pass a name on.
            is_passed_on = alias is not None and text_of(alias) == name
            found.append(Import(source, name, text_of(alias) if alias is not None else name, is_passed_on))
    if any(one.type == "wildcard_import" for one in node.named_children):
        found.append(Import(source, "*", ""))
    return found


def _import(walk: Walk, node: Node) -> Iterable[Step]:
    """A package passes on what its `__init__.py` imports."""
    found = _read_imports(node)
    if walk.path.endswith("__init__.py") and not walk.scope.name and node.type == "import_from_statement":
        found = [Import(one.module, one.name, one.alias, True) for one in found]
    walk.imports += found
    return ()


_IMPORTS = ("import_statement", "import_from_statement", "future_import_statement")
_FACTS = FactNodes(
    defines=("function_definition", "class_definition", "assignment", "type_alias_statement"),
    shape=_shape,
    parameters=_parameters,
    constructors=("__init__",),
    scopes=(
        "lambda",
        "list_comprehension",
        "set_comprehension",
        "dictionary_comprehension",
        "generator_expression",
    ),
    binds={
        "for_statement": "left",
        "for_in_clause": "left",
        "named_expression": "name",
        "as_pattern": "alias",
    },
    value_type=_value_type,
    calls={"call": ("function", "", "arguments")},
    accesses={"attribute": ("object", "attribute")},
    types=("type",),
    spreads=("list_splat",),
    named_spreads=("dictionary_splat",),
    argument_name=_argument_name,
    special={
        "assignment": _assign,
        "augmented_assignment": _augment,
        "global_statement": _outer,
        "nonlocal_statement": _outer,
        "keyword_argument": _keyword,
        "block": _block,
        "module": _block,
        "case_pattern": _pattern,
        "keyword_pattern": _keyword_pattern,
        "dotted_name": _dotted,
        "splat_pattern": _splat,
        **dict.fromkeys(_IMPORTS, _import),
    },
)

_DEFINITIONS = ("function_definition", "class_definition", "decorated_definition")
PYTHON = Language(
    name="python",
    grammar="tree_sitter_python",
    definitions={
        "function_definition": "function",
        "class_definition": "type",
        "typed_parameter": "parameter",
        "keyword_argument": "argument",
    },
    keyed={"pair": "key", "case_clause": "case"},
    wrappers=("decorated_definition",),
    bodies=("block", "decorated_definition"),
    name_fields={"pair": "key"},
    members={
        "module": (*_DEFINITIONS, "expression_statement"),
        "block": (*_DEFINITIONS, "expression_statement"),
        "dictionary": ("pair",),
        "set": ("string", "identifier"),
        "list": ("string",),
        "argument_list": ("keyword_argument",),
    },
    lists=("list", "set"),
    registries=("list",),
    calls=("call",),
    arguments=("argument_list",),
    values=("identifier", "attribute"),
    objects=("dictionary",),
    imports=_IMPORTS,
    import_parents=("if_statement", "try_statement", "except_clause", "block"),
    imported=_imported,
    imports_bind_names=True,
    import_line=re.compile(r"from\s+[.\w]+\s+import\b|import\s+\w"),
    import_words=("from", "import"),
    import_names=re.compile(r"(?s)(from\s+\S+\s+import\s+)\(?(?P<names>[^()#]*?),?\s*\)?\s*$"),
    line_width=88,
    facts=_FACTS,
    opaque=("comment", "string"),
    texts=("string", "concatenated_string"),
    is_indented=True,
    is_scanned_by_row=True,
)
