"""JSON by key, comments allowed: package.json, composer.json, tsconfig, translations, any table of values.

Arrays keep their order and are merged as text, except for a few that are known to be sets.
"""

from __future__ import annotations

import re

from lineclear.merge.handlers.by_key import DEEPEST, as_text, first_of, merge_by_key
from lineclear.merge.handlers.keyed import KeyedEntry, Undecided
from lineclear.merge.handlers.raised_versions import raise_new_siblings
from lineclear.merge.handlers.versions import narrower
from lineclear.merge.result import Labels, MergeResult

# Arrays whose order does not matter to the tools that read them.
SETS = {
    "package.json": ("keywords", "files", "browserslist", "workspaces", "onlyBuiltDependencies"),
    "composer.json": ("keywords",),
}
_STRING = re.compile(r'"(?:[^"\\\n]|\\.)*"')
_WORD = re.compile(r"[^,\]}/\s]+")
_PASSED = re.compile(r'[\[\]{}"]')
_BLANKS = {
    "//": re.compile(r"(?:\s+|//[^\n]*|/\*.*?(?:\*/|\Z))*", re.S),
    "#": re.compile(r"(?:\s+|#[^\n]*)*"),
}


def merge(path: str, base: str, left: str, right: str, _labels: Labels) -> MergeResult | None:
    name = path.rsplit("/", 1)[-1]
    sets = SETS.get(name, ())
    choose = first_of(narrower, as_text(path)) if name in SETS else as_text(path)
    result = merge_by_key(lambda text: Scanner(text, sets).cut(), choose, base, left, right, "keys")
    if result is not None and name in SETS:
        result.text = raise_new_siblings(base, left, right, result.text)
    return result


class Scanner:
    """Cuts a text into entries; raises `Undecided` if it is not JSON."""

    def __init__(self, text: str, sets: tuple[str, ...] = (), comment: str = "//") -> None:
        self.text = text
        self.sets = sets
        self.blanks = _BLANKS[comment]
        self.at = 0

    def cut(self) -> KeyedEntry:
        if not self.text.strip():
            return KeyedEntry("", self.text, "", [])
        lead = self.skip()
        entry = self.value("", lead, self.at, 0)
        entry.tail += self.skip()
        if self.at != len(self.text):
            raise Undecided("more than one value")
        return entry

    def skip(self) -> str:
        """Skip blanks and comments, and return them."""
        start = self.at
        found = self.blanks.match(self.text, start)
        self.at = found.end() if found else start
        return self.text[start : self.at]

    def value(self, key: str, lead: str, start: int, depth: int) -> KeyedEntry:
        """The value at this place; `start` is where its entry began, including its key."""
        if depth > DEEPEST:
            raise Undecided("nested too deep")
        letter = self.text[self.at : self.at + 1]
        if letter == "{":
            return self.members(key, lead, start, depth, "}")
        if letter == "[":
            if key in self.sets:
                return self.members(key, lead, start, depth, "]")
            self.pass_over()
        elif letter == '"':
            self.string()
        else:
            found = _WORD.match(self.text, self.at)
            self.at = found.end() if found else self.at
        if start == self.at:
            raise Undecided("a value is missing")
        return KeyedEntry(key, lead, self.text[start : self.at])

    def members(self, key: str, lead: str, start: int, depth: int, closing: str) -> KeyedEntry:
        self.at += 1
        entry = KeyedEntry(key, lead, self.text[start : self.at], [], glue=",")
        assert entry.children is not None
        gap = self.skip()
        comma = ""
        while self.text[self.at : self.at + 1] != closing:
            child = self.member(gap, depth) if closing == "}" else self.item(gap, depth)
            entry.children.append(child)
            gap, comma = self.skip(), ""
            if self.text[self.at : self.at + 1] == ",":
                child.tail += gap  # text before a comma belongs to the entry
                self.at += 1
                gap, comma = self.skip(), ","
            elif self.text[self.at : self.at + 1] != closing:
                raise Undecided("a comma is missing")
        entry.tail = comma + gap + closing
        self.at += 1
        return entry

    def member(self, lead: str, depth: int) -> KeyedEntry:
        start = self.at
        key = self.string()
        self.skip()
        if self.text[self.at : self.at + 1] != ":":
            raise Undecided("a colon is missing")
        self.at += 1
        self.skip()
        return self.value(key, lead, start, depth + 1)

    def item(self, lead: str, depth: int) -> KeyedEntry:
        start = self.at
        entry = self.value("", lead, start, depth + 1)
        entry.key = entry.own()
        return entry

    def string(self) -> str:
        found = _STRING.match(self.text, self.at)
        if found is None:
            raise Undecided("a string is missing or does not end")
        self.at = found.end()
        return found[0][1:-1]

    def pass_over(self) -> None:
        """Skip to the end of an array, whatever is in it."""
        depth = 0
        while found := _PASSED.search(self.text, self.at):
            self.at = found.start()
            if found[0] == '"':
                self.string()
                continue
            depth += 1 if found[0] in "[{" else -1
            self.at += 1
            if not depth:
                return
        raise Undecided("an array does not end")
