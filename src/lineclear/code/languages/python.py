"""Python: functions and classes, dictionary keys, names in `__all__`-like lists."""

from lineclear.code.languages.table import Table

_DEFINITIONS = ("function_definition", "class_definition", "decorated_definition")
TABLE = Table(
    members={
        "module": (*_DEFINITIONS, "expression_statement"),
        "block": (*_DEFINITIONS, "expression_statement"),
        "dictionary": ("pair",),
        "set": ("string", "identifier"),
        "list": ("string",),
        "argument_list": ("keyword_argument",),
    },
    keyed={"pair": "key"},
    wrappers=("decorated_definition",),
    lists=("list",),
)
