"""The claims that a hook takes on its own: intents in a worktree, short exclusive claims in a shared tree."""

from __future__ import annotations

from lineclear.app.claims import ask_in, fences_near, holders
from lineclear.app.hooks.judging import SHORT_MS
from lineclear.core.agents.hooks import MOST_PATHS, newcomer
from lineclear.core.agents.names import is_family
from lineclear.core.claims.granting import EXCLUSIVE, INTENT, Request
from lineclear.core.claims.leases import claim_released, is_over
from lineclear.core.log.events import Draft
from lineclear.core.log.tables import CLAIM, TASK
from lineclear.core.tasks.states import TAKEN
from lineclear.core.words.refusals import Refusal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from lineclear.app.hooks.call_context import HookSession
    from lineclear.app.hooks.ports import FileInTree

# In a session's memory: the announced paths, as tools name them. Editing them again rarely needs a write.
ANNOUNCED = "announced"
# The files that were edited while the store was out of reach, to announce when it is back.
UNANNOUNCED = "unannounced"


def writer_of(session: HookSession, file: FileInTree) -> str:
    """The agent that last held the file exclusively; "" if that was the caller's own family."""
    near = [m for m in fences_near(session.tx, file.resource) if m.resource == file.resource.text]
    newest = max(near, key=lambda mark: mark.fence, default=None)
    return newest.agent if newest is not None and not is_family(newest.agent, session.caller.name) else ""


# -- in a worktree of one's own ---------------------------------------------------------------


def announce(session: HookSession, files: list[FileInTree], symbol_of: Callable[[FileInTree], str]) -> None:
    """Take an intent on each file on which the caller has no claim yet, and tell the other holders."""
    tx, name = session.tx, session.caller.name
    claims = [tx.get(CLAIM, (name, file.resource.text)) for file in files]
    missing = [
        file
        for file, claim in zip(files, claims, strict=True)
        if claim is None or is_over(claim.until_ns, tx.now)
    ]
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
        others = {
            claim.agent: claim.tree == file.tree
            for claim in holders(tx, file.resource)
            if not is_family(claim.agent, name)
        }
        for other, shares_copy in sorted(others.items()):
            audience = f"agent:{other}"
            words = newcomer(name, file.resource.text, task, note, shares_copy=shares_copy)
            tx.append(Draft("MessageSent", audience, audience=audience, urgent=0, text=words))


def _is_by_symbol(refusal: Refusal) -> bool:
    """Does somebody hold only a symbol of the file? The edit does not touch that symbol and may continue, but
    the file as a whole cannot be claimed."""
    return refusal.code == "claim.held" and str(refusal.facts["held"]).startswith("symbol:")


# -- in a tree that several share -------------------------------------------------------------


def begin_short(session: HookSession, files: list[FileInTree]) -> None:
    """Claim the files exclusively for one edit. Leaves files alone that the agent holds exclusively already;
    another agent's intent does not block it."""
    memory, name = session.memory, session.caller.name
    wanted = []
    for file in files:
        claim = session.tx.get(CLAIM, (name, file.resource.text))
        is_short = bool(memory.get("short", file.resource.text))
        if claim is None or claim.mode != EXCLUSIVE or is_short:
            wanted.append(file)
            # Remember the earlier claim before taking the short one, so that a call that dies at any point
            # leaves no claim that nobody ends. A repeated call keeps what the first one remembered.
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
    """Release what `begin_short` claimed, and restore the intent that it replaced."""
    tx = session.tx
    for text in resources:
        mode, _, ttl_ms = session.memory.get("short", text).partition(" ")
        if not mode:
            continue
        claim = tx.get(CLAIM, (session.caller.name, text))
        if claim is not None and claim.mode == EXCLUSIVE:
            tx.append(claim_released(claim, "released"))
            if mode != "none" and ttl_ms.isdigit():
                tx.append(
                    Draft(
                        "ClaimGranted", claim.resource, resource=claim.resource, node=claim.node, mode=mode,
                        tree=claim.tree, note="", task=claim.task, ttl_ms=int(ttl_ms), bond="",
                        until_ns=tx.now.in_ms(int(ttl_ms)),
                    )
                )  # fmt: skip
        session.memory.set("short", text, "")
