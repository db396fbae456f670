"""The calls in a program: receiver, name and arguments."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from lineclear.code.nodes import flat_text

if TYPE_CHECKING:
    from tree_sitter import Node

    from lineclear.code.languages.table import Language

_CALLED = re.compile(r"(?s)(?:(.*?)(?:\.|::|->))?(\w+)")


def read_call(language: Language, node: Node) -> tuple[str, str, list[Node]]:
    """(receiver, name, arguments) of a call, each empty if it has none; all empty for any other node."""
    if node.type not in language.calls:
        return "", "", []
    function = node.child_by_field_name("function")
    if function is not None:
        found = _CALLED.fullmatch(flat_text(function))
        receiver, name = (found[1] or "", found[2]) if found else ("", "")
    else:
        fields = (node.child_by_field_name(field) for field in ("object", "scope", "receiver"))
        receiver = next((flat_text(field) for field in fields if field is not None), "")
        method = node.child_by_field_name("name") or node.child_by_field_name("method")
        name = flat_text(method) if method is not None else ""
    passed = node.child_by_field_name("arguments")
    arguments = list(passed.named_children) if passed is not None else []
    plain = [part.named_children[0] if part.type == "argument" else part for part in arguments]
    return receiver, name, plain
