"""XML files that are tables: Maven's pom.xml and the project files of .NET. In other files the order of
elements may matter, and the rules for lines decide.
"""

from __future__ import annotations

import re

from lineclear.merge.handlers.by_key import DEEPEST, as_text, first_of, merge_by_key
from lineclear.merge.handlers.keyed import KeyedEntry, Undecided
from lineclear.merge.handlers.versions import narrower
from lineclear.merge.result import Labels, MergeResult

_PIECE = re.compile(
    r"<!--.*?-->|<!\[CDATA\[.*?\]\]>|<\?.*?\?>|<![^>]*>|</[^>]+>|<[^>]+/>|<[^>]+>|[^<]+", re.S
)
# Elements whose children are a table: each child has a key, and their order does not matter.
TABLES = frozenset(
    (
        "project", "properties", "dependencies", "dependencyManagement", "modules", "profiles", "build",
        "repositories", "pluginRepositories", "developers", "licenses", "profile", "Project", "ItemGroup",
        "PropertyGroup", "root",
    )
)  # fmt: skip


def merge(path: str, base: str, left: str, right: str, _labels: Labels) -> MergeResult | None:
    if not path.endswith(("pom.xml", ".csproj", ".props", ".targets", ".resx")):
        return None
    return merge_by_key(cut, first_of(narrower, as_text(path)), base, left, right, "elements")


def cut(text: str) -> KeyedEntry:
    pieces = _PIECE.findall(text)
    if "".join(pieces) != text:
        raise Undecided("not XML")
    lead, number = "", 0
    while number < len(pieces) and not re.match(r"<[A-Za-z]", pieces[number]):
        lead += pieces[number]
        number += 1
    if number == len(pieces):
        raise Undecided("no element")
    entry, number = _element(pieces, number, lead, 0)
    entry.tail += "".join(pieces[number:])
    if any(re.match(r"</?[A-Za-z]", piece) for piece in pieces[number:]):
        raise Undecided("more than one root")
    return KeyedEntry("", "", "", [entry])


def _element(pieces: list[str], number: int, lead: str, depth: int) -> tuple[KeyedEntry, int]:
    """(the element that opens here, the number of the piece after it)."""
    opening = pieces[number]
    name = _name(opening)
    if opening.endswith("/>"):
        return KeyedEntry(_own_key(name, opening), lead, opening), number + 1
    if depth > DEEPEST:
        raise Undecided("nested too deep")
    end = _closing(pieces, number)
    if name not in TABLES:
        text = "".join(pieces[number : end + 1])
        return KeyedEntry(_key(name, text, opening), lead, text), end + 1
    entry = KeyedEntry(_own_key(name, opening), lead, opening, [])
    assert entry.children is not None
    gap, at = "", number + 1
    while at < end:
        if re.match(r"<[A-Za-z]", pieces[at]):
            child, at = _element(pieces, at, gap, depth + 1)
            entry.children.append(child)
            gap = ""
        else:
            if pieces[at].strip() and not pieces[at].startswith("<!--"):
                raise Undecided("text between elements")
            gap += pieces[at]
            at += 1
    entry.tail = gap + pieces[end]
    return entry, end + 1


def _closing(pieces: list[str], number: int) -> int:
    depth = 0
    for at in range(number, len(pieces)):
        piece = pieces[at]
        if re.match(r"<[A-Za-z]", piece) and not piece.endswith("/>"):
            depth += 1
        elif piece.startswith("</"):
            depth -= 1
            if not depth:
                return at
    raise Undecided("an element does not end")


def _name(opening: str) -> str:
    found = re.match(r"<([\w:.-]+)", opening)
    return found[1] if found else ""


def _own_key(name: str, opening: str) -> str:
    attributes = re.findall(
        r"""\b(Include|Update|Remove|name|id|Condition|Label)=("[^"]*"|'[^']*')""", opening
    )
    return " ".join([name, *(f"{key}={value}" for key, value in attributes)])


def _key(name: str, text: str, opening: str) -> str:
    if name in ("dependency", "plugin", "extension", "exclusion"):
        own = re.sub(r"<(exclusions|executions|configuration|dependencies)>.*?</\1>", "", text, flags=re.S)
        parts = [
            re.search(rf"<{part}>\s*(.*?)\s*</{part}>", own)
            for part in ("groupId", "artifactId", "type", "classifier", "scope")
        ]
        return " ".join([name, *(found[1] if found else "" for found in parts[:4])])
    if name in ("module", "profile", "repository", "license", "developer"):
        found = re.search(r"<id>\s*(.*?)\s*</id>", text)
        return f"{name} {found[1] if found else text}"
    return _own_key(name, opening)
