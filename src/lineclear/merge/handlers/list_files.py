"""Files with one entry per line: requirements, ignore lists, owners' lists, properties and INI settings.

A comment belongs to the entry below it.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from lineclear.merge.handlers.by_key import as_text, first_of, merge_by_key, never
from lineclear.merge.handlers.keyed import KeyedEntry, Undecided
from lineclear.merge.handlers.toml_files import package_of
from lineclear.merge.handlers.versions import constrained, extras, narrower
from lineclear.merge.lines import split_lines
from lineclear.merge.result import Labels, MergeResult

if TYPE_CHECKING:
    from collections.abc import Callable


def merge(path: str, base: str, left: str, right: str, _labels: Labels) -> MergeResult | None:
    name = path.rsplit("/", 1)[-1].lower()
    if name.endswith("ignore"):
        # The order matters if a later pattern can override an earlier one.
        is_ordered = any(re.search(r"^!", text, re.M) for text in (base, left, right))
        return merge_by_key(
            lambda text: cut(text, str.rstrip, "#", is_ordered), never, base, left, right, "lines by key"
        )
    if name.endswith((".properties", ".ini", ".cfg", ".env", ".editorconfig")):
        return merge_by_key(_cut_settings, as_text(path), base, left, right, "keys")
    choose = first_of(narrower, constrained, extras, as_text(path))
    return merge_by_key(lambda text: cut(text, _requirement, "#"), choose, base, left, right, "packages")


def cut(text: str, key_of: Callable[[str], str], comment: str, is_ordered: bool = False) -> KeyedEntry:
    root = KeyedEntry("", "", "", [], is_ordered=is_ordered)
    lead = ""
    for line in _joined(text):
        if not line.strip() or line.lstrip().startswith(comment):
            lead += line
            continue
        root.add(KeyedEntry(key_of(line), lead, line))
        lead = ""
    root.tail = lead
    return root


def _joined(text: str) -> list[str]:
    """The lines; one that ends in a backslash is joined with the next."""
    lines: list[str] = []
    for line in split_lines(text):
        if lines and lines[-1].rstrip("\n").endswith("\\"):
            lines[-1] += line
        else:
            lines.append(line)
    return lines


def _requirement(line: str) -> str:
    """The key of a line: an option itself, or the name and marker of a package."""
    if line.lstrip().startswith(("-", ".", "/", "git+", "http")):
        return line.strip()
    return package_of(line.partition(" #")[0].partition("\\")[0])


def _cut_settings(text: str) -> KeyedEntry:
    root = KeyedEntry("", "", "", [])
    section, lead = root, ""
    for line in _continued(text):
        if not line.strip() or line.lstrip().startswith(("#", ";", "!")):
            lead += line
            continue
        found = re.match(r"\s*\[([^\]\n]+)\]\s*$", line)
        if found:
            section = KeyedEntry(f"[{found[1]}]", lead, line, [])
            root.add(section)
        else:
            key = re.match(r"\s*((?:\\.|[^=:\s\\])+(?: +[^=:\s]+)*)\s*[=:]", line)
            if not key or section.children is None:
                raise Undecided("not a setting")
            section.children.append(KeyedEntry(key[1], lead, line))
        lead = ""
    root.tail = lead
    return root


def _continued(text: str) -> list[str]:
    """The lines; those that are indented below a setting, as in INI, or follow a backslash, are joined to
    it."""
    lines: list[str] = []
    for line in _joined(text):
        is_deeper = line[:1] in " \t" and line.strip() and not line.lstrip().startswith(("#", ";"))
        if is_deeper and lines and lines[-1].strip() and lines[-1][:1] not in "#;[":
            lines[-1] += line
        else:
            lines.append(line)
    return lines
