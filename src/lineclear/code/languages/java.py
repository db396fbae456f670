"""Java."""

import re

from lineclear.code.languages.table import Language

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
JAVA = Language(
    name="java",
    grammar="tree_sitter_java",
    definitions={
        "method_declaration": "method",
        "constructor_declaration": "constructor",
        "compact_constructor_declaration": "constructor",
        "class_declaration": "type",
        "interface_declaration": "type",
        "enum_declaration": "type",
        "record_declaration": "type",
        "annotation_type_declaration": "type",
        "annotation_type_element_declaration": "method",
        "variable_declarator": "variable",
        "field_declaration": "field",
        "enum_constant": "case",
        "formal_parameter": "parameter",
    },
    keyed={"switch_block_statement_group": "case"},
    bodies=("class_body", "interface_body", "enum_body", "enum_body_declarations", "block"),
    overloads=True,
    overload_bodies=True,
    members={
        "program": _MEMBERS,
        "class_body": _MEMBERS,
        "interface_body": _MEMBERS,
        "enum_body_declarations": _MEMBERS,
        "enum_body": ("enum_constant",),
    },
    attached=("line_comment", "block_comment"),
    lists=("array_initializer",),
    calls=("method_invocation",),
    arguments=("argument_list",),
    values=("identifier",),
    imports=("import_declaration",),
    imports_bind_names=True,
    import_line=re.compile(r"import\s+[\w.]"),
    import_words=("import",),
    import_end=re.compile(r"[^;]*;\s*(?://[^;\n]*)?$"),
    opaque=("line_comment", "block_comment", "string_literal"),
    texts=("string_literal", "template_expression"),
)
