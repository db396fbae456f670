"""TOML by table and key: pyproject.toml, Cargo.toml, any settings. Lists of dependencies count as sets."""

from __future__ import annotations

import re
from collections import Counter
from itertools import pairwise

from lineclear.merge.handlers.by_key import as_text, first_of, merge_by_key
from lineclear.merge.handlers.json_files import Scanner
from lineclear.merge.handlers.keyed import KeyedEntry, Undecided
from lineclear.merge.handlers.pieces import Pieces
from lineclear.merge.handlers.raised_versions import raise_new_siblings
from lineclear.merge.handlers.versions import constrained, extras, narrower
from lineclear.merge.result import Labels, MergeResult

_TABLE = re.compile(r"\s*(\[\[?)\s*([^\[\]]+?)\s*\]\]?\s*(#.*)?$")
_PAIR = re.compile(r"""\s*((?:[\w-]+|"[^"\n]*"|'[^'\n]*')(?:\s*\.\s*(?:[\w-]+|"[^"\n]*"|'[^'\n]*'))*)\s*=""")
_SIGN = re.compile(r"""[\n#"'\[\]{}]""")
_STRINGS = {'"': re.compile(r"""(?:[^"\\\n]|\\.)*\"""", re.S), "'": re.compile(r"[^'\n]*'")}
# Empty lines and comments, with the bracket of a table if one follows.
_ABOVE_TABLE = re.compile(r"^(?:(?:[ \t]*(?:#[^\n]*)?\n)++\[?|\[)", re.M)
_NO_TABLE = "["
_NEXT = re.compile(r"^\s*\[", re.M)
_NAME = re.compile(r"^\s*(?:name|id)\s*=(.*)$", re.M)
# Tables and keys whose arrays are sets.
SET_TABLES = re.compile(r"project\.optional-dependencies|dependency-groups|features|project\.urls")
SET_KEYS = (
    "dependencies",
    "keywords",
    "classifiers",
    "requires",
    "members",
    "exclude",
    "features",
    "categories",
)


def merge(path: str, base: str, left: str, right: str, _labels: Labels) -> MergeResult | None:
    choose = first_of(narrower, constrained, extras, as_text(path))
    pieces = Pieces(_part, _read)

    def cut(text: str) -> KeyedEntry:
        root = pieces.cut(text)
        # Pairs before the first table belong to no table: they must not end up after one.
        if root.children is not None and (not root.children or root.children[0].key != _NO_TABLE):
            root.children.insert(0, KeyedEntry(_NO_TABLE, "", "", []))
        return root

    result = merge_by_key(cut, choose, base, left, right, is_exact=True, rule="keys")
    if result is not None:
        result.text = raise_new_siblings(base, left, right, result.text)
    return result


def _part(text: str) -> list[str]:
    """Split before each table and the comments above it."""
    starts = [found.start() for found in _ABOVE_TABLE.finditer(text) if found[0].endswith("[")]
    return [text[start:end] for start, end in pairwise([0, *starts, len(text)])]


def _read(text: str, is_whole: bool) -> tuple[list[KeyedEntry], str]:
    tables: list[KeyedEntry] = []
    arrays: Counter[str] = Counter()
    lead, at = "", 0
    while at < len(text):
        end = text.find("\n", at) + 1 or len(text)
        line = text[at:end]
        if not line.strip() or line.lstrip().startswith("#"):
            lead += line
            at = end
            continue
        found = _TABLE.match(line)
        if found:
            tables.append(KeyedEntry(_table_key(found, text, end, arrays), lead, line, []))
        else:
            end = _end_of_value(text, at)
            if not tables:
                tables.append(KeyedEntry(_NO_TABLE, "", "", []))
            tables[-1].add(_pair(tables[-1].key, lead, text[at:end]))
        lead, at = "", end
    if arrays and not is_whole:
        raise Undecided("tables are identified by their number in the whole text")
    return tables, lead


def _table_key(found: re.Match[str], text: str, at: int, arrays: Counter[str]) -> str:
    """The key of a table; tables in an array are identified by their name, or by their number if they have
    none."""
    key = f"{found[1]}{found[2]}"
    if found[1] == "[[":
        following = _NEXT.search(text, at)
        name = _NAME.search(text, at, following.start() if following else len(text))
        if name:
            return f"{key} {name[1].strip()}"
        arrays[key] += 1
        key += f" {arrays[key]}"
    return key


def _pair(table: str, lead: str, text: str) -> KeyedEntry:
    found = _PAIR.match(text)
    if not found:
        raise Undecided("neither a table nor a pair")
    key = found[1]
    value = text[found.end() :]
    is_set = key in SET_KEYS or SET_TABLES.fullmatch(table.lstrip("["))
    if is_set and value.lstrip().startswith("[") and value.rstrip().endswith("]"):
        return _array(key, lead, text, found.end())
    return KeyedEntry(key, lead, text)


def _array(key: str, lead: str, text: str, at: int) -> KeyedEntry:
    scanner = Scanner(text, (key,), "#")
    scanner.at = at
    scanner.skip()
    if "'" in text:
        return KeyedEntry(key, lead, text)
    entry = scanner.value(key, lead, 0, 0)
    entry.tail += text[scanner.at :]
    for child in entry.children or []:
        child.key = package_of(child.text)
    return entry


def package_of(text: str) -> str:
    """The package that a requirement names, with its marker; the text itself if it is not a requirement."""
    found = re.match(r"\s*[\"']?([A-Za-z0-9][\w.-]*)(\[[^\]]*\])?\s*(?=[<>=!~;@\"'\s]|$)", text)
    if not found:
        return text.strip()
    marker = text.partition(";")[2].strip().strip("\"',")
    return re.sub(r"[-_.]+", "-", found[1]).lower() + (f";{marker}" if marker else "")


def _end_of_value(text: str, at: int) -> int:
    """The end of the line on which all brackets and strings of this pair are closed."""
    depth = 0
    while found := _SIGN.search(text, at):
        at, letter = found.start(), found[0]
        if letter == "\n" and depth <= 0:
            return at + 1
        if letter == "#":
            end = text.find("\n", at)
            at = len(text) if end < 0 else end
            continue
        if letter in "\"'":
            quote = letter * 3 if text.startswith(letter * 3, at) else letter
            at = _string_end(text, at + len(quote), quote)
            continue
        depth += (letter in "[{") - (letter in "]}")
        at += 1
    if depth > 0:
        raise Undecided("a value does not end")
    return len(text)


def _string_end(text: str, at: int, quote: str) -> int:
    if len(quote) == 1:
        found = _STRINGS[quote].match(text, at)
        if not found:
            raise Undecided("a string does not end on its line")
        return found.end()
    while at < len(text):
        if text[at] == "\\" and quote[0] == '"':
            at += 2
        elif text.startswith(quote, at):
            return at + len(quote)
        else:
            at += 1
    raise Undecided("a string does not end")
