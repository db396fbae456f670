"""A hook whose team's store may be out of reach: the agent goes on alone meanwhile.

An agent never waits long for a network: a store that was out of reach a moment ago is not tried at all. What
it has copies of passes, what exists once does not (core/claims/write_rule.py), and it is told once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lineclear.core.agents import hooks
from lineclear.core.agents.hooks import BEFORE_EDIT, HookAnswer
from lineclear.core.claims.strategies import strategy_for
from lineclear.core.claims.write_rule import EDIT, Write, judge_write
from lineclear.core.outages import is_outage
from lineclear.core.words.refusals import Refusal, refuse

if TYPE_CHECKING:
    from collections.abc import Callable

    from lineclear.app.hooks.ports import HookClock, HookFiles, HookRules, Memory, OutageMark
    from lineclear.core.agents.hooks import HookCall
    from lineclear.core.claims.strategies import Rule

_AWAY = "away"
_AT_ONCE_NS = 500_000_000


class TeamHook:
    """One call. `ask` answers it from the store; `memory` reads what the session remembers by now."""

    def __init__(
        self, call: HookCall, rules: HookRules, ask: Callable[[], HookAnswer], *, agent: str,
        outage: OutageMark, files: HookFiles, memory: Callable[[], Memory], clock: HookClock,
    ) -> None:  # fmt: skip
        self._call, self._rules, self._ask, self._agent = call, rules, ask, agent
        self._outage, self._files, self._memory, self._clock = outage, files, memory, clock

    def answer(self) -> HookAnswer:
        """From the store, or what can be said without the store when that is out of reach."""
        failure = refuse("store.unreachable", path="", reason="it did not answer a moment ago")
        if not self._outage.is_fresh():
            try:
                reply = self._ask_twice()
            except Refusal as refusal:
                if not is_outage(refusal):
                    raise
                self._outage.note()
                failure = refusal
            else:
                self._outage.clear()
                self._say_back(reply)
                return reply
        event = self._call.event
        if event == hooks.WORKTREE_CREATE or (event == BEFORE_EDIT and self._rules.is_closed):
            raise failure
        return self._answer_alone()

    def _ask_twice(self) -> HookAnswer:
        """A warm connection may have died unnoticed, which shows at once; a hook's work may be done again."""
        began_ns = self._clock.now().tick_ns
        try:
            return self._ask()
        except Refusal as refusal:
            if not refusal.facts.get("is_lost") or self._clock.now().tick_ns - began_ns > _AT_ONCE_NS:
                raise
        return self._ask()

    def _answer_alone(self) -> HookAnswer:
        call, reply = self._call, HookAnswer()
        if call.event == BEFORE_EDIT:
            refusal = refusal_alone(call, self._files, self._rules.rules, self._agent)
            if refusal is not None:
                reply.is_denied, reply.reason = True, str(refusal)
                return reply
        memory = self._memory()
        if call.can_tell and not memory.get(_AWAY):
            reply.context = hooks.store_away()
            memory.set(_AWAY, "", "1")
            memory.save()
        return reply

    def _say_back(self, reply: HookAnswer) -> None:
        memory = self._memory()
        if not self._call.can_tell or not memory.get(_AWAY) or reply.is_denied:
            return
        reply.context = hooks.bounded(f"{hooks.store_back()}\n\n{reply.context}".strip())
        memory.set(_AWAY, "", "")
        memory.save()


def refusal_alone(call: HookCall, files: HookFiles, rules: list[Rule], agent: str) -> Refusal | None:
    """What a clone can say by itself of the paths that are to be edited."""
    for path in call.paths:
        try:
            resource = files.find(path)[2]
        except Refusal:
            continue  # outside of the repository
        refusal = judge_write(Write(resource, agent, EDIT), strategy_for(resource, rules), None).refusal
        if refusal is not None:
            return refusal
    return None
