"""A hook with a team's store: while that does not answer, the agent goes on alone.

An agent never waits long for a network: a store that was out of reach a moment ago is not tried at all. What
it has copies of passes, what exists once does not (core/outages.py), and it is told once.
"""

from __future__ import annotations

import os
from time import monotonic

from lineclear.core import hooks, refusals_store
from lineclear.core.hooks import BEFORE_EDIT, HookAnswer
from lineclear.core.outages import is_outage, judge_alone
from lineclear.core.refusals import Refusal
from lineclear.core.strategies import strategy_for
from lineclear.git.places import Places
from lineclear.process.outages import Outage
from lineclear.wiring.repo import folds_case, state_directory

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from lineclear.core.hooks import HookCall
    from lineclear.git.layout import Layout
    from lineclear.process.sessions import Session
    from lineclear.settings import Settings

_AWAY = "away"
_AT_ONCE_S = 0.5


class Spotter:
    """What a clone can say of a path by itself."""

    __slots__ = ("_layout", "_places", "_settings")

    def __init__(self, layout: Layout, settings: Settings) -> None:
        self._layout, self._settings = layout, settings
        self._places = Places(layout, folds_case(layout, settings), settings.paths_nfc)

    def judge(self, path: str, cwd: str, agent: str) -> Refusal | None:
        from lineclear.wiring.hooking import file_at

        try:
            _, below = self._places.find(path, cwd)
            resource = file_at(self._layout, self._settings, below)
        except Refusal:
            return None  # outside of the repository
        return judge_alone(resource, strategy_for(resource, self._settings.rules), agent)


def respond_in_team(
    layout: Layout, settings: Settings, call: HookCall, environ: Mapping[str, str],
    memory: Callable[[], Session], ask: Callable[[], HookAnswer],
) -> HookAnswer:  # fmt: skip
    """What `ask` answers, or what can be said without the store when that is out of reach."""
    outage = Outage(state_directory(layout))
    failure = refusals_store.store_unreachable("", "it did not answer a moment ago")
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
            _say_back(call, memory(), reply)
            return reply
    if call.event == hooks.WORKTREE_CREATE or (
        call.event == BEFORE_EDIT and settings.hooks_on_error == "closed"
    ):
        raise failure
    return _alone(layout, settings, call, environ, memory())


def _ask_again(ask: Callable[[], HookAnswer]) -> HookAnswer:
    """A warm connection may have died unnoticed, which shows at once; a hook's work may be done again."""
    began_s = monotonic()
    try:
        return ask()
    except Refusal as refusal:
        if not refusal.facts.get("is_lost") or monotonic() - began_s > _AT_ONCE_S:
            raise
    return ask()


def _alone(
    layout: Layout, settings: Settings, call: HookCall, environ: Mapping[str, str], memory: Session
) -> HookAnswer:
    reply = HookAnswer()
    if call.event == BEFORE_EDIT:
        spotter = Spotter(layout, settings)
        cwd = os.path.realpath(call.cwd) if os.path.isdir(call.cwd) else layout.worktree
        for path in call.paths:
            refusal = spotter.judge(path, cwd, environ.get("LINECLEAR_AGENT", ""))
            if refusal is not None:
                reply.is_denied, reply.reason = True, str(refusal)
                return reply
    if call.can_tell and not memory.get(_AWAY):
        reply.context = hooks.store_away()
        memory.set(_AWAY, "", "1")
        memory.save()
    return reply


def _say_back(call: HookCall, memory: Session, reply: HookAnswer) -> None:
    if not call.can_tell or not memory.get(_AWAY) or reply.is_denied:
        return
    reply.context = hooks.bounded(f"{hooks.store_back()}\n\n{reply.context}".strip())
    memory.set(_AWAY, "", "")
    memory.save()
