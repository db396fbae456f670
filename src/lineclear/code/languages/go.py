"""Go."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from lineclear.code.languages.table import Language
from lineclear.code.nodes import flat_text

if TYPE_CHECKING:
    from tree_sitter import Node


def _imported(node: Node) -> list[str]:
    """Nothing for a declaration: each spec inside it is read separately."""
    return [] if node.type == "import_declaration" else [flat_text(node)]


GO = Language(
    name="go",
    grammar="tree_sitter_go",
    definitions={
        "function_declaration": "function",
        "method_declaration": "method",
        "type_spec": "type",
        "const_spec": "constant",
        "var_spec": "variable",
        "field_declaration": "field",
    },
    keyed={"keyed_element": "key", "expression_case": "case", "type_case": "case"},
    groups=("type_declaration", "const_declaration"),
    bodies=("field_declaration_list", "block"),
    name_fields={"keyed_element": "key"},
    members={
        "source_file": ("function_declaration", "method_declaration", "type_declaration"),
        "field_declaration_list": ("field_declaration",),
        "interface_type": ("method_elem",),
        "literal_value": ("keyed_element",),
        "var_spec_list": ("var_spec",),
        "statement_list": ("expression_statement",),
    },
    lists=("literal_value",),
    calls=("call_expression",),
    arguments=("argument_list",),
    values=("identifier",),
    imports=("import_declaration", "import_spec"),
    import_parents=("import_declaration", "import_spec_list"),
    imported=_imported,
    import_line=re.compile(r"(?:import\s+)?(?:[\w.]+\s+)?\"[^\"]+\"\s*(?://.*)?$"),
    import_words=("",),
    opaque=("comment", "raw_string_literal"),
    texts=("interpreted_string_literal", "raw_string_literal"),
)
