"""C#."""

import re

from lineclear.code.languages.table import Language

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
    opaque=("comment", "string_literal", "raw_string_literal"),
    texts=(
        "interpolated_string_expression",
        "raw_string_literal",
        "string_literal",
        "verbatim_string_literal",
    ),
)
