"""The selectors of a style sheet."""

from __future__ import annotations

import re


def selectors_of(text: str) -> dict[str, str]:
    """The class and id selectors at the top level of a style sheet -> their bodies, with blanks collapsed."""
    plain = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
    found: dict[str, str] = {}
    depth, start, selector = 0, 0, ""
    for place in (match.start() for match in re.finditer(r"[{};]", plain)):
        letter = plain[place]
        if letter == "{":
            if not depth:
                selector, start = " ".join(plain[start:place].split()), place + 1
            depth += 1
        elif letter == "}":
            depth = max(0, depth - 1)
            if not depth:
                if selector.startswith((".", "#")):
                    found[selector] = " ".join(plain[start:place].split())
                start = place + 1
        elif not depth:
            start = place + 1
    return found
