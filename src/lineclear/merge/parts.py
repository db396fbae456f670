"""The nodes of several versions of one text. What is alike in kind and text is one part, and is read once.

Belongs to the verifier. Every question to a node costs; most of a file is the same in all its versions.
"""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tree_sitter import Node

    from lineclear.code.languages.table import Language


class Part:
    """One node, or all that are like it. What others find out about it is kept here (None: nobody asked): its
    label in its scope, the key it gives a value to, the names it imports, the functions in it."""

    def __init__(self, parts: Parts, kind: str, text: bytes, node: Node) -> None:
        self.kind = kind
        self.text = text
        self.node = node
        self.label: str | None = None
        self.key: str | None = None
        self.imports: list[str] | None = None
        self.functions: list[tuple[str, str]] | None = None
        self._parts = parts
        self._inner: list[Part] | None = None
        self._is_leaf: bool | None = None

    def inner(self) -> list[Part]:
        """The named parts right inside of it."""
        if self._inner is None:
            of = self._parts.of
            self._inner = [of(child) for child in self.node.named_children]
        return self._inner

    def hold(self, inner: list[Part]) -> None:
        """For a part whose node does not hold all of it."""
        self._inner = inner

    def is_leaf(self) -> bool:
        if self._is_leaf is None:
            self._is_leaf = not self.node.child_count
        return self._is_leaf


class Parts:
    """All parts of the versions. What holds an error is never taken for something like it: there the same
    text is read in one way or another."""

    def __init__(self, *, has_errors: bool) -> None:
        self._has_errors = has_errors
        self._known: dict[tuple[str, bytes], Part] = {}

    def of(self, node: Node) -> Part:
        kind, text = node.type, node.text or b""
        if self._has_errors and node.has_error:
            return Part(self, kind, text, node)
        part = self._known.get((kind, text))
        if part is None:
            part = self._known[kind, text] = Part(self, kind, text, node)
        return part

    def around(self, chain: list[Node], text: bytes, inner: list[Part]) -> Part:
        """The root of a version made of parts: `chain` are the nodes around everything, `inner` is what the
        last of them holds."""
        part = Part(self, chain[-1].type, text, chain[-1])
        part.hold(inner)
        for outer, node in reversed(list(pairwise(chain))):
            beside = [part if child == node else self.of(child) for child in outer.named_children]
            part = Part(self, outer.type, text, outer)
            part.hold(beside)
        return part


class Shared:
    """What all versions hold once, right inside of the part that is the whole file. Such a part says nothing
    about what a merge did."""

    def __init__(self, language: Language, roots: Sequence[Part]) -> None:
        self._tops = [top_of(language, root) for root in roots]
        once = [_once_in(top.inner()) for top in self._tops]
        self.parts = once[0].intersection(*once[1:])

    def inside(self, part: Part) -> set[Part]:
        """The shared ones, if this part is the whole file."""
        return self.parts if any(part is top for top in self._tops) else set()

    def apart(self, part: Part) -> list[Part]:
        """What is inside of a part, without what all versions share."""
        shared = self.inside(part)
        return [child for child in part.inner() if child not in shared] if shared else part.inner()


def chain_of(language: Language, root: Node) -> list[Node]:
    """The root, what is around everything in it, and so on; the last one holds what is at the file's top."""
    chain = [root]
    while True:
        inner = (child for child in chain[-1].named_children if child.type != "comment")
        only, more = next(inner, None), next(inner, None)
        if only is None or more is not None or only.type not in language.outermost:
            return chain
        chain.append(only)


def top_of(language: Language, part: Part) -> Part:
    while True:
        inner = (child for child in part.inner() if child.kind != "comment")
        only, more = next(inner, None), next(inner, None)
        if only is None or more is not None or only.kind not in language.outermost:
            return part
        part = only


def _once_in(parts: list[Part]) -> set[Part]:
    return {part for part, times in Counter(parts).items() if times == 1}
