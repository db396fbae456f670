"""Style sheets by rule and property. The order of rules is the cascade, so rules are never combined.

Properties that both sides add to one rule are combined if neither can override the other: `color` and
`margin` are, `margin` and `margin-left` are not. A selector that both sides add is a conflict.
"""

from __future__ import annotations

import re
from itertools import pairwise

from lineclear.merge.handlers.by_key import DEEPEST, as_text, merge_by_key
from lineclear.merge.handlers.keyed import KeyedEntry, RivalChanges, Undecided
from lineclear.merge.handlers.pieces import Pieces
from lineclear.merge.result import Labels, MergeResult

_PARTS = re.compile(
    r"""/\*.*?\*/|//[^\n]*|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|\#\{[^}]*\}|url\([^)]*\)|[{};]"""
    r"""|(?:u(?!rl\()|[^{};"'/#u])[^{};"'/#u]*(?:u(?!rl\()[^{};"'/#u]*)*|.""",
    re.S,
)
_OPENING = ("/", '"', "'", "#", "u")  # a part that is just one of these may begin something that does not end
_UNENDED = re.compile(r"""/\*|["']|\#\{|url\(""")
_LAST_ROW = re.compile(r"^\}", re.M)
_COMMENT = re.compile(r"/\*.*?\*/|(?<!:)//[^\n]*", re.S)
_DECLARATION = re.compile(r"(--[\w-]+|[$@]?[\w-]+)\s*:(?!:)")


def merge(path: str, base: str, left: str, right: str, _labels: Labels) -> MergeResult | None:
    pieces = Pieces(_part, _read)
    try:
        trees = {text: pieces.cut(text) for text in (base, left, right)}
        is_ordered = _orders(trees[base], trees[left], trees[right])
    except Undecided:
        return None
    for where in is_ordered:
        for root in trees.values():
            _mark(root, where)
    cut = trees.__getitem__
    return merge_by_key(cut, as_text(path), base, left, right, is_exact=True, rule="rules and properties")


def _part(text: str) -> list[str]:
    """Split after each bracket that closes a rule at the beginning of a line."""
    ends = [found.end() for found in _LAST_ROW.finditer(text)]
    return [text[start:end] for start, end in pairwise([0, *ends, len(text)])]


def _read(text: str, is_whole: bool) -> tuple[list[KeyedEntry], str]:
    root = KeyedEntry("", "", "", [])
    stack = [root]
    waiting = ""
    for found in _PARTS.finditer(text):
        part = found[0]
        waiting += part
        if part == "{":
            entry = _named(waiting, [])
            stack[-1].add(entry)
            stack.append(entry)
        elif part == ";":
            stack[-1].add(_named(waiting, None))
        elif part == "}":
            _close(stack, waiting)
        elif part in _OPENING and not is_whole and _UNENDED.match(text, found.start()):
            raise Undecided("something may end in another piece")
        if part in ("{", ";", "}"):
            waiting = ""
        if len(stack) > DEEPEST:
            raise Undecided("nested too deep")
    if len(stack) != 1 or _plain(waiting):
        raise Undecided("a rule does not end")
    return root.children or [], waiting


def _close(stack: list[KeyedEntry], waiting: str) -> None:
    """End a rule. Its last declaration may lack its semicolon; then nothing can be added after it."""
    if len(stack) == 1 or _plain(waiting.removesuffix("}")):
        raise Undecided("not plain rules and declarations")
    stack.pop().tail = waiting


def _named(text: str, children: list[KeyedEntry] | None) -> KeyedEntry:
    own = text.lstrip()
    while own.startswith(("/*", "//")):
        own = own.partition("*/" if own.startswith("/*") else "\n")[2].lstrip()
    lead = text[: len(text) - len(own)]
    plain = " ".join(_plain(own.rstrip("{;")).split())
    found = _DECLARATION.match(plain) if children is None else None
    return KeyedEntry(found[1] if found else f"rule {plain}", lead, own, children)


def _plain(text: str) -> str:
    return (_COMMENT.sub("", text) if "/" in text else text).strip()


# -- where the order matters -------------------------------------------------------------------


def _orders(
    base: KeyedEntry, left: KeyedEntry, right: KeyedEntry, where: tuple[str, ...] = ()
) -> set[tuple[str, ...]]:
    """The paths of the rules in which both sides add something that could override the other's."""
    old, ours, theirs = (_children(entry) for entry in (base, left, right))
    mine, yours = [key for key in ours if key not in old], [key for key in theirs if key not in old]
    for key in sorted(set(mine) & set(yours)):
        if ours[key].children is not None and ours[key].own().split() != theirs[key].own().split():
            raise RivalChanges(f"both sides added `{key}`", key)
    found = {where} if any(_can_override(one, other) for one in mine for other in yours) else set()
    for key, entry in old.items():
        if entry is ours.get(key) is theirs.get(key) or entry.children is None:
            continue
        if key in ours and key in theirs:
            found |= _orders(entry, ours[key], theirs[key], (*where, key))
    return found


def _children(entry: KeyedEntry) -> dict[str, KeyedEntry]:
    return {child.key: child for child in entry.children or []}


def _can_override(one: str, other: str) -> bool:
    if one == other:
        return False
    if one.startswith(("rule ", "$", "@")) or other.startswith(("rule ", "$", "@")):
        return True
    first, second = (key.lstrip("-").split("-") for key in (one, other))
    return first[0] == second[0] or "all" in (one, other)


def _mark(entry: KeyedEntry, where: tuple[str, ...]) -> None:
    if not where:
        entry.is_ordered = True
    for child in entry.children or [] if where else ():
        if child.key == where[0]:
            _mark(child, where[1:])
