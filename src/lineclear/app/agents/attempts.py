"""Logs what an agent tried and may not decide: a person should see it, although nothing came of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lineclear.app.agents.membership import ensure_agent
from lineclear.app.ports import Caller
from lineclear.core.log.events import Draft

if TYPE_CHECKING:
    from collections.abc import Iterable

    from lineclear.app.ports import Store, Tx

# The refusals of what only a person, or only another agent, may decide.
LIMITS = frozenset({"person.only", "queue.own", "token.other", "task.not_yours", "claim.not_yours"})
# An agent's variable that did not count is no refusal: the command goes on without it.
OVERRULED = "overruled"


def log_attempts(store: Store, caller: Caller, attempts: Iterable[tuple[str, str]]) -> None:
    """`attempts`: the code, and what was tried."""
    # Without the operation id: a repeat is another attempt.
    by = Caller(caller.name, tree=caller.tree, client=caller.client, session=caller.session, seen=caller.seen)

    def work(tx: Tx) -> None:
        ensure_agent(tx, by)
        for code, what in attempts:
            tx.append(Draft("AttemptRefused", by.name, code=code, what=what))

    store.transact(by, work)
