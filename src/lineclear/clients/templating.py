"""Fills in the templates of the files that we install; they lie in the folders of the clients."""

from __future__ import annotations

import os
import re

_DIRECTORY = os.path.dirname(__file__)
_WORD = re.compile("@([A-Z]+)@")


def fill(name: str, *, directory: str = _DIRECTORY, **words: str) -> str:
    """The template with each `@WORD@` replaced in one pass."""
    with open(os.path.join(directory, name), encoding="utf-8", newline="") as file:
        return _WORD.sub(lambda found: words[found.group(1)], file.read())
