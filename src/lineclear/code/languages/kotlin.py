"""Kotlin."""

import re

from lineclear.code.languages.table import Language

_ITEMS = ("function_declaration", "class_declaration", "object_declaration")
KOTLIN = Language(
    name="kotlin",
    grammar="tree_sitter_kotlin",
    definitions={
        "function_declaration": "function",
        "class_declaration": "type",
        "object_declaration": "type",
        "property_declaration": "field",
        "enum_entry": "case",
    },
    keyed={"when_entry": "case"},
    bodies=("class_body", "block"),
    overloads=True,
    overload_bodies=True,
    members={"source_file": _ITEMS, "class_body": _ITEMS},
    attached=("line_comment", "block_comment"),
    calls=("call_expression",),
    arguments=("value_arguments",),
    values=("identifier",),
    imports=("import",),
    imports_bind_names=True,
    import_line=re.compile(r"import\s+[\w.]"),
    import_words=("import",),
    opaque=("line_comment", "block_comment", "string_literal"),
    texts=("multiline_string_literal", "string_literal"),
)
