"""A hook with a team's store: one round trip while it answers; while it does not, the agent goes on alone.

An agent never waits long for a network: a store that was out of reach a moment ago is not tried at all. What
it has copies of passes, what exists once does not (core/write_rule.py), and it is told once.
"""

from __future__ import annotations

import os
from time import monotonic

from lineclear.core import hooks, refusals_store
from lineclear.core.hooks import (
    AFTER_EDIT,
    AFTER_OTHER,
    AFTER_READ,
    AFTER_SHELL,
    BEFORE_EDIT,
    BEFORE_OTHER,
    BEFORE_SHELL,
    PROMPT,
    STOP,
    HookAnswer,
)
from lineclear.core.outages import is_outage
from lineclear.core.refusals import Refusal
from lineclear.core.strategies import strategy_for
from lineclear.core.write_rule import EDIT, Write, judge_write
from lineclear.git.places import Places
from lineclear.process.outages import Outage
from lineclear.wiring.repo import folds_case, state_directory
from lineclear.wiring.together import at_once

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from lineclear.core.hooks import HookCall
    from lineclear.git.layout import Layout
    from lineclear.process.sessions import Session
    from lineclear.settings import Settings
    from lineclear.wiring.hooking import Desk, Mirror
    from lineclear.wiring.repo import Repo

# What these do outside of the store waits until it is committed, or does no harm twice.
_AT_ONCE = (
    BEFORE_EDIT, AFTER_EDIT, AFTER_READ, BEFORE_SHELL, AFTER_SHELL, BEFORE_OTHER, AFTER_OTHER, STOP,
)  # fmt: skip
_AWAY = "away"
_AT_ONCE_S = 0.5


def respond_at_once(
    repo: Repo, call: HookCall, mirror: Mirror | None, memory: Session, make: Callable[[Repo], Desk]
) -> HookAnswer | None:
    """The whole answer in one round trip; None when it has to be asked step by step."""
    # A first prompt may begin the session, and with it a worktree.
    if call.event not in _AT_ONCE and not (call.event == PROMPT and memory.get("welcomed")):
        return None
    from lineclear.app.heartbeat import beat
    from lineclear.app.hooks import answer

    def work(inner: Repo) -> tuple[Desk, HookAnswer]:
        desk = make(inner)
        desk.hold_writes()
        beat(inner.store, inner.presence, desk.caller)
        return desk, answer(desk, call)

    found = at_once(repo, work)
    if found is None:
        return None
    (desk, reply), settled = found
    reply.reason, reply.context = settled.of(reply.reason), settled.of(reply.context)
    desk.keep_answer(reply)
    desk.memory.save()
    if mirror is not None and settled.is_changed:
        mirror.note_change()
    desk.finish()
    return reply


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
        write = Write(resource, agent, EDIT)
        return judge_write(write, strategy_for(resource, self._settings.rules), None).refusal


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
