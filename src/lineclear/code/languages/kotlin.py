"""Kotlin: functions, types, objects."""

from lineclear.code.languages.table import Table

_ITEMS = ("function_declaration", "class_declaration", "object_declaration")
TABLE = Table(
    members={"source_file": _ITEMS, "class_body": _ITEMS},
    attached=("line_comment", "block_comment"),
    overloads=True,
)
