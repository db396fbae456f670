"""The claims that a hook takes by itself: intents in a worktree, short exclusive ones in a shared tree."""

from __future__ import annotations

from lineclear.app.claims import ask_in, fences_near, holders
from lineclear.app.hooks.judging import SHORT_MS
from lineclear.core.agents.hooks import MOST_PATHS, newcomer
from lineclear.core.agents.names import is_family
from lineclear.core.claims.rules import EXCLUSIVE, INTENT, Request, claim_released, is_over
from lineclear.core.log.events import Draft
from lineclear.core.log.tables import CLAIM, TASK
from lineclear.core.tasks.states import TAKEN
from lineclear.core.words.refusals import Refusal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from lineclear.app.hooks.ports import FileInTree
    from lineclear.app.hooks.session import HookSession
    from lineclear.app.ports import Tx, View
    from lineclear.core.log.tables import Claim

# In a session's memory: paths, as tools name them, that were announced. They hardly need to be written again.
ANNOUNCED = "announced"


def writer_of(session: HookSession, file: FileInTree) -> str:
    """Who held the file exclusively last, if that was somebody else."""
    near = [m for m in fences_near(session.tx, file.resource) if m.resource == file.resource.text]
    newest = max(near, key=lambda mark: mark.fence, default=None)
    return newest.agent if newest is not None and not is_family(newest.agent, session.caller.name) else ""


# -- in a worktree of one's own ---------------------------------------------------------------


def announce(session: HookSession, files: list[FileInTree], symbol_of: Callable[[FileInTree], str]) -> None:
    """Take an intent on each file that has none of the caller's yet, and tell those who were there first."""
    tx, name = session.tx, session.caller.name
    missing = [file for file in files if not _has_live(tx, name, file)]
    if not missing:
        return
    task = next((task.id for task in tx.scan(TASK, "ready", (TAKEN,)) if is_family(task.agent, name)), 0)
    for file in missing[:MOST_PATHS]:
        symbol = symbol_of(file)
        note = f"in {symbol}" if symbol else ""
        request = Request(
            name, file.tree, INTENT, [file.resource], ttl_ms=session.ttl_ms, note=note, task=task
        )
        try:
            ask_in(tx, session.liveness, session.caller, request)
        except Refusal as refusal:
            if not _is_by_symbol(refusal):
                raise
            continue
        others = {claim.agent for claim in holders(tx, file.resource) if not is_family(claim.agent, name)}
        words = newcomer(name, file.resource.text, task, note)
        for audience in sorted(f"agent:{other}" for other in others):
            tx.append(Draft("MessageSent", audience, audience=audience, urgent=0, text=words))


def _is_by_symbol(refusal: Refusal) -> bool:
    """Does somebody hold only a symbol of the file? The edit was judged not to touch it, so it goes on; but
    the file as a whole cannot be claimed beside it."""
    return refusal.code == "claim.held" and str(refusal.facts["held"]).startswith("symbol:")


def _has_live(view: View, name: str, file: FileInTree) -> bool:
    claim = view.get(CLAIM, (name, file.resource.text))
    return claim is not None and not is_over(claim.until_ns, view.now)


# -- in a tree that several share -------------------------------------------------------------


def begin_short(session: HookSession, files: list[FileInTree]) -> None:
    """Exclusive for the moment of the edit. What the agent holds exclusively anyway is left as it is; an
    announcement of somebody else's does not stop it."""
    memory, name = session.memory, session.caller.name
    wanted = []
    for file in files:
        claim = session.tx.get(CLAIM, (name, file.resource.text))
        is_short = bool(memory.get("short", file.resource.text))
        if claim is None or claim.mode != EXCLUSIVE or is_short:
            wanted.append(file)
            # Asked again, what was there before the first time counts. First remembered, then taken: a call
            # that dies in between, or after, leaves nothing that nobody ends.
            if not is_short:
                before = "none" if claim is None else f"{claim.mode} {claim.ttl_ms}"
                memory.set_now("short", file.resource.text, before)
    for file in wanted:
        request = Request(name, file.tree, EXCLUSIVE, [file.resource], ttl_ms=SHORT_MS, note="one edit")
        try:
            session.refuse_locked(request)
            ask_in(session.tx, session.liveness, session.caller, request)
        except Refusal as refusal:
            memory.set("short", file.resource.text, "")
            is_announced = refusal.code == "claim.held" and refusal.facts.get("mode") == INTENT
            if not is_announced and not _is_by_symbol(refusal):
                end_shorts(session, [other.resource.text for other in wanted])
                raise


def end_shorts(session: HookSession, resources: list[str]) -> None:
    """Give back what `begin_short` took; an announcement that it replaced comes back."""
    tx = session.tx
    for text in resources:
        mode, _, ttl_ms = session.memory.get("short", text).partition(" ")
        if not mode:
            continue
        claim = tx.get(CLAIM, (session.caller.name, text))
        if claim is not None and claim.mode == EXCLUSIVE:
            tx.append(claim_released(claim, "released"))
            if mode != "none" and ttl_ms.isdigit():
                tx.append(_again(tx, claim, mode, int(ttl_ms)))
        session.memory.set("short", text, "")


def _again(tx: Tx, claim: Claim, mode: str, ttl_ms: int) -> Draft:
    return Draft(
        "ClaimGranted", claim.resource, resource=claim.resource, node=claim.node, mode=mode, tree=claim.tree,
        note="", task=claim.task, ttl_ms=ttl_ms, bond="", until_ns=tx.now.in_ms(ttl_ms),
    )  # fmt: skip
