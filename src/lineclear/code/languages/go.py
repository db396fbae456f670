"""Go: functions, methods, types, constants, fields, keyed elements of literals."""

from lineclear.code.languages.table import Table

TABLE = Table(
    members={
        "source_file": ("function_declaration", "method_declaration", "type_declaration"),
        "field_declaration_list": ("field_declaration",),
        "interface_type": ("method_elem",),
        "literal_value": ("keyed_element",),
        "var_spec_list": ("var_spec",),
        "statement_list": ("expression_statement",),
    },
    keyed={"keyed_element": "key"},
)
