"""Finds doubts about a merged text. Shares no rule and no tokeniser with the mergers; both read the same
trees.

Every check compares the result with its three sources and names what is in the result but in neither side, or
in a side but not in the result. A result without a doubt may still be wrong; a result with a doubt is never
called clean.
"""

from __future__ import annotations

import re
from collections import Counter
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING

from lineclear.code.imports import name_used_for
from lineclear.code.languages import language_of
from lineclear.code.nodes import flattened
from lineclear.merge.doubts import structure_doubt
from lineclear.merge.inventory import imports_of, known_parts, take_definitions, take_inventory
from lineclear.merge.shared_nodes import Shared
from lineclear.merge.version_trees import read_versions

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lineclear.code.languages.table import Language
    from lineclear.merge.shared_nodes import Part

_WORD = re.compile(r"\w+|[^\w\s]")
_VERSION = re.compile(r"(?<![\w.])v?\d+(?:\.\d+)+(?:[-.+]?[A-Za-z]+[-.]?\d*)*(?![\w.])")
_MARKER = re.compile(r"^(?:<{7}|>{7}|\|{7})", re.M)
_PROSE = (".md", ".mdx", ".rst", ".adoc", ".txt")
_FRAME = re.compile(r"\s*(?:#|```|~~~)|\W*$")  # headings and fences often repeat
MAX_KEPT_LINE = 300
MIN_WRAPPED = 4  # a line with this many names can be recognised after it was broken into several
MAX_WRAPPED = 50
MIN_LINE = 12  # shorter ones (`}`, `return x`) occur twice without being the same thing
MISPLACED = "is not as the side that changed it wrote it"
# Not counted: their number follows from the items between them, and the parser checks their places.
_PUNCTUATION = frozenset(",;(){}[]\"'`")


def find_doubt(path: str, base: str, left: str, right: str, merged: str) -> str:
    """The first doubt as text, or ""."""
    return (
        _form_doubt(base, left, right, merged)
        or _text_doubt(path, base, left, right, merged)
        or _prose_doubt(path, base, left, right, merged)
        or _structure_doubt(path, base, left, right, merged)
    )


def _text_doubt(path: str, base: str, left: str, right: str, merged: str) -> str:
    """Checks the words and their neighbours in the lines that not all four texts share."""
    parts = _differing_lines([base, left, right, merged])
    words = [[_line_words(line) for line, _ in part] for part in parts]
    doubt = _word_doubt(parts, words, (left, right) if language_of(path) else None)
    return doubt or _seam_doubt(parts, words, merged)


def _differing_lines(texts: list[str]) -> list[list[tuple[str, str]]]:
    """For each text, (line, next line) of the lines that are not in all texts."""
    split = [[line for line in text.split("\n") if line and not line.isspace()] for text in texts]
    counts = [Counter(lines) for lines in split]
    first = counts[0].items()
    # Most lines occur equally often in all texts: only the others are compared one by one.
    unlike = {line for count in counts[1:] for line, _ in first ^ count.items()}
    shared = {line: min(count[line] for count in counts) for line in unlike}
    differing = []
    for lines in split:
        skip = dict(shared)
        kept = []
        for place in [place for place, line in enumerate(lines) if line in unlike]:
            line = lines[place]
            if skip[line]:
                skip[line] -= 1
            else:
                kept.append((line, lines[place + 1] if place + 1 < len(lines) else ""))
        differing.append(kept)
    return differing


# -- form --------------------------------------------------------------------------------------


def _form_doubt(base: str, left: str, right: str, merged: str) -> str:
    for name, trait in (
        ("byte order mark", _has_bom),
        ("line ends", _has_crlf),
        ("final newline", _is_ended),
    ):
        b, lt, r = trait(base), trait(left), trait(right)
        wanted = {lt, r} if lt == r or not base else {lt if r == b else r}
        if trait(merged) not in wanted:
            return f"the sides' {name} was not kept"
    if _markers(merged) > max(_markers(left), _markers(right)):
        return "the result contains conflict markers"
    return ""


