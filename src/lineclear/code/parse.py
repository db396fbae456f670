"""Which grammar reads which file, and the parser for it. Nothing here knows how to merge or to verify.

tree-sitter and a grammar are imported when the first file of that language comes; without the wheel the
language is simply not known, and only the rules that need no tree apply.
"""

from __future__ import annotations

from functools import lru_cache

from lineclear.code.reparse import parse_beside

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tree_sitter import Parser, Tree

# language -> (module of the wheel, its function, endings of file names)
GRAMMARS: dict[str, tuple[str, str, tuple[str, ...]]] = {
    "python": ("tree_sitter_python", "language", (".py", ".pyi")),
    "typescript": ("tree_sitter_typescript", "language_typescript", (".ts", ".mts", ".cts")),
    "tsx": ("tree_sitter_typescript", "language_tsx", (".tsx",)),
    "javascript": ("tree_sitter_javascript", "language", (".js", ".jsx", ".mjs", ".cjs")),
    "go": ("tree_sitter_go", "language", (".go",)),
    "rust": ("tree_sitter_rust", "language", (".rs",)),
    "java": ("tree_sitter_java", "language", (".java",)),
    "css": ("tree_sitter_css", "language", (".css",)),
    "scss": ("tree_sitter_scss", "language", (".scss",)),
    "c": ("tree_sitter_c", "language", (".c",)),
    "cpp": ("tree_sitter_cpp", "language", (".cc", ".cpp", ".cxx", ".h", ".hh", ".hpp", ".hxx")),
    "c_sharp": ("tree_sitter_c_sharp", "language", (".cs",)),
    "ruby": ("tree_sitter_ruby", "language", (".rb", ".rake", "Rakefile")),
    "php": ("tree_sitter_php", "language_php", (".php",)),
    "kotlin": ("tree_sitter_kotlin", "language", (".kt", ".kts")),
    "bash": ("tree_sitter_bash", "language", (".sh", ".bash")),
    "json": ("tree_sitter_json", "language", (".json",)),
    "toml": ("tree_sitter_toml", "language", (".toml",)),
    "yaml": ("tree_sitter_yaml", "language", (".yaml", ".yml")),
    "html": ("tree_sitter_html", "language", (".html", ".htm")),
    "xml": ("tree_sitter_xml", "language_xml", (".xml",)),
}

MAX_KEPT_TREES = 4  # the mergers and the verifier read the same three texts, one after the other
_kept: dict[tuple[str, str], tuple[bytes, Tree]] = {}
_parsers: dict[str, Parser | None] = {}


@lru_cache(maxsize=256)
def language_of(path: str) -> str:
    """The language by the file's name, or an empty string."""
    for language, (_, _, endings) in GRAMMARS.items():
        if path.endswith(endings):
            return language
    return ""


def parse(language: str, text: str) -> Tree | None:
    """The tree, or None when the language or its wheel is not there."""
    parser = parser_of(language)
    if parser is None:
        return None
    kept = _kept.pop((language, text), None)
    if kept is None:
        source = text.encode("utf-8", "surrogatepass")
        kept = (source, parse_beside(parser, source, _last_of(language)))
        while len(_kept) >= MAX_KEPT_TREES:
            _kept.pop(next(iter(_kept)), None)
    _kept[language, text] = kept  # the last one asked for goes last
    return kept[1]


def parser_of(language: str) -> Parser | None:
    """For who reads a text that will not be asked for again."""
    if language not in _parsers:
        _parsers[language] = _load(language)
    return _parsers[language]


def _last_of(language: str) -> tuple[bytes, Tree] | None:
    """The text of this language that was read last, with its tree, unless that one has an error: another
    version of it would have it, too."""
    last = next((_kept[key] for key in reversed(_kept) if key[0] == language), None)
    return None if last is None or last[1].root_node.has_error else last


def forget_trees() -> None:
    """As in a process that has merged nothing yet: for whoever measures."""
    _kept.clear()


def _load(language: str) -> Parser | None:
    from importlib import import_module
    from warnings import catch_warnings, simplefilter

    if language not in GRAMMARS:
        return None
    module_name, function, _ = GRAMMARS[language]
    try:
        from tree_sitter import Language, Parser

        grammar = getattr(import_module(module_name), function)()
    except ImportError:
        return None
    with catch_warnings():
        simplefilter("ignore", DeprecationWarning)  # the scss wheel 1.0 gives its address as a number
        return Parser(Language(grammar))
