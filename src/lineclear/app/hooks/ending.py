"""The end of a session: announcements of files that were not changed after all are given back."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lineclear.core.claims.rules import INTENT, claim_released, is_over, resource_of
from lineclear.core.log.events import Draft
from lineclear.core.log.tables import AGENT, CLAIM

if TYPE_CHECKING:
    from lineclear.app.ports import Caller, Store, Tx

# Nobody is there to renew it, and a branch may wait over a weekend. An announcement stops nobody.
_UNLANDED_MS = 7 * 24 * 3_600_000


def give_back_unchanged(
    store: Store, caller: Caller, tree: str, changed: set[str] | None, *, is_session_over: bool,
    is_shared: bool,
) -> list[str]:  # fmt: skip
    """Release the caller's intents on files that are as its branch began; those on changed ones last until
    the branch lands, at most a week. The session is then over, so that the next one in this place is the
    same agent. In a shared tree, where an intent does stop others, it keeps its own length.

    `changed`: the paths that the branch changed; None when that is not known, and then nothing is given back.
    """

    def work(tx: Tx) -> list[str]:
        freed = []
        for claim in tx.pick(CLAIM, "key", (caller.name,)):
            resource = resource_of(claim.resource)
            if claim.mode != INTENT or claim.tree != tree or claim.bond or resource.kind != "file":
                continue
            if changed is not None and resource.path not in changed:
                tx.append(claim_released(claim, "unchanged"))
                freed.append(claim.resource)
            elif not is_shared and not is_over(claim.until_ns, tx.now):
                tx.put(CLAIM, claim.changed(until_ns=max(claim.until_ns, tx.now.in_ms(_UNLANDED_MS))))
        agent = tx.get(AGENT, (caller.name,))
        if (
            is_session_over
            and agent is not None
            and agent.state == "here"
            and agent.session == caller.session
        ):
            tx.append(Draft("AgentLeft", f"agent:{caller.name}", why="session over"))
        return freed

    return store.transact(caller, work)
