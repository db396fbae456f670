"""No module needs itself: imports, wherever they stand, form no circle."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import grimp


def cycles(imports: Mapping[str, Iterable[str]]) -> list[list[str]]:
    """Groups of modules that import each other, directly or through others."""
    order: list[str] = []
    seen: set[str] = set()

    def visit(module: str) -> None:
        seen.add(module)
        for other in sorted(imports.get(module, ())):
            if other not in seen:
                visit(other)
        order.append(module)

    for module in sorted(imports):
        if module not in seen:
            visit(module)
    importers: dict[str, set[str]] = {}
    for module, others in imports.items():
        for other in others:
            importers.setdefault(other, set()).add(module)
    found, done = [], set[str]()
    for module in reversed(order):
        group, left = [], [module]
        while left:
            one = left.pop()
            if one not in done:
                done.add(one)
                group.append(one)
                left.extend(importers.get(one, ()))
        if len(group) > 1:
            found.append(sorted(group))
    return found


def test_modules_do_not_import_each_other_in_a_circle() -> None:
    graph = grimp.build_graph("lineclear", exclude_type_checking_imports=True, cache_dir=None)
    assert cycles({one: graph.find_modules_directly_imported_by(one) for one in graph.modules}) == []


def test_a_circle_would_be_found() -> None:
    assert cycles({"a": ["b"], "b": ["c"], "c": ["a"], "d": ["a"], "e": []}) == [["a", "b", "c"]]
