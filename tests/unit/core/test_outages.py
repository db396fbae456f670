"""What may go on while the shared store is out of reach."""

from __future__ import annotations

import pytest

from lineclear.core.outages import is_outage, judge_alone
from lineclear.core.refusals import Refusal
from lineclear.core.refusals_store import store_failed, store_unreachable, store_unreadable
from lineclear.core.resources import parse_resource
from lineclear.core.strategies import Sharing

FILE = parse_resource("src/a.py")


@pytest.mark.parametrize(
    ("strategy", "owner", "phase", "agent", "code"),
    [
        ("isolated", "", "", "ada", None),
        ("isolated", "", "", "", None),
        ("optimistic", "", "", "ada", None),
        ("locked", "", "", "ada", "gate.unreachable"),
        ("single-writer", "ada", "", "ada", None),
        ("single-writer", "ada", "", "ada/reviewer", None),
        ("single-writer", "ada", "", "ben", "gate.unreachable"),
        ("single-writer", "ada", "", "", "gate.unreachable"),
        ("single-writer", "", "", "ada", "gate.unreachable"),
        ("isolated", "", "integrate", "ada", "gate.unreachable"),
        ("read-only", "", "", "ada", "write.read_only"),
    ],
)
def test_copies_go_on_and_what_exists_once_does_not(
    strategy: str, owner: str, phase: str, agent: str, code: str | None
) -> None:
    refusal = judge_alone(FILE, Sharing(strategy, owner, "test", phase), agent)
    assert (refusal.code if refusal is not None else None) == code


def test_an_outage_is_told_apart_from_other_failures() -> None:
    lost = store_failed("url", "the connection was lost")
    lost.facts["is_lost"] = True
    assert is_outage(lost)
    assert is_outage(store_unreachable("url", "refused"))
    assert not is_outage(store_failed("file", "disk I/O error"))
    assert not is_outage(store_unreadable("file", "permission denied"))
    assert not is_outage(Refusal("claim.held", "no"))
