"""Merges lock files by package, if the result is provably one that the package manager could have written.

For each name the versions are those of one side, every dependency names exactly one package in the file, and
every package is needed. Otherwise there is no result, and the lock file must be regenerated.
"""

from __future__ import annotations

import re

from lineclear.merge.exact import line_by_line
from lineclear.merge.handlers.by_key import merge_by_key
from lineclear.merge.handlers.keyed import KeyedEntry, Undecided
from lineclear.merge.lines import split_lines
from lineclear.merge.result import MergeResult

_FIELD = r"""^{} = "([^"]*)"$"""
_BLOCK = re.compile(r"^\[\[package\]\]$", re.M)
_VERSION = re.compile(r"^version = .*$", re.M)
_LIST = re.compile(r"^((?:[\w-]+ = )?\[\n)((?: +.*\n)*)(\]\n)", re.M)
_CARGO_NEED = re.compile(r"""^ "([^" ]+)(?: ([^" ]+))?(?: \([^)"]*\))?",?$""", re.M)
_UV_NEED = re.compile(r"""^ +\{ name = "([^"]+)"(?:, version = "([^"]+)")?""", re.M)
_UV_OWN = re.compile(r"^source = \{ (?:editable|virtual|directory|workspace) =", re.M)


class Package:
    """One entry: its name and version, what it needs, and whether it belongs to the project itself."""

    def __init__(self, block: str, is_uv: bool) -> None:
        self.name = _field("name", block)
        self.version = _field("version", block)
        listed = _UV_NEED if is_uv else _CARGO_NEED
        self.needs: list[tuple[str, str]] = listed.findall(block)
        own = _UV_OWN.search(block) if is_uv else not re.search(r"^source = ", block, re.M)
        self.is_own = bool(own)


def merge_packages(name: str, base: str, left: str, right: str) -> MergeResult | None:
    """Merges Cargo.lock and uv.lock."""
    is_uv = name == "uv.lock"
    result = merge_by_key(_cut, _by_line, base, left, right, "packages of the lock file")
    if result is None:
        return None
    result.text = _sorted(result.text)
    sides = [read_packages(text, is_uv) for text in (left, right, result.text)]
    return result if _is_sound(sides[0], sides[1], sides[2]) else None


def _field(name: str, block: str) -> str:
    found = re.search(_FIELD.format(name), block, re.M)
    return found[1] if found else ""


def _cut(text: str) -> KeyedEntry:
    """The head of the file, then one entry per package; the blank line before a package is its lead."""
    starts = [found.start() for found in _BLOCK.finditer(text)]
    if not starts:
        raise Undecided("no packages")
    children = [KeyedEntry("head", "", text[: starts[0]].rstrip("\n") + "\n")]
    lead = text[len(children[0].text) : starts[0]]
    for start, end in zip(starts, [*starts[1:], len(text)], strict=True):
        block = text[start:end]
        own = block.rstrip("\n") + "\n"
        children.append(KeyedEntry(_key(block), lead, own))
        lead = block[len(own) :]
    return KeyedEntry("", "", "", children, tail=lead)


def _sorted(text: str) -> str:
    """The packages sorted by name, then version, as the package managers write them; all leads are alike."""
    root = _cut(text)
    assert root.children is not None
    head, *packages = root.children
    root.children = [head, *sorted(packages, key=lambda entry: entry.key)]
    return root.write()


def _key(block: str) -> str:
    """The key of a package: name, version and source; for the project's own packages only the name."""
    source = re.search(r"^source = (.*)$", block, re.M)
    is_own = source is None or _UV_OWN.search(block)
    return _field("name", block) + (
        " " if is_own or not source else f" {_field('version', block)} {source[1]}"
    )


def read_packages(text: str, is_uv: bool) -> list[Package]:
    return [Package(part, is_uv) for part in _BLOCK.split(text)[1:]]


# -- one package that both sides changed ----------------------------------------------------------


def _by_line(where: tuple[str, ...], base: str, left: str, right: str) -> str | None:
    """The merged package, if only its version and its lists differ: a list is a sorted set of lines."""
    if where == ("head",) or not base:
        return None
    found = [_VERSION.search(text) for text in (base, left, right)]
    lines = [line[0] + "\n" for line in found if line]
    version = line_by_line(lines[0], lines[1], lines[2]) if len(lines) == 3 else None
    masks = [_VERSION.sub("", _LIST.sub(r"\1\0\3", text), count=1) for text in (base, left, right)]
    if version is None or masks[1] != masks[0] or masks[2] != masks[0]:
        return None
    lists = [[split_lines(found[1]) for found in _LIST.findall(text)] for text in (base, left, right)]
    merged = iter([_united(*rows) for rows in zip(*lists, strict=True)])
    text = _LIST.sub(lambda found: found[1] + next(merged) + found[3], left)
    return _VERSION.sub(lambda _: version[1].rstrip("\n"), text, count=1)


def _united(base: list[str], left: list[str], right: list[str]) -> str:
    old, ours, theirs = set(base), set(left), set(right)
    return "".join(sorted((ours & theirs) | (ours - old) | (theirs - old)))


# -- is the result sound? --------------------------------------------------------------------------


def _is_sound(left: list[Package], right: list[Package], merged: list[Package]) -> bool:
    ours, theirs, all_of_it = _versions(left), _versions(right), _versions(merged)
    for name, versions in all_of_it.items():
        if versions not in (ours.get(name), theirs.get(name)):
            return False
    return all_found(merged) and _all_needed(merged)


def _versions(packages: list[Package]) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for package in packages:
        found.setdefault(package.name, set()).add(package.version)
    return found


def all_found(packages: list[Package]) -> bool:
    """Does every dependency name exactly one package in the file?"""
    versions = _versions(packages)
    for package in packages:
        for name, version in package.needs:
            there = versions.get(name, set())
            if (version not in there) if version else len(there) != 1:
                return False
    return True


def _all_needed(packages: list[Package]) -> bool:
    by_name: dict[str, list[Package]] = {}
    for package in packages:
        by_name.setdefault(package.name, []).append(package)
    todo = [package for package in packages if package.is_own]
    seen = {id(package) for package in todo}
    while todo:
        for name, version in todo.pop().needs:
            for package in by_name.get(name, []):
                if id(package) not in seen and version in ("", package.version):
                    seen.add(id(package))
                    todo.append(package)
    return len(seen) == len(packages)
