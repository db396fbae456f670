"""Syntax trees of the three versions, made when a rule first asks for them; tables of languages."""

from __future__ import annotations

from lineclear.merge.grammars import parse

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tree_sitter import Node

    from lineclear.merge.syntax.table import Table

# language -> module in `languages`
_TABLES = {
    "python": "python",
    "typescript": "typescript",
    "tsx": "typescript",
    "javascript": "typescript",
    "go": "go",
    "rust": "rust",
    "java": "java",
    "c": "cpp",
    "cpp": "cpp",
    "c_sharp": "c_sharp",
    "ruby": "ruby",
    "php": "php",
    "kotlin": "kotlin",
    "bash": "bash",
}


def table_of(language: str) -> Table | None:
    from importlib import import_module

    if language not in _TABLES:
        return None
    module = import_module(f"lineclear.merge.syntax.languages.{_TABLES[language]}")
    table: Table = module.TABLE
    return table


class Trees:
    """The root nodes of base, left and right; None where there is no grammar."""

    __slots__ = ("language", "texts", "_roots")

    def __init__(self, language: str, base: str, left: str, right: str) -> None:
        self.language = language
        self.texts = (base, left, right)
        self._roots: dict[int, Node | None] = {}

    def root(self, version: int) -> Node | None:
        """0 base, 1 left, 2 right."""
        if version not in self._roots:
            tree = parse(self.language, self.texts[version])
            self._roots[version] = tree.root_node if tree else None
        return self._roots[version]
