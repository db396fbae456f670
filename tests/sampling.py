"""How many of a long row of trials one run makes: all with `TEST_EVERY_STEP=1`, else a share of them.

Which share, and whatever else is drawn by lot, follows from `TEST_SEED`. `make test` takes it from
the commit, so that two runs of one commit try the same; without it every run is another one.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from random import Random, randrange
from typing import TypeVar

IS_WHOLE = bool(os.environ.get("TEST_EVERY_STEP"))

SEED = int(os.environ.get("TEST_SEED") or randrange(1 << 32))

Item = TypeVar("Item")


def some_of(row: Sequence[Item], share: int = 3) -> Sequence[Item]:
    """Every third, so that no stretch of the row is left out; with another seed another third."""
    return row if IS_WHOLE else row[Random(SEED).randrange(share) :: share]


def some(count: int, share: int = 3) -> int:
    """For trials that are drawn by lot."""
    return count if IS_WHOLE else -(-count // share)
