"""Functions and calls of a file, for planting conflicts. Made without the radar's own reading of code.

Offsets count bytes. Only what a plant can be sure of is kept: a function whose parameters are all plain and
required, and a call that spreads nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import PurePosixPath

from tree_sitter import Language, Node, Parser

from benchmarks.radar.repositories import language_of


@dataclass(frozen=True, slots=True)
class Table:
    """Node types of one language."""

    grammar: str
    functions: tuple[str, ...]
    calls: tuple[str, ...]
    owners: tuple[str, ...]
    plain: tuple[str, ...]
    imports: tuple[str, ...] = ()
    entry: str = "language"


TABLES = {
    "python": Table(
        "tree_sitter_python", ("function_definition",), ("call",), ("class_definition",),
        ("identifier", "typed_parameter"), ("import_from_statement",),
    ),
    "typescript": Table(
        "tree_sitter_typescript", ("function_declaration", "method_definition"), ("call_expression",),
        ("class_declaration", "abstract_class_declaration"), ("required_parameter",), ("import_statement",),
        "language_typescript",
    ),
    "javascript": Table(
        "tree_sitter_javascript", ("function_declaration", "method_definition"), ("call_expression",),
        ("class_declaration",), ("identifier",), ("import_statement",),
    ),
    "go": Table(
        "tree_sitter_go", ("function_declaration", "method_declaration"), ("call_expression",), (),
        ("parameter_declaration",),
    ),
    "rust": Table(
        "tree_sitter_rust", ("function_item",), ("call_expression",), ("impl_item", "trait_item"),
        ("parameter",), ("use_declaration",),
    ),
    "java": Table(
        "tree_sitter_java", ("method_declaration",), ("method_invocation",),
        ("class_declaration", "enum_declaration", "interface_declaration", "record_declaration"),
        ("formal_parameter",), ("import_declaration",),
    ),
    "csharp": Table(
        "tree_sitter_c_sharp", ("method_declaration",), ("invocation_expression",),
        ("class_declaration", "struct_declaration", "interface_declaration", "record_declaration"),
        ("parameter",),
    ),
    "php": Table(
        "tree_sitter_php", ("function_definition", "method_declaration"),
        ("function_call_expression", "member_call_expression", "scoped_call_expression"),
        ("class_declaration", "trait_declaration", "interface_declaration"), ("simple_parameter",),
        ("namespace_use_declaration",), "language_php",
    ),
    "ruby": Table(
        "tree_sitter_ruby", ("method", "singleton_method"), ("call",), ("class", "module"), ("identifier",)
    ),
    "kotlin": Table(
        "tree_sitter_kotlin", ("function_declaration",), ("call_expression",),
        ("class_declaration", "object_declaration"), ("parameter",), ("import",),
    ),
}  # fmt: skip
_PARAMETERS = ("parameters", "function_value_parameters")
_ARGUMENTS = ("value_arguments", "call_suffix")
_SPREAD = frozenset(
    ("list_splat", "dictionary_splat", "spread_element", "variadic_unpacking", "splat_argument",
     "hash_splat_argument", "block_argument", "spread_expression", "lambda_literal", "annotated_lambda")
)  # fmt: skip
_OWN = frozenset(("self", "cls", "this"))
_parsers: dict[str, Parser] = {}


@dataclass(frozen=True, slots=True)
class Function:
    """`parameters`: where the text between the brackets lies, and `count` how many it names (without self)."""

    name: str
    owner: str
    start: int
    end: int
    name_at: tuple[int, int]
    parameters: tuple[int, int]
    count: int
    is_plain: bool


@dataclass(frozen=True, slots=True)
class Call:
    """`arguments`: where the text between the brackets lies. `inside` is the innermost function around it."""

    name: str
    receiver: str
    name_at: tuple[int, int]
    arguments: tuple[int, int]
    count: int
    is_plain: bool
    inside: Function | None


@dataclass(slots=True)
class Source:
    """`mentions` counts every identifier; `imports` are the statements that name something."""

    path: str
    text: bytes
    is_broken: bool
    functions: list[Function] = field(default_factory=list)
    calls: list[Call] = field(default_factory=list)
    imports: list[tuple[int, int]] = field(default_factory=list)
    mentions: Counter[str] = field(default_factory=Counter)
    body_at: int = 0

    @property
    def stem(self) -> str:
        return PurePosixPath(self.path).stem

    def part(self, place: tuple[int, int]) -> str:
        return self.text[place[0] : place[1]].decode("utf-8", "replace")


def read_source(path: str, text: bytes) -> Source:
    language = language_of(path)
    root = _parser(language).parse(text).root_node
    source = Source(path, text, root.has_error)
    if not source.is_broken:
        _walk(source, TABLES[language], root, "", None)
        starts = [function.start for function in source.functions]
        source.body_at = min([*starts, *_owner_starts(root, TABLES[language])], default=len(text))
    return source


def _parser(language: str) -> Parser:
    if language not in _parsers:
        table = TABLES[language]
        _parsers[language] = Parser(Language(getattr(import_module(table.grammar), table.entry)()))
    return _parsers[language]


def _owner_starts(root: Node, table: Table) -> Iterator[int]:
    for node in root.named_children:
        if any(each.type in table.owners for each in (node, *node.named_children)):
            yield node.start_byte


def _walk(source: Source, table: Table, node: Node, owner: str, inside: Function | None) -> None:
    if node.child_count == 0:
        if node.is_named and "identifier" in node.type or node.type in ("name", "constant"):
            source.mentions[source.part((node.start_byte, node.end_byte))] += 1
        return
    if node.type in table.imports:
        source.imports.append((node.start_byte, node.end_byte))
    elif node.type in table.owners:
        name = node.child_by_field_name("name") or node.child_by_field_name("type")
        owner = _text(source, name) if name is not None else ""
    elif node.type in table.functions:
        found = _function(source, table, node, owner)
        if found is not None:
            source.functions.append(found)
            inside = found
    elif node.type in table.calls:
        call = _call(source, node, inside)
        if call is not None:
            source.calls.append(call)
    for child in node.children:
        _walk(source, table, child, owner, inside)


def _text(source: Source, node: Node) -> str:
    return source.part((node.start_byte, node.end_byte))


def _function(source: Source, table: Table, node: Node, owner: str) -> Function | None:
    name = node.child_by_field_name("name")
    parameters = node.child_by_field_name("parameters") or _child(node, _PARAMETERS)
    has_body = node.child_by_field_name("body") is not None or _child(node, ("function_body",)) is not None
    if name is None or parameters is None or not has_body:
        return None
    if not _text(source, parameters).startswith("("):
        return None
    receiver = node.child_by_field_name("receiver")
    if receiver is not None:
        owner = _text(source, receiver).strip("()").split()[-1].lstrip("*")
    outer = node
    while outer.parent is not None and outer.parent.type in ("export_statement", "decorated_definition"):
        outer = outer.parent
    given = [each for each in parameters.named_children if "comment" not in each.type]
    if given and (given[0].type == "self_parameter" or _text(source, given[0]).split(":")[0] in _OWN):
        given = given[1:]
    inner = (parameters.start_byte + 1, parameters.end_byte - 1)
    is_plain = all(each.type in table.plain for each in given) and "=" not in source.part(inner)
    is_plain = is_plain and outer.type != "decorated_definition" and "..." not in source.part(inner)
    return Function(
        _text(source, name), owner, outer.start_byte, outer.end_byte, (name.start_byte, name.end_byte), inner,
        sum(_names(each) for each in given), is_plain,
    )  # fmt: skip


def _names(parameter: Node) -> int:
    """`a, b int` is one declaration with two names in Go."""
    if parameter.type != "parameter_declaration":
        return 1
    return max(1, len(parameter.children_by_field_name("name")))


def _call(source: Source, node: Node, inside: Function | None) -> Call | None:
    arguments = node.child_by_field_name("arguments") or _child(node, _ARGUMENTS)
    if arguments is not None and arguments.type == "call_suffix":
        arguments = _child(arguments, ("value_arguments",))
    callee = next(
        (found for name in ("function", "method", "name") if (found := node.child_by_field_name(name))),
        node.named_children[0] if node.named_children else None,
    )
    if arguments is None or callee is None or not _text(source, arguments).startswith("("):
        return None
    leaf = callee
    while leaf.named_child_count:
        leaf = leaf.named_children[-1]
    if leaf.end_byte != callee.end_byte or not ("identifier" in leaf.type or leaf.type in ("name", "constant")):
        return None
    given = [each for each in arguments.named_children if "comment" not in each.type]
    inner = (arguments.start_byte + 1, arguments.end_byte - 1)
    is_plain = "..." not in source.part(inner) and not any(_spreads(each) for each in given)
    receiver = source.part((node.start_byte, leaf.start_byte)).rstrip("?!").rstrip(".:->&")
    return Call(
        _text(source, leaf), receiver, (leaf.start_byte, leaf.end_byte), inner, len(given), is_plain, inside
    )


def _spreads(node: Node) -> bool:
    return node.type in _SPREAD or any(child.type in _SPREAD for child in node.named_children)


def _child(node: Node, types: tuple[str, ...]) -> Node | None:
    return next((child for child in node.named_children if child.type in types), None)
