"""TypeScript, TSX and JavaScript with JSX."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from lineclear.code.languages.table import Language
from lineclear.code.nodes import flat_text

if TYPE_CHECKING:
    from tree_sitter import Node


def _imported(node: Node) -> list[str]:
    text = flat_text(node)
    source = node.child_by_field_name("source")
    clause = next((child for child in node.named_children if child.type == "import_clause"), None)
    if source is None or clause is None:
        return [text.rstrip(";")]
    is_type = text.startswith("import type")
    origin = flat_text(source).strip("'\"") + (" (type)" if is_type else "")
    names = []
    for part in clause.named_children:
        if part.type == "named_imports":
            specifiers = [child for child in part.named_children if child.type == "import_specifier"]
            names += [f"{origin}: {flat_text(specifier)}" for specifier in specifiers]
        else:
            names.append(f"{origin}: {flat_text(part)}")
    return names or [text.rstrip(";")]


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
_DEFINITIONS = {
    "function_declaration": "function",
    "generator_function_declaration": "function",
    "method_definition": "method",
    "class_declaration": "type",
    "class": "type",
    "variable_declarator": "variable",
}
_TYPED = _DEFINITIONS | {
    "abstract_class_declaration": "type",
    "interface_declaration": "type",
    "enum_declaration": "type",
    "type_alias_declaration": "type",
    "module": "type",
    "internal_module": "namespace",
    "public_field_definition": "field",
    "property_signature": "field",
    "required_parameter": "parameter",
}
TYPESCRIPT = Language(
    name="typescript",
    grammar="tree_sitter_typescript",
    grammar_function="language_typescript",
    definitions=_TYPED,
    keyed={"pair": "key", "switch_case": "case", "enum_assignment": "case"},
    wrappers=("export_statement",),
    groups=("lexical_declaration",),
    bodies=("class_body", "interface_body", "enum_body", "object_type", "export_statement"),
    name_fields={"pair": "key", "field_definition": "property"},
    overloads=True,
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
    lists=("array",),
    registries=("array",),
    calls=("call_expression",),
    arguments=("arguments",),
    values=("identifier", "member_expression", "new_expression"),
    objects=("object",),
    titled_calls=("it", "test", "describe", "context", "specify"),
    imports=("import_statement",),
    imported=_imported,
    imports_bind_names=True,
    import_line=re.compile(
        r"import\b(?!\s*\()|export\s+(?:type\s+)?(?:\*|\{)|(?:const|let|var)\s+[\w{].*=\s*require\("
    ),
    import_words=("import", "export", "const", "let", "var"),
    import_end=re.compile(r"(?s).*[\"'][^\"']*[\"']\)?\s*;?\s*(?://[^\n]*)?$"),
    import_names=re.compile(r"(?s)((?:import|export)[^{]*)\{(?P<names>[^{}]*?),?\s*\}(?P<rest>[^{}]*)$"),
    opaque=("comment", "string", "template_string"),
    texts=("string", "template_string", "template_literal_type", "jsx_text"),
)
TSX = replace(
    TYPESCRIPT,
    name="tsx",
    grammar_function="language_tsx",
    definitions=_TYPED | {"jsx_attribute": "attribute"},
)
JAVASCRIPT = replace(
    TYPESCRIPT,
    name="javascript",
    grammar="tree_sitter_javascript",
    grammar_function="language",
    definitions=_DEFINITIONS | {"jsx_attribute": "attribute"},
    keyed={"pair": "key", "switch_case": "case"},
    bodies=("class_body", "export_statement"),
    overloads=False,
)
