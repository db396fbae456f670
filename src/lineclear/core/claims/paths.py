"""Path rules as pure text: one spelling per repo-relative POSIX path, globs, and what they match.

Knows no file system: symlinks and the real case of a name are resolved before a path gets here.
A glob is a sequence of runs separated by wildcards, on two levels: runs of segments between `**`, and in a
segment runs of characters between `*`. The same functions match both; at worst they cost the product of the
two lengths.
"""

from __future__ import annotations

from lineclear.core.words.refusals import refuse

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import TypeVar

    T = TypeVar("T")
    U = TypeVar("U")

MAX_PATH_CHARS = 4096
MAX_SEGMENT_BYTES = 255
MAX_GLOB_SEGMENTS = 64
MAX_CACHED_GLOBS = 4096

# Stands for an unescaped `?` inside a run. No path contains it: control characters are refused.
_ANY = "\0"


# -- one spelling per path --------------------------------------------------------------------


def normalise(path: str) -> str:
    """The canonical spelling of a repo-relative path; "" is the root."""
    if len(path) > MAX_PATH_CHARS:
        raise refuse(
            "resource.bad", resource=path[:200], why=f"it is longer than {MAX_PATH_CHARS} characters"
        )
    check_characters(path)
    if path.startswith("/"):
        raise refuse("resource.bad", resource=path, why="it is absolute, not relative to the repository")
    parts = path.split("/")
    if "" in parts or "." in parts or ".." in parts:
        parts = collapse(parts, path)
        path = "/".join(parts)
    if len(path) > MAX_SEGMENT_BYTES or not path.isascii():
        _check_segments(parts, path)
    return path


def check_characters(text: str) -> None:
    """Refuse control characters and halves of a surrogate pair."""
    if text.isprintable():
        return
    for char in text:
        if char < " " or char == "\x7f":
            raise refuse("resource.bad", resource=text, why="it contains a control character")
        if "\ud800" <= char <= "\udfff":
            raise refuse("resource.bad", resource=text, why="it contains bytes that are not UTF-8")


def collapse(parts: list[str], shown: str) -> list[str]:
    """Drop empty parts and `.`, and let `..` remove the part before it."""
    kept: list[str] = []
    for part in parts:
        if part == "..":
            if not kept:
                raise refuse("resource.bad", resource=shown, why="it climbs above its root")
            kept.pop()
        elif part and part != ".":
            kept.append(part)
    return kept


def _check_segments(parts: list[str], path: str) -> None:
    for part in parts:
        if len(part.encode()) > MAX_SEGMENT_BYTES:
            raise refuse(
                "resource.bad", resource=path, why=f"a name in it is longer than {MAX_SEGMENT_BYTES} bytes"
            )


def fold(path: str, *, case: bool, nfc: bool) -> str:
    """Give names the same spelling if the file system takes them for the same name. Idempotent."""
    if path.isascii():
        return path.lower() if case else path
    if not nfc:
        return path.casefold() if case else path
    from unicodedata import normalize

    # Decompose first: case folding turns one combining mark into a letter, so it must see marks separately.
    return normalize("NFC", normalize("NFD", path).casefold() if case else path)


# -- escapes ----------------------------------------------------------------------------------


def is_glob(path: str) -> bool:
    """Does it have an unescaped `*` or `?`? Brackets and braces are plain characters."""
    if "*" not in path and "?" not in path:
        return False
    if "\\" not in path:
        return True
    # "x" keeps the neighbours of an escape apart: they must not form a new escape.
    rest = path.replace("\\*", "x").replace("\\?", "x")
    return "*" in rest or "?" in rest


def escape(path: str) -> str:
    """Write a literal name so that it cannot be read as a glob."""
    return path.replace("*", "\\*").replace("?", "\\?")


def unescape(path: str) -> str:
    return path.replace("\\*", "*").replace("\\?", "?") if "\\" in path else path


# -- runs between wildcards -------------------------------------------------------------------


def _agree_from(run: Sequence[T], items: Sequence[U], at: int, agree: Callable[[T, U], bool]) -> bool:
    for part in run:
        if not agree(part, items[at]):
            return False
        at += 1
    return True


def _lies_along(runs: Sequence[Sequence[T]], items: Sequence[U], agree: Callable[[T, U], bool]) -> bool:
    """Do the runs fit the items: the first and the last at the ends, the others between them, in order?

    Taking the leftmost place for each run in the middle is enough: it leaves the most room for the next.
    """
    first, last = runs[0], runs[-1]
    if len(runs) == 1:
        return len(first) == len(items) and _agree_from(first, items, 0, agree)
    end = len(items) - len(last)
    if end < len(first) or not _agree_from(last, items, end, agree):
        return False
    if not _agree_from(first, items, 0, agree):
        return False
    at = len(first)
    for run in runs[1:-1]:
        while at + len(run) <= end and not _agree_from(run, items, at, agree):
            at += 1
        at += len(run)
        if at > end:
            return False
    return True


