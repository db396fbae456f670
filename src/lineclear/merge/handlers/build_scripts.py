"""build.gradle and build.gradle.kts by block and dependency, Gemfile by gem. These are programs: only blocks
that are lists by nature are merged by key; the order of everything else matters.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from lineclear.merge.handlers.by_key import as_text, first_of, merge_by_key
from lineclear.merge.handlers.keyed import KeyedEntry, Undecided
from lineclear.merge.handlers.versions import narrower
from lineclear.merge.lines import split_lines
from lineclear.merge.result import Labels, MergeResult

if TYPE_CHECKING:
    from collections.abc import Callable

_LISTS = re.compile(r"\s*(dependencies|plugins)\s*\{\s*\n")
_QUOTED = re.compile(
    r"""'''.*?'''|\"\"\".*?\"\"\"|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|//[^\n]*|/\*.*?\*/""", re.S
)
_COORDINATES = re.compile(r"""\s*([\w.]+)[\s(]+[^"'\n]*["']([\w.$-]+:[\w.$-]+)(?::[^"'\n]*)?["']""")
_GEM = re.compile(r"""\s*gem[\s(]+["']([\w-]+)["']""")


def merge(path: str, base: str, left: str, right: str, _labels: Labels) -> MergeResult | None:
    choose = first_of(narrower, as_text(path))
    cut = _cut_gems if path.rpartition("/")[2] == "Gemfile" else _cut_gradle
    return merge_by_key(cut, choose, base, left, right, "dependencies")


# -- Gradle ------------------------------------------------------------------------------------


def _cut_gradle(text: str) -> KeyedEntry:
    children, tail = _statements(text, _root_key)
    for place, child in enumerate(children):
        if _LISTS.match(child.text) and re.search(r"\n\s*\}\s*$", child.text):
            children[place] = _block(child)
    return KeyedEntry("", "", "", children, tail, is_ordered=True)


def _block(entry: KeyedEntry) -> KeyedEntry:
    lines = split_lines(entry.text)
    children, tail = _statements("".join(lines[1:-1]), _dependency_key)
    return KeyedEntry(entry.key, entry.lead, lines[0], children, tail + lines[-1])


def _statements(text: str, key_of: Callable[[str], str]) -> tuple[list[KeyedEntry], str]:
    """(statements with the comments above them, the rest). A statement ends when its brackets are closed."""
    entries: list[KeyedEntry] = []
    lead = statement = ""
    depth, is_comment = 0, False
    plain_lines = split_lines(_QUOTED.sub(_blanked, text))
    for line, plain in zip(split_lines(text), plain_lines, strict=True):
        if not statement and (is_comment or not line.strip() or line.lstrip().startswith(("//", "/*"))):
            is_comment = (is_comment or line.lstrip().startswith("/*")) and "*/" not in line
            lead += line
            continue
        statement += line
        depth += sum((letter in "{([") - (letter in "})]") for letter in plain)
        if depth <= 0:
            entries.append(KeyedEntry(key_of(statement), lead, statement))
            lead = statement = ""
            depth = 0
    if statement:
        raise Undecided("a block does not end")
    return entries, lead


def _blanked(found: re.Match[str]) -> str:
    return "\n" * found[0].count("\n")


def _root_key(statement: str) -> str:
    """The name of a block or an assignment; else the text of the statement."""
    found = re.match(r"\s*([^={\n]+?)\s*(?:=|\{)", statement)
    return found[1] if found else " ".join(statement.split())


def _dependency_key(statement: str) -> str:
    found = _COORDINATES.match(statement)
    if found:
        return f"{found[1]} {found[2]}"
    plugin = re.match(r"""\s*id[\s(]+["']([\w.-]+)["']""", statement)
    return plugin[1] if plugin else " ".join(statement.split())


# -- Gemfile -----------------------------------------------------------------------------------


def _cut_gems(text: str) -> KeyedEntry:
    root = KeyedEntry("", "", "", [])
    block: KeyedEntry | None = None
    lead = ""
    for line in split_lines(text):
        parent = block or root
        assert parent.children is not None
        if not line.strip() or line.lstrip().startswith("#"):
            lead += line
        elif re.match(r"\s*end\s*$", line) and block is not None:
            block.tail = lead + line
            block, lead = None, ""
        elif re.search(r"\bdo\s*$", line):
            if block is not None:
                raise Undecided("nested blocks")
            block = KeyedEntry(line.strip(), lead, line, [])
            parent.children.append(block)
            lead = ""
        else:
            found = _GEM.match(line)
            parent.children.append(KeyedEntry(f"gem {found[1]}" if found else line.strip(), lead, line))
            lead = ""
    if block is not None or re.search(r",\s*\n\s+\S", text):
        raise Undecided("a form of Gemfile that is not cut by line")
    root.tail = lead
    return root