def _markers(text: str) -> int:
    is_there = "<<<<<<<" in text or ">>>>>>>" in text or "|||||||" in text
    return len(_MARKER.findall(text)) if is_there else 0


def _has_bom(text: str) -> bool:
    return text.startswith("\ufeff")


def _has_crlf(text: str) -> bool:
    return "\r\n" in text


def _is_ended(text: str) -> bool:
    return text.endswith("\n") or not text


# -- words -------------------------------------------------------------------------------------


def _words(text: str) -> list[str]:
    return _WORD.findall(_VERSION.sub(" 0v ", text))


def _line_words(line: str) -> tuple[str, ...]:
    return _kept_words(line) if len(line) <= MAX_KEPT_LINE else tuple(_words(line))


@lru_cache(maxsize=4_096)
def _kept_words(line: str) -> tuple[str, ...]:
    """Cached: a line is in several of the four texts, and in every merge of a stack."""
    return tuple(_words(line))


def _word_doubt(
    parts: list[list[tuple[str, str]]], words: list[list[tuple[str, ...]]], sides: tuple[str, str] | None
) -> str:
    """Checks that every word occurs as often as both sides' changes imply, and that no version is new."""
    counts = [Counter(word for found in lines for word in found) for lines in words]
    base, left, right = ([line for line, _ in part] for part in parts[:3])
    shared = _shared_changes(base, left, right, (counts[0] - counts[2], counts[0] - counts[1]))
    for word in sorted(set().union(*counts), key=_names_first):
        if word in _PUNCTUATION:
            continue
        b, lt, r, m = (count[word] for count in counts)
        low, high = _bounds(b, lt - b, r - b, shared.get(word, 0))
        if not low <= m <= high:
            return f"expected {low if m < low else high} of `{word}`, found {m}"
        if sides and word[0].isalpha() and _gone_but_used(word, (b, lt, r), sides):
            return f"one side removed `{word}` everywhere, the other uses it more"
    versions = [{version for line, _ in part for version in _VERSION.findall(line)} for part in parts]
    invented = versions[3] - versions[1] - versions[2]
    return f"version {min(invented)} is in neither side" if invented else ""


def _innermost_first(name: str) -> tuple[int, str]:
    return -name.count("/"), name


def _names_first(word: str) -> tuple[bool, str]:
    return not word[0].isalpha(), word


def _shared_changes(
    base: list[str], left: list[str], right: list[str], lost: tuple[Counter[str], Counter[str]]
) -> dict[str, int]:
    """Word -> by how much both sides changed its count with exactly the same lines. `lost` are the words that
    the right side, then the left side, has fewer of than the base."""
    # Without the indent: a line that moved to another depth was not removed.
    b, lt, r = (Counter(line.strip() for line in part) for part in (base, left, right))
    shared: Counter[str] = Counter()
    for line, times in ((lt - b) & (r - b)).items():
        for word in _line_words(line):
            shared[word] += times
    gone = (b - lt) & (b - r)
    kept = (_rewrapped(gone, b, left), _rewrapped(gone, b, right))
    for line, times in gone.items():
        for word in _line_words(line):
            # One side only wrapped the line differently, so only the other one removed it.
            is_kept = word[0].isalpha() and any(
                line in mine and dropped[word] for mine, dropped in zip(kept, lost, strict=True)
            )
            shared[word] -= 0 if is_kept else times
    return shared


def _rewrapped(gone: Counter[str], base: Counter[str], side: list[str]) -> set[str]:
    """The lines whose names the side still has in several new lines, in order and close together."""
    named = [(line, _names(line)) for line in gone]
    long_ones = [(line, names) for line, names in named if len(set(names)) >= MIN_WRAPPED]
    if not long_ones:
        return set()
    fresh = [_names(line) for line in side if line.strip() not in base]
    joined = [name for names in fresh for name in names]
    return {
        line
        for line, names in long_ones[:MAX_WRAPPED]
        if _are_close(names, joined) and not any(_are_close(names, row) for row in fresh)
    }


