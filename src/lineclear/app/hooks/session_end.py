"""At the end of a session or sub-agent, release the intents on files that were not changed after all, and
the exclusive claims of the sub-agent."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lineclear.core.claims.granting import EXCLUSIVE, INTENT
from lineclear.core.claims.leases import claim_released, is_over
from lineclear.core.claims.resources import resource_of
from lineclear.core.log.events import Draft
from lineclear.core.log.tables import AGENT, CLAIM

if TYPE_CHECKING:
    from lineclear.app.ports import Caller, Store, Tx

# Nobody renews these intents any more, and a branch may wait over a weekend. An intent blocks nobody.
_UNLANDED_MS = 7 * 24 * 3_600_000


def give_back_unchanged(
    store: Store, caller: Caller, tree: str, changed: set[str] | None, *, is_session_over: bool,
    is_shared: bool,
) -> list[str]:  # fmt: skip
    """Release the caller's intents on unchanged files; those on changed files last until the branch lands, at
    most a week. In a shared tree, where an intent does block others, they keep their own length. With
    `is_session_over` the agent leaves, so that the next session in this place takes it over. Otherwise a
    sub-agent has ended, and nobody else would release its exclusive claims.

    `changed`: the paths that the branch changed; None if unknown, and then nothing is released.
    """

    def work(tx: Tx) -> list[str]:
        freed = []
        for claim in tx.pick(CLAIM, "key", (caller.name,)):
            if claim.mode == EXCLUSIVE and not is_session_over and not claim.bond:
                tx.append(claim_released(claim, "sub-agent over"))
                freed.append(claim.resource)
            resource = resource_of(claim.resource)
            if claim.mode != INTENT or claim.tree != tree or claim.bond or resource.kind != "file":
                continue
            if changed is not None and resource.path not in changed:
                tx.append(claim_released(claim, "unchanged"))
                freed.append(claim.resource)
            elif not is_shared and not is_over(claim.until_ns, tx.now):
                tx.put(CLAIM, claim.changed(until_ns=max(claim.until_ns, tx.now.in_ms(_UNLANDED_MS))))
        agent = tx.get(AGENT, (caller.name,))
        is_here = agent is not None and agent.state == "here" and agent.session == caller.session
        if is_session_over and is_here:
            tx.append(Draft("AgentLeft", f"agent:{caller.name}", why="session over"))
        return freed

    return store.transact(caller, work)
