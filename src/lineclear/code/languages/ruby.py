"""Ruby."""

from lineclear.code.languages.table import Language

_ITEMS = ("method", "singleton_method", "class", "module")
RUBY = Language(
    name="ruby",
    grammar="tree_sitter_ruby",
    definitions={"method": "method", "singleton_method": "method", "class": "type", "module": "type"},
    keyed={"pair": "key"},
    bodies=("body_statement", "block"),
    name_fields={"pair": "key"},
    members={"program": (*_ITEMS, "call"), "body_statement": (*_ITEMS, "call"), "hash": ("pair",)},
    lists=("array",),
    calls=("call",),
    arguments=("argument_list",),
    values=("identifier",),
    titled_calls=("it", "describe", "context", "specify", "test", "scenario", "feature"),
    opaque=("comment", "string"),
    texts=("chained_string", "heredoc_body", "string", "string_array"),
)
