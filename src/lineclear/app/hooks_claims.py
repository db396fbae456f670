"""The claims that a hook takes by itself: intents in a worktree, short exclusive ones in a shared tree."""

from __future__ import annotations

from lineclear.app.claims import ask, fences_near, holders
from lineclear.app.hooks_judging import SHORT_MS
from lineclear.core.claims import EXCLUSIVE, INTENT, Request, claim_released, is_over
from lineclear.core.events import Draft
from lineclear.core.hooks import MOST_PATHS, newcomer
from lineclear.core.names import is_family
from lineclear.core.refusals import Refusal
from lineclear.core.tables import CLAIM, TASK
from lineclear.core.tasks import TAKEN

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from lineclear.app.hooks_ports import Desk, Spot
    from lineclear.app.ports import Tx, View
    from lineclear.core.tables import Claim


def writer_of(view: View, desk: Desk, spot: Spot) -> str:
    """Who held the file exclusively last, if that was somebody else."""
    near = [mark for mark in fences_near(view, spot.resource) if mark.resource == spot.resource.text]
    newest = max(near, key=lambda mark: mark.fence, default=None)
    return newest.agent if newest is not None and not is_family(newest.agent, desk.caller.name) else ""


# -- in a worktree of one's own ---------------------------------------------------------------


def change_intents(desk: Desk, spots: list[Spot], symbol_of: Callable[[Spot], str]) -> bool:
    """Announce what is not announced yet, and tell those who were there first. Was there anything?"""
    missing = desk.store.read(lambda view: [spot for spot in spots if not _has_live(view, desk, spot)])
    if not missing:
        return False
    notes = {spot.resource.text: symbol_of(spot) for spot in missing}
    task = desk.store.read(lambda view: _task_of(view, desk.caller.name))
    for spot in missing[:MOST_PATHS]:
        _announce(desk, spot, task, notes[spot.resource.text])
    return True


def _announce(desk: Desk, spot: Spot, task: int, symbol: str) -> None:
    note = f"in {symbol}" if symbol else ""
    request = Request(
        desk.caller.name, spot.tree, INTENT, [spot.resource], ttl_ms=desk.ttl_ms, note=note, task=task
    )

    def tell_others(tx: Tx) -> None:
        others = {claim.agent for claim in strangers_at(tx, desk, spot)}
        if others:
            _tell_all(tx, sorted(others), newcomer(desk.caller.name, spot.resource.text, task, note))

    try:
        # Together: an announcement that is there is not made again, and then nobody would be told.
        ask(desk.store, desk.liveness, desk.caller, request, tell_others)
    except Refusal as refusal:
        if not _is_by_symbol(refusal):
            raise


def _is_by_symbol(refusal: Refusal) -> bool:
    """Does somebody hold only a symbol of the file? The edit was judged not to touch it, so it goes on; but
    the file as a whole cannot be claimed beside it."""
    return refusal.code == "claim.held" and str(refusal.facts["held"]).startswith("symbol:")


def _tell_all(tx: Tx, agents: list[str], words: str) -> None:
    for agent in agents:
        audience = f"agent:{agent}"
        tx.append(Draft("MessageSent", audience, audience=audience, urgent=0, text=words))


def strangers_at(view: View, desk: Desk, spot: Spot) -> list[Claim]:
    return [claim for claim in holders(view, spot.resource) if not is_family(claim.agent, desk.caller.name)]


def _has_live(view: View, desk: Desk, spot: Spot) -> bool:
    claim = view.get(CLAIM, (desk.caller.name, spot.resource.text))
    return claim is not None and not is_over(claim.until_ns, view.now)


def _task_of(view: View, name: str) -> int:
    return next((task.id for task in view.scan(TASK, "ready", (TAKEN,)) if is_family(task.agent, name)), 0)


# -- in a tree that several share -------------------------------------------------------------


def begin_short(desk: Desk, spots: list[Spot]) -> None:
    """Exclusive for the moment of the edit. What the agent holds exclusively anyway is left as it is; an
    announcement of somebody else's does not stop it."""
    held = desk.store.read(lambda view: [view.get(CLAIM, (desk.caller.name, s.resource.text)) for s in spots])
    wanted = []
    for spot, claim in zip(spots, held, strict=True):
        is_short = bool(desk.memory.get("short", spot.resource.text))
        if claim is None or claim.mode != EXCLUSIVE or is_short:
            wanted.append(spot)
            # Asked again, what was there before the first time counts.
            if not is_short:
                before = "none" if claim is None else f"{claim.mode} {claim.ttl_ms}"
                desk.memory.set("short", spot.resource.text, before)
    # First remembered, then taken: a call that dies in between, or after, leaves nothing that nobody ends.
    desk.memory.save()
    for spot in wanted:
        request = Request(
            desk.caller.name, spot.tree, EXCLUSIVE, [spot.resource], ttl_ms=SHORT_MS, note="one edit"
        )
        try:
            desk.refuse_locked(request)
            ask(desk.store, desk.liveness, desk.caller, request)
        except Refusal as refusal:
            desk.memory.set("short", spot.resource.text, "")
            is_announced = refusal.code == "claim.held" and refusal.facts.get("mode") == INTENT
            if not is_announced and not _is_by_symbol(refusal):
                end_shorts(desk, [other.resource.text for other in wanted])
                raise


def end_shorts(desk: Desk, resources: list[str]) -> None:
    """Give back what `begin_short` took; an announcement that it replaced comes back."""
    taken = {text: before for text in resources if (before := desk.memory.get("short", text))}
    if not taken:
        return
    desk.store.transact(desk.caller, lambda tx: _end(tx, desk.caller.name, taken))
    for text in taken:
        desk.memory.set("short", text, "")


def _end(tx: Tx, name: str, taken: dict[str, str]) -> None:
    for text, before in taken.items():
        claim = tx.get(CLAIM, (name, text))
        if claim is None or claim.mode != EXCLUSIVE:
            continue
        tx.append(claim_released(claim, "released"))
        mode, _, ttl_ms = before.partition(" ")
        if mode != "none" and ttl_ms.isdigit():
            tx.append(_again(tx, claim, mode, int(ttl_ms)))


def _again(tx: Tx, claim: Claim, mode: str, ttl_ms: int) -> Draft:
    return Draft(
        "ClaimGranted", claim.resource, resource=claim.resource, node=claim.node, mode=mode, tree=claim.tree,
        note="", task=claim.task, ttl_ms=ttl_ms, bond="", until_ns=tx.now.in_ms(ttl_ms),
    )  # fmt: skip
