"""JSON."""

from lineclear.code.languages.table import Language

JSON = Language(
    name="json",
    grammar="tree_sitter_json",
    keyed={"pair": "key"},
    outermost=("object",),
    lists=("array",),
    sequences=("array",),
    opaque=("comment", "string"),
    texts=("string",),
    is_data=True,
)
