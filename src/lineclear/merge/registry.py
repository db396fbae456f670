"""Which handler answers for which path. Modules are loaded on first use: most files need none of them."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Protocol

    from lineclear.merge.result import Labels, MergeResult

    class Handler(Protocol):
        """One kind of file. None: not mine after all, or I refuse; the next rule may try."""

        def merge(self, path: str, base: str, left: str, right: str, labels: Labels) -> MergeResult | None: ...


HANDLERS: list[tuple[Callable[[str], bool], str]] = []


def handlers_for(path: str) -> list[Handler]:
    """The handlers that know this kind of file, in the order of the table."""
    from importlib import import_module
    from typing import cast

    return [cast("Handler", import_module(name)) for matches, name in HANDLERS if matches(path)]
