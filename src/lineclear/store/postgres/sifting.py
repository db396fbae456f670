"""`sift` over whole rows, for views and transactions alike."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any, TypeVar

    from lineclear.core.tables import Row, Table

    R = TypeVar("R", bound=Row)
    Key = tuple[int | str, ...]


def sift_rows(
    view: Any,
    table: Table[R],
    index: str,
    values: Iterable[int | str],
    low: int | str,
    high: int | str,
    keep: Callable[[Any], bool],
) -> list[R]:
    """Whole rows in one or two questions: a second round trip for fewer columns would cost more."""
    entry_of = table.entry_of[index]
    found: list[R] = view.pick(table, index, values) + view.scan(table, index, low=low, high=high)
    return [row for row in found if keep(entry_of(row))]
