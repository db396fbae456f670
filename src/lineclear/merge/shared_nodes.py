"""The nodes of several versions of one text. Nodes with the same kind and text are one part, and are read
once.

Part of the verifier. Reading a node is slow, and most of a file is the same in all its versions.
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
    """All nodes with the same kind and text. Other modules cache what they find out about it here (None: not
    known yet): its label in its scope, its key, the names it imports, the functions in it."""

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
        """The named parts directly inside it."""
        if self._inner is None:
            of = self._parts.of
            self._inner = [of(child) for child in self.node.named_children]
        return self._inner

    def set_inner(self, inner: list[Part]) -> None:
        """For a part whose node does not contain all of it."""
        self._inner = inner

    def is_leaf(self) -> bool:
        if self._is_leaf is None:
            self._is_leaf = not self.node.child_count
        return self._is_leaf


class Parts:
    """All parts of the versions. Nodes with a syntax error are never shared: the parser may read the same
    text differently in each of them."""

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
        """The root of a version that is made of parts: `chain` are the nodes around everything, `inner` are
        the parts inside the last of them."""
        part = Part(self, chain[-1].type, text, chain[-1])
        part.set_inner(inner)
        for outer, node in reversed(list(pairwise(chain))):
            beside = [part if child == node else self.of(child) for child in outer.named_children]
            part = Part(self, outer.type, text, outer)
            part.set_inner(beside)
        return part


class Shared:
    """The parts at the top of the file that all versions have exactly once. They say nothing about what a
    merge did."""

    def __init__(self, language: Language, roots: Sequence[Part]) -> None:
        self._tops = [top_of(language, root) for root in roots]
        once = [_once_in(top.inner()) for top in self._tops]
        self.parts = once[0].intersection(*once[1:])

    def inside(self, part: Part) -> set[Part]:
        """The shared parts, if this part is the whole file; else none."""
        return self.parts if any(part is top for top in self._tops) else set()

    def apart(self, part: Part) -> list[Part]:
        """The parts inside this one, without the shared ones."""
        shared = self.inside(part)
        return [child for child in part.inner() if child not in shared] if shared else part.inner()


def chain_of(language: Language, root: Node) -> list[Node]:
    """The root and the nodes around everything in it; the last one contains the top of the file."""
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
