"""How the places are told where a branch and main do not fit."""

from __future__ import annotations

from lineclear.core.syncing import tell_places

BEN = {"task": "T-1", "title": "Ask for\na code", "agent": "ben", "commit": "c1"}
ANNA = {"task": "", "title": "Fix a typo", "agent": "Anna", "commit": "c2"}


def test_a_place_is_told_with_its_line_kind_symbols_and_those_who_changed_it() -> None:
    conflict = {"path": "a.py", "kind": "content", "symbols": ["login", "out"], "first_line": 3}
    assert tell_places([{**conflict, "others": [BEN, ANNA]}]) == [
        "  a.py near line 3: content in login, out",
        '    on main by T-1 "Ask for a code" (ben); "Fix a typo" (Anna)',
    ]


def test_a_place_that_nobody_is_known_to_have_changed_is_one_line() -> None:
    assert tell_places([{"path": "a\nb.py", "kind": "delete/edit", "others": []}]) == [
        "  a b.py: delete/edit"
    ]
