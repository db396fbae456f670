"""The common part of all handlers by key: cut three texts, merge the entries, give up if a cut is not
exact."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lineclear.merge.engine import FileMerge
from lineclear.merge.handlers.keyed import KeyedEntry, Undecided, merge_entries
from lineclear.merge.result import MergeResult

if TYPE_CHECKING:
    from collections.abc import Callable

    from lineclear.merge.handlers.keyed import Choose

DEEPEST = 60  # nesting beyond this is not a file that people edit


def merge_by_key(
    cut: Callable[[str], KeyedEntry],
    choose: Choose,
    base: str,
    left: str,
    right: str,
    rule: str,
    *,
    is_exact: bool = False,
) -> MergeResult | None:
    """The merged file; None if a text does not have the form. Raises `RivalChanges` if both sides want
    something different. `is_exact`: the caller has checked that the joined entries give each text again."""
    texts = (base, left, right)
    try:
        trees = [cut(text) for text in texts]
        if not is_exact and any(tree.write() != text for tree, text in zip(trees, texts, strict=True)):
            return None
        merged = merge_entries(trees[0], trees[1], trees[2], choose)
    except Undecided:
        return None
    return MergeResult(merged.write(), rules=[("file", rule)])


def as_text(path: str) -> Choose:
    """Merges one entry by the rules for hunks, as if it were the whole file."""

    def choose(_where: tuple[str, ...], base: str, left: str, right: str) -> str | None:
        return FileMerge.merge_text(path, base, left, right)

    return choose


def never(_where: tuple[str, ...], _base: str, _left: str, _right: str) -> str | None:
    """For entries that are never merged: two different changes have no result."""
    return None


def first_of(*rules: Choose) -> Choose:
    def choose(where: tuple[str, ...], base: str, left: str, right: str) -> str | None:
        for rule in rules:
            text = rule(where, base, left, right)
            if text is not None:
                return text
        return None

    return choose
