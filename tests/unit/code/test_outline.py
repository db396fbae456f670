"""Where in a file an edit is."""

from __future__ import annotations

import pytest

from lineclear.code.outline import symbol_at

CODE = """import os

class Login:
    def check(self):
        return 1

    def leave(self):
        return 2

x = 3
"""


@pytest.mark.parametrize(
    ("piece", "symbol"),
    [
        ("        return 1", "Login.check"),
        ("return 2", "Login.leave"),
        ("    def check(self):", "Login.check"),
        ("x = 3", ""),
        ("not there", ""),
        ("", ""),
    ],
)
def test_the_definitions_around_a_piece_are_found(piece: str, symbol: str) -> None:
    assert symbol_at(CODE, piece) == symbol
