"""Addresses of pages: which verb shows them, and which events may have changed them."""

from __future__ import annotations

from typing import Any

import pytest

from lineclear.mcp.pages import is_touched, verb_of


@pytest.mark.parametrize(
    ("address", "verb"),
    [
        ("lineclear://status", ("status", {})),
        ("lineclear://tasks", ("task list", {})),
        ("lineclear://task/T-7", ("task show", {"task": "T-7"})),
        ("lineclear://holders/src/a%20b.py", ("who", {"resource": "src/a b.py"})),
        ("lineclear://holders/symbol:a.py%23f", ("who", {"resource": "symbol:a.py#f"})),
        ("lineclear://task/", None),
        ("lineclear://holders/", None),
        ("lineclear://secrets", None),
        ("file:///etc/passwd", None),
        ("", None),
    ],
)
def test_a_page_is_the_answer_of_a_verb(address: str, verb: tuple[str, dict[str, Any]] | None) -> None:
    assert verb_of(address) == verb


@pytest.mark.parametrize(
    ("address", "kind", "subject", "expected"),
    [
        ("lineclear://status", "MessageSent", "message:3", True),
        ("lineclear://tasks", "TaskTaken", "T-7", True),
        ("lineclear://tasks", "ClaimGranted", "file:a", False),
        ("lineclear://task/T-7", "TaskTaken", "T-7", True),
        ("lineclear://task/7", "TaskTaken", "T-7", True),
        ("lineclear://task/T-7", "TaskTaken", "T-77", False),
        ("lineclear://holders/a", "ClaimGranted", "file:a", True),
        ("lineclear://holders/a", "WaitEnded", "wait:3", True),
        ("lineclear://holders/a", "TaskTaken", "T-7", False),
    ],
)
def test_an_event_touches_the_pages_that_show_it(
    address: str, kind: str, subject: str, expected: bool
) -> None:
    assert is_touched(address, {"kind": kind, "subject": subject}) is expected
