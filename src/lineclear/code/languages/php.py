"""PHP."""

import re

from lineclear.code.languages.table import Language

_ITEMS = (
    "function_definition",
    "class_declaration",
    "interface_declaration",
    "trait_declaration",
    "enum_declaration",
)
PHP = Language(
    name="php",
    grammar="tree_sitter_php",
    grammar_function="language_php",
    definitions={
        "function_definition": "function",
        "method_declaration": "method",
        "class_declaration": "type",
        "interface_declaration": "type",
        "trait_declaration": "type",
        "enum_declaration": "type",
        "namespace_definition": "namespace",
        "property_declaration": "field",
    },
    keyed={"pair": "key"},
    bodies=("declaration_list",),
    members={"program": (*_ITEMS, "expression_statement"), "declaration_list": ("method_declaration",)},
    lists=("use_list",),
    calls=("member_call_expression", "scoped_call_expression"),
    arguments=("arguments",),
    values=("class_constant_access_expression", "attribute"),
    imports=("namespace_use_declaration",),
    imports_bind_names=True,
    import_line=re.compile(r"use\s+(?:function\s+|const\s+)?[\w\\]+"),
    import_words=("use",),
    import_end=re.compile(r"[^;]*;\s*(?://[^;\n]*)?$"),
    opaque=("comment", "string"),
    texts=("encapsed_string", "heredoc", "nowdoc_string", "string"),
)
