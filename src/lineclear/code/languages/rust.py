"""Rust."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from lineclear.code.languages.table import Language
from lineclear.code.nodes import flat_text

if TYPE_CHECKING:
    from tree_sitter import Node


def _imported(node: Node) -> list[str]:
    return _names(flat_text(node).removesuffix(";").strip())


def _names(text: str) -> list[str]:
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
            found += [head.replace(" ", "") + name for name in _names(part)]
            start = place + 1
    return found


_ITEMS = (
    "function_item",
    "function_signature_item",
    "struct_item",
    "enum_item",
    "trait_item",
    "impl_item",
    "type_item",
    "const_item",
    "static_item",
    "mod_item",
)
RUST = Language(
    name="rust",
    grammar="tree_sitter_rust",
    definitions={
        "function_item": "function",
        "function_signature_item": "function",
        "struct_item": "type",
        "union_item": "type",
        "enum_item": "type",
        "trait_item": "type",
        "type_item": "type",
        "mod_item": "module",
        "const_item": "constant",
        "static_item": "constant",
        "macro_definition": "macro",
        "field_declaration": "field",
        "enum_variant": "case",
        "field_initializer": "key",
    },
    keyed={"match_arm": "case", "impl_item": "impl"},
    bodies=("declaration_list", "field_declaration_list", "block"),
    name_fields={"field_initializer": "field", "impl_item": "*head"},
    members={
        "source_file": _ITEMS,
        "declaration_list": _ITEMS,
        "field_declaration_list": ("field_declaration",),
        "enum_variant_list": ("enum_variant",),
        "field_initializer_list": ("field_initializer", "shorthand_field_initializer"),
    },
    attached=("line_comment", "block_comment", "attribute_item"),
    lists=("array_expression", "token_tree", "use_list"),
    calls=("call_expression",),
    arguments=("arguments",),
    values=("identifier", "attribute"),
    imports=("use_declaration",),
    import_parents=("mod_item", "declaration_list"),
    imported=_imported,
    imports_bind_names=True,
    import_line=re.compile(r"(?:pub(?:\([\w\s:]+\))?\s+)?(?:use\s+[\w:{*]|extern\s+crate\s|mod\s+\w+;)"),
    import_words=("use", "pub", "mod", "extern"),
    import_end=re.compile(r"[^;]*;\s*(?://[^;\n]*)?$"),
    import_names=re.compile(r"(?s)((?:pub\S*\s+)?use\s+[\w:]*::)\{(?P<names>.*?),?\s*\}(?P<rest>;\s*)$"),
    line_width=100,
    opaque=("line_comment", "block_comment", "string_literal", "raw_string_literal"),
    texts=("string_literal", "raw_string_literal"),
)
