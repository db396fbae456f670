"""Tables of languages."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from lineclear.code.languages.table import Table

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
    module = import_module(f"lineclear.code.languages.{_TABLES[language]}")
    table: Table = module.TABLE
    return table
