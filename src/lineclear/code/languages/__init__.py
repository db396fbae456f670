"""The languages that we can read: one row here and one table in the language's module.

A table is loaded for the first file of its language.
"""

from __future__ import annotations

from functools import lru_cache
from importlib import import_module
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from lineclear.code.languages.table import Language

# name -> (module in this folder, which has the table under the name in capitals; endings of file names)
LANGUAGES: dict[str, tuple[str, tuple[str, ...]]] = {
    "python": ("python", (".py", ".pyi")),
    "typescript": ("typescript", (".ts", ".mts", ".cts")),
    "tsx": ("typescript", (".tsx",)),
    "javascript": ("typescript", (".js", ".jsx", ".mjs", ".cjs")),
    "go": ("go", (".go",)),
    "rust": ("rust", (".rs",)),
    "java": ("java", (".java",)),
    "css": ("css", (".css",)),
    "scss": ("css", (".scss",)),
    "c": ("cpp", (".c",)),
    "cpp": ("cpp", (".cc", ".cpp", ".cxx", ".h", ".hh", ".hpp", ".hxx")),
    "c_sharp": ("c_sharp", (".cs",)),
    "ruby": ("ruby", (".rb", ".rake", "Rakefile")),
    "php": ("php", (".php",)),
    "kotlin": ("kotlin", (".kt", ".kts")),
    "bash": ("bash", (".sh", ".bash")),
    "json": ("json", (".json",)),
    "toml": ("toml", (".toml",)),
    "yaml": ("yaml", (".yaml", ".yml")),
    "html": ("markup", (".html", ".htm")),
    "xml": ("markup", (".xml",)),
}


@lru_cache(maxsize=256)
def language_of(path: str) -> Language | None:
    """The language of a file, by its name; None if it is unknown."""
    for name, (_, endings) in LANGUAGES.items():
        if path.endswith(endings):
            return language_named(name)
    return None


@lru_cache
def language_named(name: str) -> Language:
    module = import_module(f"lineclear.code.languages.{LANGUAGES[name][0]}")
    return cast("Language", getattr(module, name.upper()))
