"""A hook whose team's store may be out of reach: the agent goes on alone meanwhile.

An agent never waits long for a network: a store that was out of reach a moment ago is not tried at all. What
it has copies of passes, what exists once does not (core/claims/write_rule.py), and it is told once.
"""

from __future__ import annotations

import os
from time import monotonic

from lineclear.core.agents import hooks
from lineclear.core.agents.hooks import BEFORE_EDIT, HookAnswer
from lineclear.core.claims.strategies import strategy_for
from lineclear.core.claims.write_rule import EDIT, Write, judge_write
from lineclear.core.outages import is_outage
from lineclear.core.words.refusals import Refusal, refuse
from lineclear.git.places import Places
from lineclear.host.outages import Outage
from lineclear.wiring.hooking_context import file_at, memory_of
from lineclear.wiring.repo import folds_case, state_directory

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from lineclear.core.agents.hooks import HookCall
    from lineclear.git.layout import Layout
    from lineclear.host.sessions import SessionFile
    from lineclear.settings import Settings
    from lineclear.wiring.hooking_context import HookContext

_AWAY = "away"
_AT_ONCE_S = 0.5


def respond_in_team(context: HookContext, ask: Callable[[], HookAnswer]) -> HookAnswer:
    """What `ask` answers from the store, or what can be said without the store when that is out of reach."""
    call, outage = context.call, Outage(state_directory(context.layout))
    failure = refuse("store.unreachable", path="", reason="it did not answer a moment ago")
    if not outage.is_fresh():
        try:
            reply = _ask_again(ask)
        except Refusal as refusal:
            if not is_outage(refusal):
                raise
            outage.note()
            failure = refusal
        else:
            outage.clear()
            _say_back(call, memory_of(context), reply)
            return reply
    if call.event == hooks.WORKTREE_CREATE or (
        call.event == BEFORE_EDIT and context.settings.hooks_on_error == "closed"
    ):
        raise failure
    return _alone(context)


def _ask_again(ask: Callable[[], HookAnswer]) -> HookAnswer:
    """A warm connection may have died unnoticed, which shows at once; a hook's work may be done again."""
    began_s = monotonic()
    try:
        return ask()
    except Refusal as refusal:
        if not refusal.facts.get("is_lost") or monotonic() - began_s > _AT_ONCE_S:
            raise
    return ask()


def _alone(context: HookContext) -> HookAnswer:
    call, reply, agent = context.call, HookAnswer(), context.environ.get("LINECLEAR_AGENT", "")
    refusal = None
    if call.event == BEFORE_EDIT:
        refusal = refusal_alone(context.layout, context.settings, call, agent)
    if refusal is not None:
        reply.is_denied, reply.reason = True, str(refusal)
        return reply
    memory = memory_of(context)
    if call.can_tell and not memory.get(_AWAY):
        reply.context = hooks.store_away()
        memory.set(_AWAY, "", "1")
        memory.save()
    return reply


def refusal_alone(layout: Layout, settings: Settings, call: HookCall, agent: str) -> Refusal | None:
    """What a clone can say by itself of the paths that are to be edited."""
    places = Places(layout, folds_case(layout, settings), settings.paths_nfc)
    cwd = os.path.realpath(call.cwd) if os.path.isdir(call.cwd) else layout.worktree
    for path in call.paths:
        try:
            _, below = places.find(path, cwd)
            resource = file_at(layout, settings, below)
        except Refusal:
            continue  # outside of the repository
        write = Write(resource, agent, EDIT)
        refusal = judge_write(write, strategy_for(resource, settings.rules), None).refusal
        if refusal is not None:
            return refusal
    return None


def _say_back(call: HookCall, memory: SessionFile, reply: HookAnswer) -> None:
    if not call.can_tell or not memory.get(_AWAY) or reply.is_denied:
        return
    reply.context = hooks.bounded(f"{hooks.store_back()}\n\n{reply.context}".strip())
    memory.set(_AWAY, "", "")
    memory.save()
