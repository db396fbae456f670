"""One walk over the tree of a file. Handlers, by type of node, note what they find and return the nodes to
visit next; a node without a handler is followed by its children. The walk keeps its own stack, so that no
nesting is too deep.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from lineclear.code.facts.scopes import FoundUse, Scope
from lineclear.code.nodes import text_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from tree_sitter import Node

    from lineclear.code.languages.table import FactNodes, Language
    from lineclear.core.radar.facts import Import, Parameter

    Step = Node | Callable[[], None]
    Handler = Callable[["Walk", Node], Iterable[Step]]


@dataclass(slots=True)
class FoundDefinition:
    """A definition whose digest and constructor are known only at the end of the file."""

    name: str
    kind: str
    row: int
    start: int
    end: int
    head: str
    parameters: tuple[Parameter, ...] | None = None
    type: str = ""
    bases: list[str] = field(default_factory=list)
    constructors: list[tuple[Parameter, ...]] = field(default_factory=list)
    fields: tuple[Parameter, ...] | None = None
    inherits: str = ""
    is_class: bool = False
    is_open: bool = False
    is_optional: bool = False
    is_private: bool = False


class Walk:
    def __init__(self, language: Language, nodes: FactNodes, path: str) -> None:
        self.language, self.nodes, self.path = language, nodes, path
        self.scope = Scope()
        self.uses: list[FoundUse] = []
        self.drafts: list[FoundDefinition] = []
        self.types: dict[str, FoundDefinition] = {}
        self.defined: set[str] = set()
        self.imports: list[Import] = []
        self.exported: set[str] = set()
        self.package = ""
        self.cuts: list[tuple[int, int]] = []  # bytes that no digest counts: comments and docstrings
        self.field_types: dict[str, dict[str, str]] = {}
        self._skipped: set[int] = set()
        self._outer: list[Scope] = []

    def run(self, root: Node, handlers: dict[str, Handler]) -> None:
        todo: list[Step] = [root]
        while todo:
            node = todo.pop()
            if callable(node):
                node()
                continue
            handler = handlers.get(node.type)
            if handler is not None:
                todo.extend(reversed(list(handler(self, node))))
            elif node.child_count:
                todo.extend(reversed(node.children))
        self.scope.settle(self.uses)

    # -- names -------------------------------------------------------------------------------

    def skip(self, node: Node) -> None:
        """The token is not a use: it is the name of a definition, or local."""
        self._skipped.add(node.id)

    def is_skipped(self, node: Node) -> bool:
        return node.id in self._skipped

    def use(
        self,
        name: str,
        kind: str,
        node: Node,
        receiver: str = "",
        *,
        places: int = 0,
        names: tuple[str, ...] = (),
    ) -> None:
        row = node.start_point[0]
        self.uses.append(FoundUse(name, kind, receiver, self.scope.name, row, places, names))

    def bind(self, pattern: Node, type: str = "") -> None:
        """The names in the pattern are local from here on."""
        bound, accesses = self.nodes.bound, self.nodes.accesses
        if pattern.type in bound:
            self.skip(pattern)
            self.scope.bind(text_of(pattern), type)
            return
        todo = [pattern]
        while todo:
            node = todo.pop()
            if node.type in bound:
                self.skip(node)
                self.scope.bind(text_of(node))
            elif node.type not in accesses and not node.type.startswith("subscript"):
                todo += node.named_children

    # -- scopes ------------------------------------------------------------------------------

    def open(self, scope: Scope) -> Callable[[], None]:
        """Begin a scope. Visit the returned step where it ends."""
        self._outer.append(self.scope)
        scope.first_use = len(self.uses)
        self.scope = scope
        return self._close

    def open_block(self) -> Callable[[], None]:
        """Begin a scope that belongs to the same definition as the scope around it."""
        around = self.scope
        return self.open(Scope(name=around.name, is_local=True))

    def owner(self) -> str:
        """The type that the definition around is a member of; "" for a function."""
        return self.scope.name.rpartition(".")[0]

    def _close(self) -> None:
        self.scope.settle(self.uses)
        self.scope = self._outer.pop()
