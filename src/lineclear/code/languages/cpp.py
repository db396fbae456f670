"""C and C++."""

import re
from dataclasses import replace

from lineclear.code.languages.table import Language

_ITEMS = ("function_definition", "struct_specifier", "enum_specifier", "class_specifier")
_DEFINITIONS = {
    "function_definition": "function",
    "struct_specifier": "type",
    "union_specifier": "type",
    "enum_specifier": "type",
    "declaration": "variable",
    "field_declaration": "field",
    "enumerator": "case",
}
_BODIES = (
    "field_declaration_list",
    "declaration_list",
    "linkage_specification",
    "preproc_if",
    "preproc_ifdef",
)
C = Language(
    name="c",
    grammar="tree_sitter_c",
    definitions=_DEFINITIONS,
    defined_by_body=("struct_specifier", "union_specifier", "enum_specifier"),
    bodies=_BODIES,
    name_fields={"function_definition": "declarator"},
    members={"translation_unit": _ITEMS, "declaration_list": _ITEMS},
    calls=("call_expression",),
    arguments=("argument_list",),
    values=("identifier", "attribute"),
    imports=("preproc_include",),
    import_parents=("preproc_if", "preproc_ifdef"),
    imports_tell_names=False,
    import_line=re.compile(r"#\s*include\b"),
    import_words=("#",),
    opaque=("comment", "string_literal"),
    texts=("concatenated_string", "string_literal"),
)
CPP = replace(
    C,
    name="cpp",
    grammar="tree_sitter_cpp",
    definitions=_DEFINITIONS
    | {
        "class_specifier": "type",
        "alias_declaration": "type",
        "concept_definition": "type",
        "namespace_definition": "namespace",
        "field_initializer": "key",
    },
    groups=("template_declaration",),
    bodies=(*_BODIES, "template_declaration"),
    overloads=True,
    overload_bodies=True,
    values=("identifier", "attribute", "new_expression"),
    opaque=("comment", "string_literal", "raw_string_literal"),
    texts=("concatenated_string", "string_literal", "raw_string_literal"),
)
