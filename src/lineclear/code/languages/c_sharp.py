"""C#: types, members, enum members."""

from lineclear.code.languages.table import Table

_MEMBERS = (
    "method_declaration",
    "constructor_declaration",
    "property_declaration",
    "class_declaration",
    "interface_declaration",
    "struct_declaration",
    "record_declaration",
    "enum_declaration",
)
TABLE = Table(members={"compilation_unit": _MEMBERS, "declaration_list": _MEMBERS}, overloads=True)
