"""TOML."""

from lineclear.code.languages.table import Language

TOML = Language(
    name="toml",
    grammar="tree_sitter_toml",
    keyed={"pair": "key", "table": "table"},
    lists=("array",),
    sequences=("array", "table_array_element"),
    opaque=("comment", "string"),
    texts=("string",),
    is_data=True,
    is_scanned_by_row=True,
)
