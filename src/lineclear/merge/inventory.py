"""What a file defines: definitions, keys, case labels, selectors that occur twice in one place; imports.

Belongs to the verifier. Reads one syntax tree; compares nothing.
"""

from __future__ import annotations

import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from tree_sitter import Node

    from lineclear.merge.parts import Part, Shared

# Node types that give a name to something in their scope; the value is the kind shown to people.
_NAMED = {
    "function_definition": "function",
    "function_declaration": "function",
    "generator_function_declaration": "function",
    "function_item": "function",
    "function_signature_item": "function",
    "method_declaration": "method",
    "method_definition": "method",
    "constructor_declaration": "constructor",
    "method": "method",
    "singleton_method": "method",
    "class_definition": "type",
    "class_declaration": "type",
    "class_specifier": "type",
    "abstract_class_declaration": "type",
    "interface_declaration": "type",
    "enum_declaration": "type",
    "enum_item": "type",
    "struct_item": "type",
    "trait_item": "type",
    "type_item": "type",
    "type_alias_declaration": "type",
    "type_spec": "type",
    "record_declaration": "type",
    "object_declaration": "type",
    "class": "type",
    "module": "type",
    "namespace_declaration": "namespace",
    "namespace_definition": "namespace",
    "mod_item": "module",
    "const_item": "constant",
    "static_item": "constant",
    "const_spec": "constant",
    "macro_definition": "macro",
    "variable_declarator": "variable",
    "field_declaration": "field",
    "public_field_definition": "field",
    "property_signature": "field",
    "property_declaration": "field",
    "enum_variant": "case",
    "enum_member_declaration": "case",
    "enum_constant": "case",
    "enumerator": "case",
    "enum_entry": "case",
    "required_parameter": "parameter",
    "typed_parameter": "parameter",
    "formal_parameter": "parameter",
    "keyword_argument": "argument",
    "field_initializer": "key",
    "jsx_attribute": "attribute",
}
_KEYED = {
    "pair": "key",
    "keyed_element": "key",
    "block_mapping_pair": "key",
    "flow_pair": "key",
    "case_clause": "case",
    "switch_case": "case",
    "switch_block_statement_group": "case",
    "expression_case": "case",
    "type_case": "case",
    "match_arm": "case",
    "when_entry": "case",
    "rule_set": "selector",
    "declaration": "property",
    "table": "table",
    "enum_assignment": "case",
    "decorator": "decorator",
    "attribute_item": "attribute",
    "impl_item": "impl",
}
_LISTS = {
    "list",
    "array",
    "set",
    "array_expression",
    "literal_value",
    "array_initializer",
    "token_tree",
    "use_list",
}
OVERLOADED = {"java", "cpp", "c_sharp", "kotlin", "typescript", "tsx"}
# What may hold definitions without being one; and definitions whose inside is nobody else's business.
_BODIES = {
    "class_body",
    "block",
    "declaration_list",
    "body_statement",
    "interface_body",
    "enum_body",
    "enum_body_declarations",
    "field_declaration_list",
    "object_type",
    "export_statement",
    "decorated_definition",
    "template_declaration",
    "linkage_specification",
    "preproc_ifdef",
    "preproc_if",
}
_CLOSED = ("function", "method", "constructor", "field", "variable", "constant", "case", "key", "property")
_IMPORTS = {
    "import_statement",
    "import_from_statement",
    "future_import_statement",
    "import_declaration",
    "import_spec",
    "use_declaration",
    "preproc_include",
    "using_directive",
    "namespace_use_declaration",
    "import_header",
    "import",
}
_IMPORT_PARENTS = {
    "import_declaration",
    "import_spec_list",
    "if_statement",
    "try_statement",
    "except_clause",
    "block",
    "import_list",
    "preproc_ifdef",
    "preproc_if",
    "mod_item",
    "declaration_list",
}
MAX_IMPORT_DEPTH = 3
MAX_KNOWN_DEPTH = 3
MIN_KNOWN_BYTES = 64
_BINDING = {"python", "typescript", "tsx", "javascript", "java", "kotlin", "rust", "php"}
_LAST_WORD = re.compile(r"\w+")
_OPAQUE = {
    "string",
    "comment",
    "template_string",
    "string_literal",
    "line_comment",
    "block_comment",
    "raw_string_literal",
}


class Inventory:
    """`repeated` is what is there twice, in words; `scopes` are the places where something is, and those
    around them."""

    __slots__ = ("repeated", "scopes", "imports", "bindings", "_times")

    def __init__(self) -> None:
        self.repeated: set[str] = set()
        self.scopes: set[str] = set()
        self.imports: set[str] = set()
        self.bindings: set[str] = set()
        self._times: dict[str, int] = {}

    def repeat(self, label: str, scope: str, times: int) -> None:
        self.repeated.add(f"{label} in {scope or 'the file'}" + (f" ({times} times)" if times > 2 else ""))
        while scope and scope not in self.scopes:
            self.scopes.add(scope)
            scope = scope.rpartition("/")[0]

    def note_import(self, name: str) -> None:
        """The second time it is there again, the third time again again."""
        times = self._times[name] = self._times.get(name, 0) + 1
        if times > 1:
            self.repeated.add(f"import {name}" + " again" * (times - 2))
        self.imports.add(name)