def _names(line: str) -> list[str]:
    return [word for word in _line_words(line) if word[0].isalpha()]


def _are_close(names: list[str], among: list[str]) -> bool:
    """Do the names occur in this order, with little between them?"""
    starts = (place for place, name in enumerate(among) if name == names[0])
    room = len(names) + MIN_WRAPPED
    return any(_follow(names, iter(among[start : start + room])) for start in starts)


def _follow(names: list[str], ahead: Iterator[str]) -> bool:
    return all(name in ahead for name in names)


def _bounds(base: int, by_left: int, by_right: int, shared: int) -> tuple[int, int]:
    """(least, most) times that a word may occur: the same change by both sides may count once or twice."""
    once, twice = base + by_left + by_right - shared, base + by_left + by_right
    low, high = min(once, twice), max(once, twice)
    if by_left > 0 and by_right > 0:
        low = min(low, base + max(by_left, by_right))
    if by_left < 0 and by_right < 0:
        high = max(high, base + min(by_left, by_right))
    return max(0, low), max(0, high)


def _gone_but_used(word: str, counts: tuple[int, int, int], sides: tuple[str, str]) -> bool:
    base, left, right = counts
    if base > 0 and left == 0 and right > base:
        return not re.search(rf"\b{re.escape(word)}\b", sides[0])
    if base > 0 and right == 0 and left > base:
        return not re.search(rf"\b{re.escape(word)}\b", sides[1])
    return False


# -- seams -------------------------------------------------------------------------------------


def _seam_doubt(parts: list[list[tuple[str, str]]], words: list[list[tuple[str, ...]]], merged: str) -> str:
    """Checks that words which one side put next to each other still are, unless the other side edited
    there."""
    b, lt, r, m = (_neighbours(part, found) for part, found in zip(parts, words, strict=True))
    missing = [side - b - m for side in (lt, r)]
    if not any(missing):
        return ""
    m = set(pairwise(_words(merged)))
    for side, gone in zip((lt, r), missing, strict=True):
        fresh = m - side
        cut_behind = {first for first, _ in fresh}
        cut_before = {second for _, second in fresh}
        for first, second in sorted(gone - m):
            if first not in cut_behind and second not in cut_before:
                return f"one side added `{first} {second}`, but it is missing"
    return ""


def _neighbours(part: list[tuple[str, str]], words: list[tuple[str, ...]]) -> set[tuple[str, str]]:
    found: set[tuple[str, str]] = set()
    for (_, behind), line in zip(part, words, strict=True):
        found.update(pairwise((*line, *_line_words(behind)[:1])))
    return found


# -- structure ---------------------------------------------------------------------------------


def _structure_doubt(path: str, base: str, left: str, right: str, merged: str) -> str:
    language = language_of(path)
    if language is None:
        return ""
    read = read_versions(language, (base, left, right, merged), first=1)
    if read is None:
        return ""
    if read.errors[3] and not any(read.errors[:3]):
        return "the result does not parse, all sources do"
    if read.errors[3] and _line_doubt(base, left, right, merged):
        return _line_doubt(base, left, right, merged)
    b, lt, r, m = read.roots
    shared = Shared(language, (b, lt, r, m))
    taken = take_inventory(language, m, known=known_parts([lt, r]), shared=shared)
    repeated = taken.repeated
    for root in (b, lt, r):
        if repeated:
            repeated = repeated - take_inventory(language, root, scopes=taken.scopes).repeated
    if repeated:
        return f"{min(repeated)} occurs twice"
    doubt = ""
    if not language.is_data:
        doubt = _import_doubt(language, (b, lt, r), (left, right, merged), taken.imports)
    if doubt:
        return doubt
    roots = (b, lt, r, m)
    defined = take_definitions(language, roots, shared)
    return (
        _definition_doubt(defined)
        or _undefined_doubt(defined, m)
        or structure_doubt(language, roots, shared, defined, (base, left, right))
    )


