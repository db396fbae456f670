"""Ruby: methods, classes, modules, hash keys, tests by title."""

from lineclear.code.languages.table import Table

_ITEMS = ("method", "singleton_method", "class", "module")
TABLE = Table(
    members={"program": (*_ITEMS, "call"), "body_statement": (*_ITEMS, "call"), "hash": ("pair",)},
    keyed={"pair": "key"},
    calls=("it", "describe", "context", "specify", "test", "scenario", "feature"),
)
