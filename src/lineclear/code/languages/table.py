"""What a merge must know of a language: which places have no order, and what names the things in them.

A language is one module in `languages/` with a TABLE; anything not named in it is order-sensitive.
"""

from __future__ import annotations


class Table:
    """`members`: parent node type -> node types that may be added by both sides when their names differ.

    `attached`: types that belong to the member behind them (comments, attributes). `keyed`: the field that
    names a member, where it is not `name`. `calls`: functions whose calls register something under their
    first argument, a string. `lists`: types whose elements have no order where the list is a registry.
    """

    __slots__ = ("members", "attached", "keyed", "calls", "wrappers", "overloads", "separators", "lists")

    def __init__(
        self,
        members: dict[str, tuple[str, ...]],
        attached: tuple[str, ...] = ("comment",),
        keyed: dict[str, str] | None = None,
        calls: tuple[str, ...] = (),
        wrappers: tuple[str, ...] = (),
        overloads: bool = False,
        separators: tuple[str, ...] = (",", ";"),
        lists: tuple[str, ...] = (),
    ) -> None:
        self.members = members
        self.attached = attached
        self.keyed = keyed or {}
        self.calls = calls
        self.wrappers = wrappers
        self.overloads = overloads
        self.separators = separators
        self.lists = lists