def _runs_meet(a: Sequence[Sequence[T]], b: Sequence[Sequence[T]], agree: Callable[[T, T], bool]) -> bool:
    """Is there a sequence of items that fits both? `agree` must be symmetric.

    If both have wildcards, only the ends can clash: a wildcard of one swallows the middle of the other.
    """
    if len(a) == 1:
        return _lies_along(b, a[0], agree)
    if len(b) == 1:
        return _lies_along(a, b[0], agree)
    heads = zip(a[0], b[0], strict=False)
    tails = zip(reversed(a[-1]), reversed(b[-1]), strict=False)
    return all(agree(x, y) for x, y in heads) and all(agree(x, y) for x, y in tails)


def _same_character(x: str, y: str) -> bool:
    return x == y or _ANY in (x, y)


# -- one segment of a glob --------------------------------------------------------------------


class Segment:
    """One segment of a glob: its runs of characters between `*`, and its literal start and end."""

    __slots__ = ("has_any", "head", "is_literal", "runs", "tail", "text")

    def __init__(self, text: str) -> None:
        runs = _read_runs(text)
        self.runs = runs
        self.has_any = any(_ANY in run for run in runs)
        self.is_literal = len(runs) == 1 and not self.has_any
        self.head = runs[0].partition(_ANY)[0]
        self.tail = runs[-1].rpartition(_ANY)[2]
        self.text = "*".join(escape(run).replace(_ANY, "?") for run in runs)

    def fits(self, name: str) -> bool:
        runs = self.runs
        if self.has_any:
            return _lies_along(runs, name, _same_character)
        if len(runs) == 1:
            return name == runs[0]
        first, last = runs[0], runs[-1]
        end = len(name) - len(last)
        if end < len(first) or not name.startswith(first) or not name.endswith(last):
            return False
        return len(runs) == 2 or _contains_in_order(name, runs[1:-1], len(first), end)

    def meets(self, other: Segment) -> bool:
        """Could one name fit both?"""
        if self.is_literal:
            return other.fits(self.runs[0])
        if other.is_literal:
            return self.fits(other.runs[0])
        if not _runs_meet(self.runs, other.runs, _same_character):
            return False
        return not (_only_dots_meet(self, other) or _only_dots_meet(other, self))


def _read_runs(text: str) -> tuple[str, ...]:
    runs = [""]
    escaped = False
    previous = ""
    for char in text:
        if previous == "\\" and char in "*?":
            runs[-1] = runs[-1][:-1] + char
        elif char == "?":
            runs[-1] += _ANY
        elif char != "*":
            runs[-1] += char
        elif previous != "*" or escaped:
            runs.append("")
        escaped = previous == "\\" and char == "*"
        previous = char
    return tuple(runs)


def _contains_in_order(name: str, runs: tuple[str, ...], at: int, end: int) -> bool:
    for run in runs:
        at = name.find(run, at, end)
        if at < 0:
            return False
        at += len(run)
    return True


def _only_dots_meet(fixed: Segment, other: Segment) -> bool:
    """Could both match only `.` or `..`, which are never names? So `.?` never meets `?.`."""
    run = fixed.runs[0]
    if len(fixed.runs) > 1 or len(run) > 2 or run.strip("." + _ANY):
        return False
    others = "".join(other.runs)
    candidates = set(others + "x") - {".", _ANY}
    for at, char in enumerate(run):
        for stand_in in candidates if char == _ANY else ():
            if _lies_along(other.runs, run[:at] + stand_in + run[at + 1 :], _same_character):
                return False
    return True


# -- globs ------------------------------------------------------------------------------------


