"""The selectors of a style sheet."""

from __future__ import annotations

import re

# A style sheet of a module is not here: its names are its own.
STYLES = re.compile(r"(?!.*\.module\.).*\.(?:css|scss|less)")
_COMMENT = re.compile(r"/\*.*?(?:\*/|\Z)|^[ \t]*//[^\n]*", re.S | re.M)


def selectors_of(text: str) -> dict[str, str]:
    """The class and id selectors at the top level of a style sheet -> their bodies, with blanks collapsed."""
    return {selector: body for selector, body, _ in style_rules(text)}


def style_rules(text: str) -> list[tuple[str, str, int]]:
    """(selector, body, row) of each rule for classes and ids at the top level."""
    plain = _COMMENT.sub(lambda found: "\n" * found[0].count("\n"), text)
    found = []
    depth, start, selector, row, first = 0, 0, "", 0, 0
    for place in (match.start() for match in re.finditer(r"[{};]", plain)):
        letter = plain[place]
        if letter == "{":
            if not depth:
                head = plain[start:place]
                row += head[: len(head) - len(head.lstrip())].count("\n")
                first, row = row, row + head.strip().count("\n")
                selector, start = " ".join(head.split()), place + 1
            depth += 1
        elif letter == "}":
            depth = max(0, depth - 1)
            if not depth:
                body = plain[start:place]
                row += body.count("\n")
                if selector.startswith((".", "#")):
                    found.append((selector, " ".join(body.split()), first))
                selector, start = "", place + 1
        elif not depth:
            row += plain[start:place].count("\n")
            start = place + 1
    return found