def known_parts(roots: list[Part]) -> set[bytes]:
    """The texts of the larger nodes near the top: an equal node of the result needs no second look."""
    found: set[bytes] = set()
    level = roots
    for _ in range(MAX_KNOWN_DEPTH):
        inner = (child for part in level for child in part.inner() if _is_large(child))
        level = list(dict.fromkeys(inner))
        found.update(child.text for child in level)
    return found


def _is_large(part: Part) -> bool:
    return len(part.text) >= MIN_KNOWN_BYTES


def take_inventory(
    language: str,
    root: Part,
    *,
    known: set[bytes] | None = None,
    shared: Shared | None = None,
    scopes: set[str] | None = None,
) -> Inventory:
    """Everything that is there twice; walks the whole tree, except parts that are `known` or `shared`, and
    only these `scopes` where they are given."""
    taken = Inventory()
    todo: list[tuple[Part, str]] = [(root, "")]
    while todo:
        part, scope = todo.pop()
        if scopes is not None and scope and scope not in scopes:
            continue
        if not (known and _is_large(part) and part.text in known):
            todo += _look_at(language, part, scope, taken, shared.inside(part) if shared else set())
    for name in imports_of(language, root):
        taken.note_import(name)
        _note_binding(language, name, taken)
    return taken


def imports_of(language: str, part: Part, depth: int = MAX_IMPORT_DEPTH) -> list[str]:
    """The imports near the top of the tree; those inside functions are left to the count of words."""
    found: list[str] = []
    for child in part.inner():
        if child.kind in _IMPORTS:
            if child.imports is None:
                child.imports = _imported(language, child.node)
            found += child.imports
        if depth and child.kind in _IMPORT_PARENTS:
            found += imports_of(language, child, depth - 1)
    return found


def take_definitions(language: str, roots: Sequence[Part], shared: Shared) -> list[dict[str, bytes]]:
    """Per version, scope and name of what is defined outside of functions -> its text; not what is there
    twice, and of what all versions share only what may have the name of something else."""
    owned = [_defined_by(language, shared.apart(root)) for root in roots]
    met = _met_by([name for own, _ in owned for name in own])
    common, twice_in_common = _defined_by(
        language, [part for part in shared.inside(roots[0]) if _may_meet(language, part, met)]
    )
    found = []
    for own, twice in owned:
        both = common | own
        for name in twice | twice_in_common | (common.keys() & own.keys()):
            del both[name]
        found.append(both)
    return found


def _met_by(names: list[str]) -> set[str]:
    """The names, with and without what they take, and those of the scopes around them."""
    met: set[str] = set()
    for name in names:
        around = name
        while around and around not in met:
            met.add(around)
            around = around.rpartition("/")[0]
        met.add(name.partition("(")[0])
    return met


def _may_meet(language: str, part: Part, met: set[str]) -> bool:
    label = _label_of(language, part) if part.kind not in _OPAQUE else ""
    return not label or f"/{label}" in met or f"/{label}".partition("(")[0] in met


def _defined_by(language: str, parts: list[Part]) -> tuple[dict[str, bytes], set[str]]:
    """What is defined, and what of it more than once."""
    found: dict[str, bytes] = {}
    twice: set[str] = set()
    todo: list[tuple[list[Part], str]] = [(parts, "")]
    while todo:
        inner, scope = todo.pop()
        for child in inner:
            kind = child.kind
            label = _label_of(language, child) if kind not in _OPAQUE else ""
            name = f"{scope}/{label}" if label else scope
            if label:
                if name in found:
                    twice.add(name)
                found[name] = child.text if kind != "table" else _table(child)
            if kind in _BODIES or (label and not label.startswith(_CLOSED)):
                todo.append((child.inner(), name))
    return found, twice


def _table(part: Part) -> bytes:
    """Comments at its end belong to the table behind it."""
    rows = list(part.inner())
    while rows and rows[-1].kind == "comment":
        rows.pop()
    return b"\n".join(row.text for row in rows)


def _look_at(
    language: str, part: Part, scope: str, taken: Inventory, shared: set[Part]
) -> list[tuple[Part, str]]:
    """Notes what is right inside of a part twice; gives back where to go on."""
    counted: dict[str, int] = {}
    further = []
    is_list = part.kind in _LISTS
    for child in part.inner():
        if is_list and len(child.text) > 3:
            _count(counted, f"element {words_of(child.text)[:200]}")
        label = _label_of(language, child)
        if label:
            _count(counted, label)
        if child.kind not in _OPAQUE and child not in shared and not child.is_leaf():
            further.append((child, f"{scope}/{label}" if label else scope))
    for label, times in counted.items():
        if times > 1:
            taken.repeat(label, scope, times)
    return further


