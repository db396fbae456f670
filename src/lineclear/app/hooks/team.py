"""Answer hooks while the team's store may be unreachable: the agent then continues alone.

An agent never waits long for the network: a store that was unreachable a moment ago is not tried. Edits of
files in the agent's own copy pass, writes to what exists only once do not (core/claims/write_rule.py). The
agent is informed once. When the store is back, the session's next call announces what it edited.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lineclear.app.hooks.claims import UNANNOUNCED
from lineclear.core.agents import hooks
from lineclear.core.agents.hooks import BEFORE_EDIT, HookAnswer
from lineclear.core.claims.strategies import strategy_for
from lineclear.core.claims.write_rule import EDIT, Write, judge_write
from lineclear.core.store_outages import is_outage
from lineclear.core.words.refusals import Refusal, refuse

if TYPE_CHECKING:
    from collections.abc import Callable

    from lineclear.app.hooks.ports import HookClock, HookFiles, HookRules, Memory, OutageMark
    from lineclear.core.agents.hooks import HookCall
    from lineclear.core.claims.strategies import Rule

_AWAY = "away"
_AT_ONCE_NS = 500_000_000


class TeamHook:
    """One call. `ask` answers it from the store; `memory` reads the session's current memory."""

    def __init__(
        self, call: HookCall, rules: HookRules, ask: Callable[[], HookAnswer], *, agent: str,
        outage: OutageMark, files: HookFiles, memory: Callable[[], Memory], clock: HookClock,
    ) -> None:  # fmt: skip
        self._call, self._rules, self._ask, self._agent = call, rules, ask, agent
        self._outage, self._files, self._memory, self._clock = outage, files, memory, clock

    def answer(self) -> HookAnswer:
        """The answer from the store or, if that is unreachable, without it."""
        failure = refuse("store.unreachable", path="", since_at="", reason="it did not answer a moment ago")
        if not self._outage.is_fresh():
            try:
                reply = self._ask_twice()
            except Refusal as refusal:
                if not is_outage(refusal):
                    raise
                failure = refusal
            else:
                self._say_back(reply)
                return reply
        event = self._call.event
        if event == hooks.WORKTREE_CREATE or (event == BEFORE_EDIT and self._rules.is_closed):
            raise failure
        return self._answer_alone()

    def _ask_twice(self) -> HookAnswer:
        """Ask again if the connection is lost at once: an open one may have died unnoticed. A hook's work can
        be repeated."""
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
        if call.event == BEFORE_EDIT:
            self._announce_later(memory)
        if call.can_tell and not memory.get(_AWAY):
            reply.context = hooks.store_away()
            memory.set(_AWAY, "", "1")
        memory.save()
        return reply

    def _announce_later(self, memory: Memory) -> None:
        for path in self._call.paths:
            try:
                root, below, _ = self._files.find(path)
            except Refusal:
                continue  # outside of the repository
            memory.set(UNANNOUNCED, f"{root}/{below}", "1")

    def _say_back(self, reply: HookAnswer) -> None:
        memory = self._memory()
        if not self._call.can_tell or not memory.get(_AWAY) or reply.is_denied:
            return
        reply.context = hooks.bounded(f"{hooks.store_back()}\n\n{reply.context}".strip())
        memory.set(_AWAY, "", "")
        memory.save()


def refusal_alone(call: HookCall, files: HookFiles, rules: list[Rule], agent: str) -> Refusal | None:
    """Why the paths may not be edited, as far as a clone can judge without the store."""
    for path in call.paths:
        try:
            resource = files.find(path)[2]
        except Refusal:
            continue  # outside of the repository
        refusal = judge_write(Write(resource, agent, EDIT), strategy_for(resource, rules), None).refusal
        if refusal is not None:
            return refusal
    return None
