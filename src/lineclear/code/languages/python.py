"""Python."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from lineclear.code.languages.table import Language
from lineclear.code.nodes import flat_text

if TYPE_CHECKING:
    from tree_sitter import Node


def _imported(node: Node) -> list[str]:
    names = [flat_text(name) for name in node.children_by_field_name("name")]
    if node.type == "import_statement":
        return [f"import {name}" for name in names]
    module = node.child_by_field_name("module_name")
    source = flat_text(module) if module else "__future__"
    return [f"{source}: {name}" for name in names] or [flat_text(node)]


_DEFINITIONS = ("function_definition", "class_definition", "decorated_definition")
PYTHON = Language(
    name="python",
    grammar="tree_sitter_python",
    definitions={
        "function_definition": "function",
        "class_definition": "type",
        "typed_parameter": "parameter",
        "keyword_argument": "argument",
    },
    keyed={"pair": "key", "case_clause": "case"},
    wrappers=("decorated_definition",),
    bodies=("block", "decorated_definition"),
    name_fields={"pair": "key"},
    members={
        "module": (*_DEFINITIONS, "expression_statement"),
        "block": (*_DEFINITIONS, "expression_statement"),
        "dictionary": ("pair",),
        "set": ("string", "identifier"),
        "list": ("string",),
        "argument_list": ("keyword_argument",),
    },
    lists=("list", "set"),
    registries=("list",),
    calls=("call",),
    arguments=("argument_list",),
    values=("identifier", "attribute"),
    objects=("dictionary",),
    imports=("import_statement", "import_from_statement", "future_import_statement"),
    import_parents=("if_statement", "try_statement", "except_clause", "block"),
    imported=_imported,
    imports_bind_names=True,
    import_line=re.compile(r"from\s+[.\w]+\s+import\b|import\s+\w"),
    import_words=("from", "import"),
    import_names=re.compile(r"(?s)(from\s+\S+\s+import\s+)\(?(?P<names>[^()#]*?),?\s*\)?\s*$"),
    line_width=88,
    opaque=("comment", "string"),
    texts=("string", "concatenated_string"),
    is_indented=True,
    is_scanned_by_row=True,
)
