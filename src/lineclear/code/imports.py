"""What an import statement brings into its file, and under which name."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from lineclear.code.nodes import flat_text

if TYPE_CHECKING:
    from tree_sitter import Node

    from lineclear.code.languages.table import Language

_WORD = re.compile(r"\w+")
_NAME = re.compile(r"[A-Za-z_]\w*(?:\.\d+)*")
_NO_NAME = re.compile(r"v\d+(?:\.\d+)*|self|super|crate|go")  # `semconv/v1.4.0` is called semconv


def imported_names(language: Language, node: Node) -> list[str]:
    """One text per imported name, with its module; the whole statement if it names nothing."""
    return language.imported(node) if language.imported else [flat_text(node)]


def name_bound_by(language: Language, imported: str) -> str:
    """The name that this import defines, which nothing else in the file may have; "" if it defines none."""
    if not language.imports_bind_names or imported.rstrip("; ").endswith(("*", "self", "_")):
        return ""
    return str(_WORD.findall(imported)[-1])


def name_used_for(language: Language, imported: str) -> str:
    """The name under which the program uses the import; "" if the import does not say."""
    if not language.imports_tell_names:
        return ""
    words = [word for word in _NAME.findall(imported) if not _NO_NAME.fullmatch(word)]
    return words[-1] if words else ""
