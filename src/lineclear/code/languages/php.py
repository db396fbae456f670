"""PHP: functions, types, methods."""

from lineclear.code.languages.table import Table

_ITEMS = (
    "function_definition",
    "class_declaration",
    "interface_declaration",
    "trait_declaration",
    "enum_declaration",
)
TABLE = Table(
    members={"program": (*_ITEMS, "expression_statement"), "declaration_list": ("method_declaration",)}
)
