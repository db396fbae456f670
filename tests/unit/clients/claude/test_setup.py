"""Set-up of Claude Code."""

from __future__ import annotations

from lineclear.app.setup.plan import Change
from lineclear.clients.registry import setup_of
from tests.unit.clients.setup_cases import find


def test_fail_closed_uses_the_clients_own_switch() -> None:
    found = find("claude", {})
    found.is_closed = True
    plan = setup_of("claude").plan_install(found)
    change = plan.changes[0]
    assert isinstance(change, Change)
    assert b'"onFailure": "block"' in (change.after or b"")
