"""May this agent change this file now? By strategy, by who holds it, and by whose worktree it lies in."""

from __future__ import annotations

from lineclear.app.agents import agent_of_tree
from lineclear.app.claims import holders
from lineclear.core import refusals_hooks, refusals_values
from lineclear.core.claims import EXCLUSIVE, INTENT, Blocker, Request
from lineclear.core.names import is_family
from lineclear.core.refusals import claim_held, pasted
from lineclear.core.strategies import LOCKED, READ_ONLY, SINGLE_WRITER, strategy_for
from lineclear.core.tables import WORKTREE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from lineclear.app.hooks_ports import FileInTree as Spot
    from lineclear.app.hooks_ports import HookSession as Desk
    from lineclear.app.ports import View
    from lineclear.core.strategies import Sharing
    from lineclear.core.tables import Claim

MAIN = "main"
# Codes of refusals that are about the agent's own doing; others mean that we failed.
JUDGEMENTS = ("claim.", "hook.", "write.")
# A claim of at most this length is one that a hook takes for one edit.
SHORT_MS = 60_000


def judge(view: View, desk: Desk, spot: Spot) -> list[tuple[str, str, int, str]]:
    """Refuse, or tell who else is at work there: (agent, resource, task, note)."""
    name = desk.caller.name
    _refuse_foreign_tree(view, desk, spot)
    sharing = strategy_for(spot.resource, desk.rules)
    if sharing.phase:
        from lineclear.app.phases import refuse_by_phase

        refuse_by_phase(view, spot.resource, sharing, name)
    live = holders(view, spot.resource)
    strangers = [claim for claim in live if not is_family(claim.agent, name)]
    for claim in strangers:
        if claim.mode == EXCLUSIVE:
            raise _held(view, desk, spot, sharing, claim)
    _refuse_by_strategy(desk, spot, sharing, live)
    return [(claim.agent, claim.resource, claim.task, claim.note) for claim in strangers]


def _held(view: View, desk: Desk, spot: Spot, sharing: Sharing, claim: Claim) -> Exception:
    writer = sharing.owner or claim.agent
    if sharing.strategy == SINGLE_WRITER and not is_family(writer, desk.caller.name):
        return refusals_values.not_the_writer(spot.resource.text, writer)
    mode = EXCLUSIVE if spot.is_shared or sharing.strategy == LOCKED else INTENT
    request = Request(desk.caller.name, spot.tree, mode, [spot.resource], ttl_ms=desk.ttl_ms)
    refusal = claim_held(Blocker(spot.resource, claim, claim.resource, 0), request, view.now, 1)
    if claim.ttl_ms <= SHORT_MS:
        # Somebody is in the middle of one edit: it is soon over, and nobody should lock it for long then.
        refusal.next = f"lineclear claim {pasted(spot.resource.text)} --mode {mode} --ttl 1m --wait 2m"
    return refusal


def _refuse_by_strategy(desk: Desk, spot: Spot, sharing: Sharing, live: list[Claim]) -> None:
    text = spot.resource.text
    if sharing.strategy == READ_ONLY:
        raise refusals_values.read_only(text)
    if sharing.strategy not in (LOCKED, SINGLE_WRITER) or _is_integrator(desk, sharing):
        return
    if sharing.strategy == SINGLE_WRITER and sharing.owner:
        if not is_family(sharing.owner, desk.caller.name):
            raise refusals_values.not_the_writer(text, sharing.owner)
        return
    # Strangers were refused before: an exclusive claim here is the family's own.
    if not any(claim.mode == EXCLUSIVE for claim in live):
        raise refusals_hooks.unclaimed_lock(text)


def _is_integrator(desk: Desk, sharing: Sharing) -> bool:
    # Most repositories bind nothing to a phase, and a hook pays for every import.
    if not sharing.phase:
        return False
    from lineclear.core.phases import admits_integrator

    return admits_integrator(sharing, desk.caller.name)


def _refuse_foreign_tree(view: View, desk: Desk, spot: Spot) -> None:
    if spot.tree == desk.caller.tree or spot.tree.rpartition("/")[2] == MAIN:
        return
    row = view.get(WORKTREE, (spot.tree,))
    owner = (row.agent if row is not None else "") or agent_of_tree(view, spot.tree)
    if owner and not is_family(owner, desk.caller.name):
        raise refusals_hooks.foreign_worktree(spot.path, spot.tree, owner, desk.root)
