"""CSS and SCSS."""

from dataclasses import replace

from lineclear.code.languages.table import Language

CSS = Language(
    name="css",
    grammar="tree_sitter_css",
    keyed={"rule_set": "selector", "declaration": "property"},
    bodies=("block",),
    calls=("call_expression",),
    arguments=("arguments",),
    values=("identifier",),
    imports=("import_statement",),
    import_parents=("block",),
    texts=("string_value",),
)
SCSS = replace(CSS, name="scss", grammar="tree_sitter_scss")
