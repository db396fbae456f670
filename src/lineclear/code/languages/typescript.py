"""TypeScript, TSX, JavaScript, JSX: declarations, members, object keys, fields of types, tests by title."""

from lineclear.code.languages.table import Table

_DECLARATIONS = (
    "function_declaration",
    "generator_function_declaration",
    "class_declaration",
    "abstract_class_declaration",
    "interface_declaration",
    "type_alias_declaration",
    "enum_declaration",
    "export_statement",
    "expression_statement",
)
TABLE = Table(
    members={
        "program": _DECLARATIONS,
        "statement_block": ("expression_statement",),
        "class_body": ("method_definition", "public_field_definition", "field_definition"),
        "interface_body": ("property_signature", "method_signature"),
        "object_type": ("property_signature", "method_signature"),
        "object": ("pair", "method_definition", "shorthand_property_identifier"),
        "export_clause": ("export_specifier",),
        "array": ("string",),
    },
    attached=("comment", "decorator"),
    keyed={"pair": "key", "field_definition": "property"},
    calls=("it", "test", "describe", "context", "specify"),
    wrappers=("export_statement",),
    lists=("array",),
)
