"""The rank of each source of a setting: the higher rank wins."""

from __future__ import annotations

from lineclear.settings.table import DEFAULT, FLAG, LOCAL_FILE, TEAM_FILE

_RANKS = {DEFAULT: 0, TEAM_FILE: 1, LOCAL_FILE: 2, FLAG: 4}
_VARIABLE_RANK = 3


def rank(origin: str) -> int:
    """Any other origin is the name of a variable."""
    return _RANKS.get(origin, _VARIABLE_RANK)
