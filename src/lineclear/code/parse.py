"""The syntax tree of a text.

tree-sitter and a grammar are imported for the first file of a language. If the wheel is missing, only the
rules that need no tree apply to that language.
"""

from __future__ import annotations

import re
from importlib import import_module
from typing import TYPE_CHECKING
from warnings import catch_warnings, simplefilter

from lineclear.code.reparse import parse_beside

if TYPE_CHECKING:
    from tree_sitter import Parser, Tree

    from lineclear.code.languages.table import Language

MAX_SIZE = 1_500_000  # characters of a text; callers do not parse a larger one
MAX_KEPT_TREES = 4  # the mergers and the verifier read the same three texts, one after the other
MAX_YAML_LEVELS = 120
MAX_ELEMENT_LEVELS = 256
_MARKS = re.compile(r"(?:[-?:][ \t]+)*")  # several levels may begin on one line
_TAG = re.compile(r"<(/?)([A-Za-z][\w:.-]*)([^<>]*)")
_VOID = frozenset(
    ("area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr")
)
_kept: dict[tuple[str, str], tuple[bytes, Tree]] = {}
_parsers: dict[str, Parser | None] = {}


def parse(language: Language, text: str) -> Tree | None:
    """The tree, or None if the wheel of the language is not installed or the text is nested too deeply."""
    parser = parser_of(language)
    if parser is None or is_too_deep(language, text):
        return None
    kept = _kept.pop((language.name, text), None)
    if kept is None:
        source = text.encode("utf-8", "surrogatepass")
        kept = (source, parse_beside(parser, source, _last_of(language.name)))
        while len(_kept) >= MAX_KEPT_TREES:
            _kept.pop(next(iter(_kept)), None)
    _kept[language.name, text] = kept  # the most recently used goes last
    return kept[1]


def is_too_deep(language: Language, text: str) -> bool:
    """Does the text open more levels at once than its parser can bear?"""
    if language.name == "yaml":
        return _is_deep_yaml(text)
    return language.name in ("html", "xml") and _has_deep_elements(text)


def _has_deep_elements(text: str) -> bool:
    """The scanners of tree-sitter-xml (0.7) and tree-sitter-html (0.23) copy all open elements at each token:
    10,000 levels take seconds."""
    open_names: list[str] = []
    for closing, name, rest in _TAG.findall(text):
        if closing:
            while name in open_names and open_names.pop() != name:
                pass  # elements that nobody closed end with the one around them
        elif not rest.endswith("/") and name.lower() not in _VOID:
            open_names.append(name)
            if len(open_names) > MAX_ELEMENT_LEVELS:
                return True
    return False


def _is_deep_yaml(text: str) -> bool:
    """The scanner of tree-sitter-yaml (0.7) keeps its open levels in a buffer for about 250, and writes past
    its end."""
    open_levels: list[int] = []
    for line in text.split("\n"):
        words = line.lstrip(" ")
        if not words:
            continue
        indent = len(line) - len(words)
        while open_levels and open_levels[-1] >= indent:
            open_levels.pop()
        open_levels.append(indent)
        more = len(_MARKS.match(words)[0].replace(" ", ""))  # type: ignore[index]  # matches anything
        if len(open_levels) + more > MAX_YAML_LEVELS:
            return True
    return False


def parser_of(language: Language) -> Parser | None:
    """The parser itself, for a text that will be parsed only once; None if its wheel is not installed."""
    if language.name not in _parsers:
        _parsers[language.name] = _load(language)
    return _parsers[language.name]


def _last_of(language: str) -> tuple[bytes, Tree] | None:
    """The text of this language that was parsed last, with its tree; None if the tree has an error, which
    another version of the text would probably have too."""
    last = next((_kept[key] for key in reversed(_kept) if key[0] == language), None)
    return None if last is None or last[1].root_node.has_error else last


def forget_trees() -> None:
    """Empty the cache, for tests and measurements."""
    _kept.clear()


def _load(language: Language) -> Parser | None:
    try:
        from tree_sitter import Language as Grammar
        from tree_sitter import Parser

        grammar = getattr(import_module(language.grammar), language.grammar_function)()
    except ImportError:
        return None
    with catch_warnings():
        simplefilter("ignore", DeprecationWarning)  # the scss wheel 1.0 passes its pointer as an int
        return Parser(Grammar(grammar))
