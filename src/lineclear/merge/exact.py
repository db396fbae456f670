"""Rules for one hunk that need no guess: only blanks differ, one side includes the other, version numbers.

Each takes the three texts of the hunk and returns the merged text, or None.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

from lineclear.merge.diff import Edit, Steps, edits
from lineclear.merge.likeness import is_edit_of
from lineclear.merge.lines import split_lines
from lineclear.merge.tokens import split_code

if TYPE_CHECKING:
    from collections.abc import Callable

# As everywhere in merge/, digits are counted: a number of thousands of them is text, and `int` refuses it.
_VERSION = re.compile(r"(?<![\w.])v?\d{1,18}(?:\.\d{1,18})+(?:[-.+]?[A-Za-z]+[-.]?\d*)*(?![\w.])")
_VERSION_CONTEXT = re.compile(
    r"version|release|tag|[=~^<>]=?\s*[\"']?v?\d|@v?\d|:v?\d+\.\d+\.\d|[\"'][~^<>=]*v?\d+\.\d+\.\d", re.I
)
_NAME = re.compile(r"[A-Za-z_]\w*$")
_SAYS_SOMETHING = re.compile(r"[A-Za-z]{3}")
_WORDS = re.compile(
    r"""\s+|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|v?\d+(?:\.\d+)+[\w.+-]*|\w+|[^\w\s]""",
)
_AUTHOR = re.compile(r"\s*(?:\*|//[/!]?|#)\s*@author\s+\S")
_PARTING = frozenset(",;")
_COMMON_SIGNS = frozenset(",;.:=<>&|!?+-*/(){}[]\"'`")  # without the `#` of a comment
MAX_WORDS = 20_000
MAX_PAIRS = 400


def only_blanks(base: str, left: str, right: str, *, inside: str) -> str | None:
    """The merged text if one side changed only blanks, or the sides differ only in blanks.

    `inside` says which blanks do not matter: all of them ("code"), all except indentation ("indented code"),
    or only those at the end of a line ("text").
    """
    squeezed = ["".join(text.split()) for text in (base, left, right)]
    if len(set(squeezed)) == 3:
        return None
    b, lt, r = (_visible(text, inside) for text in (base, left, right))
    if lt == b:
        return right
    if r in (b, lt):
        return left
    return None


def visible_line(inside: str) -> Callable[[str], str]:
    """A function that gives a line without the blanks that do not matter, as in `only_blanks`."""

    def shown(line: str) -> str:
        if inside == "text":
            return line.rstrip()
        return "\0".join(_visible(line, inside))

    return shown


def _visible(text: str, inside: str) -> list[str]:
    if inside == "text":
        return [line.rstrip() for line in text.split("\n")]
    if inside == "code":
        return [token for token in split_code(text) if not token.isspace()]
    shown: list[str] = []
    for line in text.split("\n"):
        if line.strip():
            shown.append(line[: len(line) - len(line.lstrip())] + "\n")
            shown += [token for token in split_code(line) if not token.isspace()]
    return shown


def one_holds_the_other(base: str, left: str, right: str, steps: Steps) -> str | None:
    """The side that made every change of the other, and more. Removing everything does not include an
    edit."""
    b, lt, r = split_lines(base), split_lines(left), split_lines(right)
    if base.strip() and bool(left.strip()) != bool(right.strip()):
        return None
    if _is_between(b, lt, r, steps):
        return right
    if _is_between(b, r, lt, steps):
        return left
    return None


def _is_between(b: list[str], middle: list[str], far: list[str], steps: Steps) -> bool:
    """Is `middle` the same as `b` with some of the edits that lead to `far`, each taken whole or clearly
    cut?"""
    at_m = at_b = 0
    for a0, a1, f0, f1 in [*edits(b, far, steps), (len(b), len(b), len(far), len(far))]:
        kept = b[at_b:a0]
        if middle[at_m : at_m + len(kept)] != kept:
            return False
        at_m += len(kept)
        at_b = a1
        taken = _covered(b[a0:a1], far[f0:f1], middle, at_m)
        if taken is None:
            return False
        at_m += taken
    return at_m == len(middle) and steps.left > 0


def _covered(gone: list[str], come: list[str], middle: list[str], at: int) -> int | None:
    """How many lines of `middle` from `at` this edit explains; None if it explains them badly."""
    if gone and come:
        for whole in (come, gone):
            if middle[at : at + len(whole)] == whole:
                return len(whole)
        taken = _taken(come, middle, at)
        kept = middle[at : at + taken]
        more = [line for line in come if line.strip() and line not in kept]
        if len(gone) * len(more) > MAX_PAIRS or any(is_edit_of(old, new) for old in gone for new in more):
            return None  # the additional lines of one side may be those that the other side removed
        dropped = _names_in(gone) - _names_in(kept)
        if any(not dropped.isdisjoint(_names_in([line])) for line in more):
            return None  # the same, if the lines were wrapped differently
        return taken if any(_SAYS_SOMETHING.search(line) for line in kept) else None
    return _taken(gone or come, middle, at)


def _names_in(lines: list[str]) -> set[str]:
    return {word for line in lines for word in _words(line) if _NAME.match(word)}


def _taken(pool: list[str], middle: list[str], at: int) -> int:
    """How many lines of `middle` from `at` on are in the pool, in its order."""
    taken = used = 0
    while at + taken < len(middle):
        place = used
        while place < len(pool) and pool[place] != middle[at + taken]:
            place += 1
        if place == len(pool):
            break
        used = place + 1
        taken += 1
    return taken


def one_holds_the_others_words(base: str, left: str, right: str, steps: Steps) -> str | None:
    """Like `one_holds_the_other`, by words: the side that made the same edits within the lines, and more."""
    b, lt, r = (_words(text) for text in (base, left, right))
    if max(len(b), len(lt), len(r)) > MAX_WORDS:
        return None
    if _goes_on_from(b, lt, r, steps):
        return right
    if _goes_on_from(b, r, lt, steps):
        return left
    return None


def _words(text: str) -> list[str]:
    """The words without blanks; a number with dots is one word, so that a part of a version never matches."""
    return [word for word in _WORDS.findall(text) if not word.isspace()]


def _goes_on_from(b: list[str], near: list[str], far: list[str], steps: Steps) -> bool:
    """Is `far` the same as `near` with additions that restore nothing `near` removed and split nothing it
    added?"""
    if Counter(near) - Counter(far):
        return False
    more = edits(near, far, steps)
    if steps.left <= 0 or any(a0 != a1 for a0, a1, _, _ in more):
        return False
    done = edits(b, near, steps)
    dropped = {word for a0, a1, _, _ in done for word in b[a0:a1] if word not in _COMMON_SIGNS}
    added = {place for edit in done for place in _added_places(near, edit)}
    said = dropped | {near[place] for place in added}
    if not any(_SAYS_SOMETHING.search(word) for word in said):
        return False
    return all(
        dropped.isdisjoint(far[f0:f1]) and (not {a0 - 1, a0} <= added or _is_item(far[f0:f1]))
        for a0, _, f0, f1 in more
    )


def _added_places(near: list[str], edit: Edit) -> range:
    """Where the new words of an edit may be: the new `b,` in `a, b, b,` may be the first or the second."""
    a0, a1, start, end = edit
    if a0 == a1:
        while start > 0 and near[start - 1] == near[end - 1 - (edit[2] - start)]:
            start -= 1
        while end < len(near) and near[end] == near[edit[2] + (end - edit[3])]:
            end += 1
    return range(start, end)


def _is_item(words: list[str]) -> bool:
    """Is it a whole argument, element or statement, with its own comma or semicolon?"""
    return words[0] in _PARTING or words[-1] in _PARTING


def named_by_both(base: str, left: str, right: str) -> str | None:
    """Both names, if both sides added an author to the list in a documentation comment."""
    ours, theirs = split_lines(left), split_lines(right)
    if base.strip() or not all(_AUTHOR.match(line) for line in [*ours, *theirs]):
        return None
    return "".join([*ours, *(line for line in theirs if line not in ours)]) if ours and theirs else None


def is_renamed_under(base: str, left: str, right: str, steps: Steps) -> bool:
    """Did one side rename something throughout the hunk, while the other uses the old name more often?"""
    b, lt, r = (_words(text) for text in (base, left, right))
    return _is_used_more(b, r, _renamed(b, lt, steps)) or _is_used_more(b, lt, _renamed(b, r, steps))


def _renamed(b: list[str], side: list[str], steps: Steps) -> set[str]:
    return {
        b[a0]
        for a0, a1, s0, s1 in edits(b, side, steps)
        if a1 - a0 == s1 - s0 == 1 and _NAME.match(b[a0]) and _NAME.match(side[s0]) and b[a0] not in side
    }


def _is_used_more(b: list[str], side: list[str], names: set[str]) -> bool:
    return any(side.count(name) > b.count(name) for name in names)


def line_by_line(base: str, left: str, right: str) -> tuple[str, str] | None:
    """(rule, text) if no line was added or removed and every line can be decided.

    A line that one side changed is that side's; if both raised the same version number, the higher one wins.
    """
    b, lt, r = split_lines(base), split_lines(left), split_lines(right)
    if not (len(b) == len(lt) == len(r)):
        return None
    rule, out = "neighbouring lines", []
    for old, ours, theirs in zip(b, lt, r, strict=True):
        line = _changed_once(old, ours, theirs)
        if line is None:
            rule, line = "version", _higher_line(old, ours, theirs)
        if line is None:
            return None
        out.append(line)
    return rule, "".join(out)


def _changed_once(base: str, left: str, right: str) -> str | None:
    if left == right or right == base:
        return left
    return right if left == base else None


def _higher_line(base: str, left: str, right: str) -> str | None:
    masks = {_VERSION.sub("\0", line) for line in (base, left, right)}
    if len(masks) != 1 or not _VERSION_CONTEXT.search(base):
        return None
    if len(_VERSION.findall(base)) != 1:
        return None
    old, ours, theirs = (_rank(_VERSION.findall(line)[0]) for line in (base, left, right))
    if ours == theirs or ours < old or theirs < old:
        return None
    high, low = max(ours, theirs), min(ours, theirs)
    if low[2] and _kind_of(low[2]) != _kind_of(high[2]):
        return None
    return left if ours > theirs else right


def _kind_of(behind: str) -> str:
    """The kind of a pre-release: only versions of the same kind compare. A lower snapshot and a higher
    release would be a choice."""
    words = re.findall(r"[A-Za-z]+", behind)
    return words[-1].lower() if words else ""


def _rank(version: str) -> tuple[list[int], bool, str]:
    """The sort key of a version: its numbers first; a suffix (rc, SNAPSHOT) ranks below no suffix."""
    numbers = re.findall(r"\d+(?:\.\d+)*", version)[0]
    parts = [int(part) for part in numbers.split(".")]
    while len(parts) > 1 and parts[-1] == 0:
        parts.pop()
    behind = version.removeprefix("v").removeprefix(numbers)
    return parts, not behind, behind