def _label_of(language: str, part: Part) -> str:
    if part.label is None:
        part.label = _label(language, part.node)
    return part.label


def _count(counted: dict[str, int], label: str) -> None:
    counted[label] = counted.get(label, 0) + 1


def _label(language: str, node: Node) -> str:
    kind = node.type
    if kind in ("decorated_definition", "export_statement"):
        inner = node.child_by_field_name("definition") or node.child_by_field_name("declaration")
        return _label(language, inner) if inner else ""
    if kind in ("lexical_declaration", "type_declaration", "const_declaration", "template_declaration"):
        inner = node.named_children[-1] if node.named_child_count else None
        return _label(language, inner) if inner is not None and inner.type in _NAMED else ""
    if kind in _NAMED:
        return _named_label(language, node, _NAMED[kind])
    if kind in _KEYED:
        return _keyed_label(node, _KEYED[kind])
    return ""


def _named_label(language: str, node: Node, kind: str) -> str:
    name = node.child_by_field_name("name") or node.child_by_field_name("declarator")
    if name is None:
        name = next((c for c in node.named_children if c.type.endswith("identifier")), None)
    if name is None:
        return ""
    receiver = node.child_by_field_name("receiver")
    before = _flat(receiver) if receiver else ""
    behind = ""
    if language in OVERLOADED or language == "c":
        parameters = node.child_by_field_name("parameters")
        behind = _flat(parameters) if parameters else ""
    return f"{kind} {before}{_flat(name)[:120]}{behind[:200]}"


def _keyed_label(node: Node, kind: str) -> str:
    if kind == "impl":
        body = node.child_by_field_name("body")
        end = body.start_byte if body else node.end_byte
        text = node.text or b""
        return "impl " + " ".join(text[: end - node.start_byte].decode("utf-8", "replace").split())
    if kind in ("decorator", "attribute"):
        return ""
    key = (
        node.child_by_field_name("key")
        or node.child_by_field_name("value")
        or node.child_by_field_name("pattern")
    )
    if key is None and node.named_child_count:
        key = node.named_children[0]
    return f"{kind} {_flat(key)[:200]}" if key is not None else ""


def _flat(node: Node) -> str:
    return words_of(node.text or b"")


def words_of(text: bytes) -> str:
    """On one line, with one blank where there were any."""
    return " ".join(text.decode("utf-8", "replace").split())


# -- imports -----------------------------------------------------------------------------------


def _imported(language: str, node: Node) -> list[str]:
    text = _flat(node)
    if language == "python":
        return _python_names(node, text)
    if language in ("typescript", "tsx", "javascript"):
        return _script_names(node, text)
    if language == "rust":
        return list(_rust_names(text.removesuffix(";").strip()))
    return [] if language == "go" and node.type == "import_declaration" else [text]


def _note_binding(language: str, name: str, taken: Inventory) -> None:
    """Two imports that bind one name: legal in few languages, meant in none."""
    if language not in _BINDING or name.rstrip("; ").endswith(("*", "self", "_")):
        return
    bound = f"import under the name {_LAST_WORD.findall(name)[-1]}"
    if bound in taken.bindings:
        taken.repeated.add(bound)
    taken.bindings.add(bound)


def _python_names(node: Node, text: str) -> list[str]:
    names = [_flat(name) for name in node.children_by_field_name("name")]
    if node.type == "import_statement":
        return [f"import {name}" for name in names]
    module = node.child_by_field_name("module_name")
    source = _flat(module) if module else "__future__"
    return [f"{source}: {name}" for name in names] or [text]


def _script_names(node: Node, text: str) -> list[str]:
    source = node.child_by_field_name("source")
    clause = next((c for c in node.named_children if c.type == "import_clause"), None)
    if source is None or clause is None:
        return [text.rstrip(";")]
    is_type = text.startswith("import type")
    origin = _flat(source).strip("'\"") + (" (type)" if is_type else "")
    names = []
    for part in clause.named_children:
        if part.type == "named_imports":
            names += [f"{origin}: {_flat(c)}" for c in part.named_children if c.type == "import_specifier"]
        else:
            names.append(f"{origin}: {_flat(part)}")
    return names or [text.rstrip(";")]


def _rust_names(text: str) -> list[str]:
    """`use a::{b, c::{d}}` names a::b and a::c::d."""
    head, brace, rest = text.partition("{")
    if not brace or not rest.rstrip().endswith("}"):
        return [text.replace(" ", "")] if text.strip() else []
    depth, start, found = 0, 0, []
    inside = rest.rstrip()[:-1]
    for place, sign in enumerate(inside + ","):
        depth += (sign == "{") - (sign == "}")
        if sign == "," and depth == 0:
            part = inside[start:place].strip()
            found += [head.replace(" ", "") + name for name in _rust_names(part)]
            start = place + 1
    return found
