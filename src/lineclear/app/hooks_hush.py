"""How long the same call, made again, would be answered with silence, if nothing is committed meanwhile.

What others commit lifts a hush (core/hush.py); what changes without a commit is looked at here: ends of
leases, signs of life, what the session still has to hear.
"""

from __future__ import annotations

from lineclear.app.claims import holders
from lineclear.app.heartbeat import BEAT_EVERY_NS
from lineclear.app.messages import inbox
from lineclear.core.claims import EXCLUSIVE
from lineclear.core.hooks import AFTER_READ, AFTER_SHELL, BEFORE_EDIT, BEFORE_SHELL, is_silent
from lineclear.core.names import is_family
from lineclear.core.strategies import OPTIMISTIC, strategy_for
from lineclear.core.tables import AGENT, CLAIM

TYPE_CHECKING = False
if TYPE_CHECKING:
    from lineclear.app.hooks_ports import Desk, Spot
    from lineclear.app.ports import View
    from lineclear.core.hooks import HookAnswer, HookCall

# Until the next heartbeat is due, so that signs of life and renewals go on as if nobody were hushed.
LONGEST_MS = BEAT_EVERY_NS // 1_000_000
HUSHABLE = (BEFORE_EDIT, AFTER_READ, BEFORE_SHELL, AFTER_SHELL)
# A lease has to outlast the hush by as much again: the stub's clock may be set back by less than a hush.
_SPARE_MS = LONGEST_MS


def quiet_for_ms(desk: Desk, call: HookCall, reply: HookAnswer) -> int:
    """0 where the next answer may be another one, or the next call has something to do.

    Only in a worktree of one's own: in a shared tree every edit takes a short claim and records what it
    wrote. There nobody else reads the versions that an edit leaves, so nothing is lost by not asking.
    """
    if call.event not in HUSHABLE or call.subagent or not is_silent(reply):
        return 0
    # Where versions count, each reading is remembered.
    if call.event == AFTER_READ and any(rule.strategy == OPTIMISTIC for rule in desk.rules):
        return 0
    if desk.is_shared or any(desk.memory.keys(kind) for kind in ("told", "later", "short", "unread")):
        return 0
    spot = None
    if call.event == BEFORE_EDIT:
        spot = _plain_spot(desk, call)
        if spot is None:
            return 0
    return desk.store.read(lambda view: _quiet_for_ms(view, desk, spot))


def _plain_spot(desk: Desk, call: HookCall) -> Spot | None:
    """The one file, if it lies in the session's own tree under the name that it was given."""
    spot = desk.locate(call.paths[0]) if len(call.paths) == 1 else None
    if spot is None or spot.is_shared or spot.tree != desk.caller.tree or spot.path != spot.resource.path:
        return None
    # A version that was remembered has to be remembered anew after each write.
    is_optimistic = strategy_for(spot.resource, desk.rules).strategy == OPTIMISTIC
    return None if is_optimistic or desk.memory.get("version", spot.path) else spot


def _quiet_for_ms(view: View, desk: Desk, spot: Spot | None) -> int:
    name = desk.caller.name
    if inbox(view, name, 1)["messages"]:
        return 0
    # One who is only silent may come back without an event, and then the tree is shared.
    here = view.pick(AGENT, "tree", (desk.caller.tree,))
    if any(a.kind == "agent" and a.state == "here" and not is_family(a.name, name) for a in here):
        return 0
    if spot is None:
        return LONGEST_MS
    if view.get(CLAIM, (name, spot.resource.text)) is None:
        return 0
    near = holders(view, spot.resource)
    # Of a held symbol only some edits are denied, and the stub cannot tell which.
    if any(claim.mode == EXCLUSIVE and not is_family(claim.agent, name) for claim in near):
        return 0
    left_ms = min((view.now.ms_until(claim.until_ns) for claim in near), default=0)
    return max(0, min(LONGEST_MS, left_ms - _SPARE_MS))
