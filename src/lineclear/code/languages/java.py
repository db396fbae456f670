"""Java: types and the members of their bodies."""

from lineclear.code.languages.table import Table

_MEMBERS = (
    "method_declaration",
    "constructor_declaration",
    "class_declaration",
    "interface_declaration",
    "enum_declaration",
    "record_declaration",
    "annotation_type_declaration",
    "field_declaration",
    "constant_declaration",
)
TABLE = Table(
    members={
        "program": _MEMBERS,
        "class_body": _MEMBERS,
        "interface_body": _MEMBERS,
        "enum_body_declarations": _MEMBERS,
        "enum_body": ("enum_constant",),
    },
    attached=("line_comment", "block_comment"),
    overloads=True,
)
