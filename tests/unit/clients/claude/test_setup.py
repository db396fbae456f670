"""Set-up of Claude Code."""

from __future__ import annotations

from dataclasses import replace

from lineclear.app.setup.plan import SetupChange
from lineclear.clients.registry import setup_of
from tests.unit.clients.setup_cases import find


def test_fail_closed_uses_the_clients_own_switch() -> None:
    facts = find("claude", {})
    plan = setup_of("claude").plan_install(replace(facts, is_closed=True))
    change = plan.changes[0]
    assert isinstance(change, SetupChange)
    assert b'"onFailure": "block"' in (change.after or b"")
