"""Bash."""

from lineclear.code.languages.table import Language

BASH = Language(
    name="bash",
    grammar="tree_sitter_bash",
    definitions={"function_definition": "function"},
    members={"program": ("function_definition",)},
    lists=("list", "array"),
    opaque=("comment", "string"),
    texts=(
        "ansi_c_string",
        "heredoc_body",
        "heredoc_redirect",
        "herestring_redirect",
        "raw_string",
        "string",
        "translated_string",
    ),
    is_indented=True,
)
