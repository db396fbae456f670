"""Rust: items, methods of an impl, fields, variants."""

from lineclear.code.languages.table import Table

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
TABLE = Table(
    members={
        "source_file": _ITEMS,
        "declaration_list": _ITEMS,
        "field_declaration_list": ("field_declaration",),
        "enum_variant_list": ("enum_variant",),
        "field_initializer_list": ("field_initializer", "shorthand_field_initializer"),
    },
    attached=("line_comment", "block_comment", "attribute_item"),
    keyed={"field_initializer": "field", "impl_item": "*head"},
)
