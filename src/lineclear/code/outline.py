"""Which definition an edit is in, judged by the indentation of lines: a hook cannot wait for a parser.

Every hook loads it: imports nothing.
"""

from __future__ import annotations

_OPENERS = (
    "def ",
    "class ",
    "function ",
    "func ",
    "fn ",
    "interface ",
    "struct ",
    "impl ",
    "trait ",
    "enum ",
)
_BEFORE_OPENERS = ("async ", "export ", "default ", "public ", "private ", "protected ", "static ", "pub ",
                   "abstract ", "final ")  # fmt: skip
_MOST_LINES_UP = 5_000


def symbol_at(text: str, piece: str) -> str:
    """The definitions around a piece of a file, like `Login.check`: a guess by indentation, "" if unsure."""
    place = text.find(piece) if piece else -1
    if place < 0:
        return ""
    first = piece.lstrip("\n").split("\n", 1)[0]
    lines = text[: place + len(piece) - len(piece.lstrip("\n"))].split("\n")
    lines[-1] += first
    found: list[str] = []
    limit = 1 << 30
    for line in reversed(lines[-_MOST_LINES_UP:]):
        bare = line.lstrip()
        indent = len(line) - len(bare)
        if not bare or indent >= limit:
            continue
        name = defined_name(bare)
        if name or not found:
            limit = indent if name or limit == 1 << 30 else min(limit, indent)
        if name:
            found.append(name)
        if limit == 0:
            break
    return ".".join(reversed(found))


def defined_name(line: str) -> str:
    """The name that a line (without its indentation) starts to define; "" if it defines none."""
    while line.startswith(_BEFORE_OPENERS):
        line = line.partition(" ")[2].lstrip()
    if not line.startswith(_OPENERS):
        return ""
    rest = line.partition(" ")[2].lstrip()
    end = next((at for at, ch in enumerate(rest) if not (ch.isalnum() or ch == "_")), len(rest))
    return rest[:end]
