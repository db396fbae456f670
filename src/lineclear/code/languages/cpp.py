"""C and C++: functions and named types at file or namespace level."""

from lineclear.code.languages.table import Table

_ITEMS = ("function_definition", "struct_specifier", "enum_specifier", "class_specifier")
TABLE = Table(
    members={"translation_unit": _ITEMS, "declaration_list": _ITEMS},
    keyed={"function_definition": "declarator"},
    overloads=True,
)
