"""One side raised a family of packages together, the other added one more of the family at the old version.

Each is right on its own, but together the new package would stay behind, and a workspace would not build. So
it is raised too, but only if the whole family moved from one version to one other.
"""

from __future__ import annotations

import re

_VERSION = re.compile(r"(?<![\w.])\d+(?:\.\d+)+(?:-[\w.]+)?(?![\w.])")
_NAME = re.compile(r"[\s\"']*@?([A-Za-z0-9]+)")
LEAST_RAISED = 2


def raise_new_siblings(base: str, left: str, right: str, merged: str) -> str:
    """The merged text with the new members of a raised family at the family's version."""
    known = set(base.split("\n"))
    for raiser, adder in ((right, left), (left, right)):
        moves = _moves(base, raiser)
        new = [line for line in adder.split("\n") if line not in known]
        for line in new:
            for (family, old), raised in moves.items():
                if _family(line) == family and old in _VERSION.findall(line) and merged.count(line) == 1:
                    merged = merged.replace(line, re.sub(re.escape(old), raised, line))
    return merged


def _moves(base: str, side: str) -> dict[tuple[str, str], str]:
    """(family, old version) -> new version, if the side left no package of the family at the old one."""
    after = {_mask(line): line for line in side.split("\n") if _VERSION.search(line)}
    found: dict[tuple[str, str], list[str]] = {}
    for line in base.split("\n"):
        versions, there = _VERSION.findall(line), after.get(_mask(line))
        if len(versions) == 1 and there is not None:
            found.setdefault((_family(line), versions[0]), []).append(_VERSION.findall(there)[0])
    return {
        (family, old): new[0]
        for (family, old), new in found.items()
        if family and len(new) >= LEAST_RAISED and set(new) == {new[0]} and new[0] != old
    }


def _mask(line: str) -> str:
    return _VERSION.sub("\0", line)


def _family(line: str) -> str:
    """The first word of the package's name: `nu` for nu-path, `babel` for @babel/core."""
    found = _NAME.match(line)
    return found[1].lower() if found else ""