def _prose_doubt(path: str, base: str, left: str, right: str, merged: str) -> str:
    """Checks that a sentence or point that both sides added is not in the text twice."""
    if not path.lower().endswith(_PROSE):
        return ""
    said = (
        "\n".join(line for line in text.split("\n") if not _FRAME.match(line))
        for text in (base, left, right, merged)
    )
    return _line_doubt(*said)


def _line_doubt(base: str, left: str, right: str, merged: str) -> str:
    """Checks that no line that both sides added is there twice; also used if the tree has errors and cannot
    show duplicate definitions."""
    b, lt, r, m = (Counter(line.strip() for line in text.split("\n")) for text in (base, left, right, merged))
    for line, times in m.items():
        is_new = len(line) >= MIN_LINE and line not in b and line in lt and line in r
        if is_new and times > max(lt[line], r[line]):
            return f"both sides added `{line[:60]}`, and the result has it {times} times"
    return ""


def _definition_doubt(defined: list[dict[str, bytes]]) -> str:
    """Checks that a definition which only one side changed is as that side wrote it: an edit must not end up
    in a neighbour."""
    b, lt, r, m = defined
    changed = [name for name, text in m.items() if not text == b.get(name) == lt.get(name) == r.get(name)]
    for name in sorted(set(changed) & set(b) & set(lt) & set(r), key=_innermost_first):
        if _is_same(r[name], b[name]):
            is_kept = _is_same(m[name], lt[name])
        else:
            is_kept = not _is_same(lt[name], b[name]) or _is_same(m[name], r[name])
        if not is_kept:
            return f"{name.rpartition('/')[2]} {MISPLACED}"
    return ""


def _undefined_doubt(defined: list[dict[str, bytes]], merged: Part) -> str:
    """Checks that what one side added is not inside a comment, which the other side may have made of its
    place."""
    b, lt, r, m = defined
    lost = sorted((lt.keys() | r.keys()) - b.keys() - m.keys())
    if not lost:
        return ""
    there = {_bare(name) for name in m}
    for name in lost:
        if _bare(name) not in there and _is_in_a_comment(_bare(name), merged):
            return f"one side added {_bare(name)}, but it is in a comment"
    return ""


def _bare(name: str) -> str:
    return name.rpartition("/")[2].partition("(")[0].rpartition(" ")[2]


def _is_in_a_comment(word: str, root: Part) -> bool:
    pattern = re.compile(rb"\b" + re.escape(word.encode()) + rb"\s*\(")
    todo = [root]
    while todo:
        part = todo.pop()
        if "comment" in part.kind and pattern.search(part.text):
            return True
        todo += part.inner()
    return False


def _is_same(text: bytes, other: bytes) -> bool:
    """Are the texts equal, ignoring blanks?"""
    return text == other or flattened(text) == flattened(other)


def _import_doubt(
    language: Language, roots: tuple[Part, Part, Part], texts: tuple[str, str, str], merged: set[str]
) -> str:
    b, lt, r = (set(imports_of(language, root)) for root in roots)
    due = (lt | r) - (b - lt) - (b - r)
    if merged != due:
        return f"import {min(merged ^ due)} is missing or left over"
    for side, text in ((lt, texts[0]), (r, texts[1])):
        used = _still_used(language, b - side - merged, text, texts[2])
        if used:
            return f"one side removed the import of `{used}`, the result uses it more than that side"
    return ""


def _still_used(language: Language, gone: set[str], side: str, merged: str) -> str:
    """A name whose import one side removed, but which the result uses more often than that side; or ""."""
    for name in sorted(gone):
        word = name_used_for(language, name)
        pattern = rf"\b{word}\b"
        if word and len(re.findall(pattern, merged)) > len(re.findall(pattern, side)):
            return word
    return ""
