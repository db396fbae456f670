"""May this agent change this file now? core/claims/write_rule.py decides; here its refusal is worded for a
model.
"""

from __future__ import annotations

from lineclear.app.write_facts import judge as judge_write
from lineclear.app.write_facts import tree_of
from lineclear.core.claims.granting import EXCLUSIVE, INTENT, Blocker, Request
from lineclear.core.claims.strategies import LOCKED, strategy_for
from lineclear.core.claims.write_rule import EDIT, Write, touches_anything
from lineclear.core.words.computed.claims import claim_held
from lineclear.core.words.refusals import Refusal, pasted, refuse

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from lineclear.app.hooks.call_context import HookSession
    from lineclear.app.hooks.ports import FileInTree
    from lineclear.app.ports import View
    from lineclear.core.claims.write_rule import WriteVerdict
    from lineclear.core.log.tables import Claim

# Prefixes of refusals that deny what the agent does; other refusals are failures of ours.
JUDGEMENTS = ("claim.", "fence.", "hook.", "write.")
# The length of a claim that a hook takes for one edit.
SHORT_MS = 60_000


def judge(
    view: View, session: HookSession, file: FileInTree, touches: Callable[[str], bool] = touches_anything
) -> Sequence[Claim]:
    """Refuse, or return the claims of others who work there.

    `touches`: does the edit change this symbol? True if unknown.
    """
    # Several agents may work in the session's own tree, so its owner does not matter.
    tree = tree_of(view, file.tree) if file.tree != session.caller.tree else None
    write = Write(
        file.resource, session.caller.name, EDIT, tree=tree, fence=session.fence_for(file), touches=touches
    )
    verdict = judge_write(view, session.liveness, session.rules, write)
    if verdict.refusal is not None:
        raise _for_a_model(view, session, file, verdict, verdict.refusal)
    return verdict.others


def _for_a_model(
    view: View, session: HookSession, file: FileInTree, verdict: WriteVerdict, refusal: Refusal
) -> Refusal:
    """The refusal with a next step that an agent can take in the middle of an edit."""
    text = file.resource.text
    if refusal.code == "gate.foreign_tree":
        owner = str(refusal.facts["holder"])
        return refuse("hook.foreign_worktree", path=file.path, tree=file.tree, holder=owner, own=session.root)
    if refusal.code == "write.unlocked":
        return refuse("hook.locked", resource=text)
    if refusal.code != "write.held" or verdict.holder is None:
        return refusal
    is_locked = strategy_for(file.resource, session.rules).strategy == LOCKED
    mode = EXCLUSIVE if file.is_shared or is_locked else INTENT
    request = Request(session.caller.name, file.tree, mode, [file.resource], ttl_ms=session.ttl_ms)
    held = claim_held(
        Blocker(file.resource, verdict.holder, verdict.holder.resource, 0), request, view.now, 1
    )
    if verdict.holder.ttl_ms <= SHORT_MS:
        # The holder is in the middle of one edit: a short wait and a short claim are enough.
        held.next = f"lineclear claim {pasted(text)} --mode {mode} --ttl 1m --wait 2m"
    return held
