"""What every handler by key does: cut three texts, merge the entries, refuse where the cut is not exact."""

from __future__ import annotations

from typing import TYPE_CHECKING

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
    """None: a text does not have the form. Raises `RivalChanges` if two wishes cannot both be met.
    `is_exact`: the caller has made sure that the entries of each text give that text again."""
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
    """For one entry: the rules for plain lines and tokens, as if it were the whole file."""

    def choose(_where: tuple[str, ...], base: str, left: str, right: str) -> str | None:
        from lineclear.merge.engine import FileMerge

        return FileMerge.merge_text(path, base, left, right)

    return choose


def first_of(*rules: Choose) -> Choose:
    def choose(where: tuple[str, ...], base: str, left: str, right: str) -> str | None:
        for rule in rules:
            text = rule(where, base, left, right)
            if text is not None:
                return text
        return None

    return choose