class Glob:
    """A parsed pattern. `**` as a whole segment stands for any number of segments, also zero.

    `anchor` is the longest literal directory that contains all matches; every match ends with `tail`.
    A trailing slash means the matching directories and everything in them.
    """

    __slots__ = ("_ends_decide", "_head", "_runs", "anchor", "pattern", "segments", "tail")

    def __init__(self, pattern: str) -> None:
        texts = _read_segments(pattern)
        self._runs = _split_at_deep(texts)
        self.segments = tuple(_canonical_segments(self._runs))
        self.pattern = "/".join(self.segments)
        self.anchor = _anchor_of(self._runs)
        self._head = "/".join(_literal_start(self._runs))
        self.tail = "/".join(_literal_end(self._runs))
        self._ends_decide = _ends_decide(self._runs)

    def __repr__(self) -> str:
        return f"Glob({self.pattern!r})"

    def matches(self, path: str) -> bool:
        if not path.endswith(self.tail) or not path.startswith(self._head):
            return False
        if self._ends_decide:
            return path != ""
        return _lies_along(self._runs, path.split("/") if path else [], Segment.fits)

    def matches_inside(self, directory: str) -> bool:
        """Could the directory itself, or some path below it, match?"""
        names = directory.split("/") if directory else []
        lead = self._runs[0]
        if len(names) > len(lead) and len(self._runs) == 1:
            return False
        return all(segment.fits(name) for segment, name in zip(lead, names, strict=False))

    def is_open_below(self) -> bool:
        """Does everything below a match match as well?"""
        return self.segments[-1:] == ("**",)

    def meets(self, other: Glob) -> bool:
        """Could some path match both? Exact, if names may have any length."""
        if not (self._head.startswith(other._head) or other._head.startswith(self._head)):
            return False
        if not (self.tail.endswith(other.tail) or other.tail.endswith(self.tail)):
            return False
        return _runs_meet(self._runs, other._runs, Segment.meets)


_globs: dict[str, Glob] = {}


def glob(pattern: str) -> Glob:
    """The parsed pattern, from a cache: there are few patterns, and they are used again and again."""
    known = _globs.get(pattern)
    if known is None:
        known = Glob(pattern)
        if len(_globs) >= MAX_CACHED_GLOBS:
            _globs.clear()
        _globs[pattern] = known
    return known


def glob_anywhere(pattern: str) -> Glob:
    """Like `glob`, but a pattern without a slash matches in every directory."""
    return glob(pattern if "/" in pattern else f"**/{pattern}")


def _read_segments(pattern: str) -> list[str]:
    parts = pattern.split("/")
    if ".." in parts:
        _check_climbs(parts, pattern)
    path = normalise(pattern)
    texts = path.split("/") if path else []
    if pattern.endswith("/"):
        texts.append("**")
    if len(texts) > MAX_GLOB_SEGMENTS:
        raise refuse(
            "resource.bad", resource=pattern, why=f"a glob may have at most {MAX_GLOB_SEGMENTS} segments"
        )
    return texts


def _check_climbs(parts: list[str], pattern: str) -> None:
    wild = False
    for part in parts:
        if part == ".." and wild:
            raise refuse("resource.bad", resource=pattern, why="`..` after a wildcard has no fixed meaning")
        wild = wild or is_glob(part)


def _split_at_deep(texts: list[str]) -> tuple[tuple[Segment, ...], ...]:
    runs: list[list[Segment]] = [[]]
    for text in texts:
        if text != "**":
            runs[-1].append(Segment(text))
        elif len(runs) == 1 or runs[-1]:
            runs.append([])
    return tuple(tuple(run) for run in runs)


def _canonical_segments(runs: tuple[tuple[Segment, ...], ...]) -> list[str]:
    texts = [segment.text for segment in runs[0]]
    for run in runs[1:]:
        texts.append("**")
        texts.extend(segment.text for segment in run)
    return texts


def _anchor_of(runs: tuple[tuple[Segment, ...], ...]) -> str:
    lead = runs[0] if len(runs) > 1 else runs[0][:-1]
    names = []
    for segment in lead:
        if not segment.is_literal:
            break
        names.append(segment.runs[0])
    return "/".join(names)


def _literal_start(runs: tuple[tuple[Segment, ...], ...]) -> list[str]:
    """The segments that every match starts with; of the last one perhaps only a part."""
    names = []
    for segment in runs[0]:
        names.append(segment.head)
        if not segment.is_literal:
            return names
    # `a/**/b` starts with `a/`, but `a/**` also matches `a`.
    return [*names, ""] if len(runs) > 1 and (len(runs) > 2 or runs[-1]) else names


def _literal_end(runs: tuple[tuple[Segment, ...], ...]) -> list[str]:
    names: list[str] = []
    for segment in reversed(runs[-1]):
        names.insert(0, segment.tail)
        if not segment.is_literal:
            return names
    return ["", *names] if len(runs) > 1 and (len(runs) > 2 or runs[0]) else names


def _ends_decide(runs: tuple[tuple[Segment, ...], ...]) -> bool:
    """Is it enough to compare both ends? So it is for `dir/**/*.ext`, the usual shape."""
    if len(runs) != 2 or len(runs[1]) != 1 or not all(segment.is_literal for segment in runs[0]):
        return False
    last = runs[1][0]
    return len(last.runs) == 2 and not last.runs[0] and not last.has_any
