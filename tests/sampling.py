"""How many of a long row of trials one run makes: all with `LINECLEAR_EVERY_STEP=1`, else a share of them."""

from __future__ import annotations

import os
from collections.abc import Sequence
from random import randrange
from typing import TypeVar

IS_WHOLE = bool(os.environ.get("LINECLEAR_EVERY_STEP"))

Item = TypeVar("Item")


def some_of(row: Sequence[Item], share: int = 3) -> Sequence[Item]:
    """Every third, so that no stretch of the row is left out; another third another time."""
    return row if IS_WHOLE else row[randrange(share) :: share]


def some(count: int, share: int = 3) -> int:
    """For trials that are drawn by lot."""
    return count if IS_WHOLE else -(-count // share)
