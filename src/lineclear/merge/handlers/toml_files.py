"""TOML by table and key: pyproject.toml, Cargo.toml, any settings. Lists of dependencies count as sets."""

from __future__ import annotations

import re

from lineclear.merge.handlers.by_key import as_text, first_of, merge_by_key
from lineclear.merge.handlers.json_files import Scanner
from lineclear.merge.handlers.keyed import Entry, Undecided
from lineclear.merge.handlers.versions import constrained, extras, narrower
from lineclear.merge.result import Labels, MergeResult

_TABLE = re.compile(r"\s*(\[\[?)\s*([^\[\]]+?)\s*\]\]?\s*(#.*)?$")
_PAIR = re.compile(r"""\s*((?:[\w-]+|"[^"\n]*"|'[^'\n]*')(?:\s*\.\s*(?:[\w-]+|"[^"\n]*"|'[^'\n]*'))*)\s*=""")
# Tables and keys whose arrays are sets, by the file that has them.
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
    return merge_by_key(
        cut, first_of(narrower, constrained, extras, as_text(path)), base, left, right, "keys"
    )


def cut(text: str) -> Entry:
    root = Entry("", "", "", [])
    table, lead = root, ""
    lines = text.splitlines(True)
    number = 0
    while number < len(lines):
        line = lines[number]
        number += 1
        if not line.strip() or line.lstrip().startswith("#"):
            lead += line
            continue
        found = _TABLE.match(line)
        if found:
            table = Entry(_table_key(found, root, lines, number), lead, line, [])
            root.children = [*(root.children or []), table]
        else:
            while not _is_whole(line):
                if number >= len(lines):
                    raise Undecided("a value does not end")
                line += lines[number]
                number += 1
            (table.children if table.children is not None else []).append(_pair(table.key, lead, line))
        lead = ""
    root.tail = lead
    return root


def _table_key(found: re.Match[str], root: Entry, lines: list[str], number: int) -> str:
    """Tables in an array are told apart by their name, or by nothing: then two of them are `Undecided`."""
    key = f"{found[1]}{found[2]}"
    if found[1] == "[[":
        for line in lines[number:]:
            if _TABLE.match(line):
                break
            if re.match(r"\s*(name|id)\s*=", line):
                return f"{key} {line.split('=', 1)[1].strip()}"
        key += f" {sum(child.key.startswith(key) for child in root.children or [])}"
    return key


def _pair(table: str, lead: str, text: str) -> Entry:
    found = _PAIR.match(text)
    if not found:
        raise Undecided("neither a table nor a pair")
    key = found[1]
    value = text[found.end() :]
    is_set = key in SET_KEYS or SET_TABLES.fullmatch(table.lstrip("["))
    if is_set and value.lstrip().startswith("[") and value.rstrip().endswith("]"):
        return _array(key, lead, text, found.end())
    return Entry(key, lead, text)


def _array(key: str, lead: str, text: str, at: int) -> Entry:
    scanner = Scanner(text, (key,), "#")
    scanner.at = at
    scanner.skip()
    if "'" in text:
        return Entry(key, lead, text)
    entry = scanner.value(key, lead, 0, 0)
    entry.tail += text[scanner.at :]
    for child in entry.children or []:
        child.key = package_of(child.text)
    return entry


def package_of(text: str) -> str:
    """The package that a requirement is about, with its extras and marker; the text itself if it is none."""
    found = re.match(r"\s*[\"']?([A-Za-z0-9][\w.-]*)(\[[^\]]*\])?\s*(?=[<>=!~;@\"'\s]|$)", text)
    if not found:
        return text.strip()
    marker = text.partition(";")[2].strip().strip("\"',")
    return re.sub(r"[-_.]+", "-", found[1]).lower() + (f";{marker}" if marker else "")


def _is_whole(text: str) -> bool:
    """Every bracket and every string that opens here is closed here."""
    depth, at = 0, 0
    while at < len(text):
        letter = text[at]
        if letter == "#":
            end = text.find("\n", at)
            at = len(text) if end < 0 else end
            continue
        if letter in "\"'":
            quote = letter * 3 if text.startswith(letter * 3, at) else letter
            at = _string_end(text, at + len(quote), quote)
            if at < 0:
                return False
            continue
        depth += (letter in "[{") - (letter in "]}")
        at += 1
    return depth <= 0


def _string_end(text: str, at: int, quote: str) -> int:
    while at < len(text):
        if text[at] == "\\" and quote[0] == '"':
            at += 2
        elif text.startswith(quote, at):
            return at + len(quote)
        elif len(quote) == 1 and text[at] == "\n":
            raise Undecided("a string does not end on its line")
        else:
            at += 1
    return -1
