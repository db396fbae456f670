"""Which of two sources of a setting is the later one: the later one wins."""

from __future__ import annotations

from lineclear.settings.table import DEFAULT, FLAG, LOCAL_FILE, TEAM_FILE

_RANKS = {DEFAULT: 0, TEAM_FILE: 1, LOCAL_FILE: 2, FLAG: 4}
_VARIABLE_RANK = 3


def rank(origin: str) -> int:
    """An origin that is none of the known words is the name of a variable."""
    return _RANKS.get(origin, _VARIABLE_RANK)
