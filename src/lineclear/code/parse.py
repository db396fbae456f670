"""The syntax tree of a text. Nothing here knows what a tree is read for.

tree-sitter and a grammar are imported when the first file of that language comes; without the wheel the
language is simply not known, and only the rules that need no tree apply.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lineclear.code.reparse import parse_beside

if TYPE_CHECKING:
    from tree_sitter import Parser, Tree

    from lineclear.code.languages.table import Language

MAX_KEPT_TREES = 4  # the mergers and the verifier read the same three texts, one after the other
_kept: dict[tuple[str, str], tuple[bytes, Tree]] = {}
_parsers: dict[str, Parser | None] = {}


def parse(language: Language, text: str) -> Tree | None:
    """The tree, or None when the wheel of the language is not there."""
    parser = parser_of(language)
    if parser is None:
        return None
    kept = _kept.pop((language.name, text), None)
    if kept is None:
        source = text.encode("utf-8", "surrogatepass")
        kept = (source, parse_beside(parser, source, _last_of(language.name)))
        while len(_kept) >= MAX_KEPT_TREES:
            _kept.pop(next(iter(_kept)), None)
    _kept[language.name, text] = kept  # the last one asked for goes last
    return kept[1]


def parser_of(language: Language) -> Parser | None:
    """For a text that will not be asked for again."""
    if language.name not in _parsers:
        _parsers[language.name] = _load(language)
    return _parsers[language.name]


def _last_of(language: str) -> tuple[bytes, Tree] | None:
    """The text of this language that was read last, with its tree, unless that one has an error: another
    version of it would have it, too."""
    last = next((_kept[key] for key in reversed(_kept) if key[0] == language), None)
    return None if last is None or last[1].root_node.has_error else last


def forget_trees() -> None:
    """As in a process that has parsed nothing yet, for measurements."""
    _kept.clear()


def _load(language: Language) -> Parser | None:
    from importlib import import_module
    from warnings import catch_warnings, simplefilter

    try:
        from tree_sitter import Language as Grammar
        from tree_sitter import Parser

        grammar = getattr(import_module(language.grammar), language.grammar_function)()
    except ImportError:
        return None
    with catch_warnings():
        simplefilter("ignore", DeprecationWarning)  # the scss wheel 1.0 gives its address as a number
        return Parser(Grammar(grammar))
