"""A call that is asked twice: the first one who was asked died, perhaps after the work and before the answer.

What a session was told, and what it must not be told again, is remembered at the end of a call in one write
to the session's memory. The answer goes into that same write, under the id that the stub gave to the call:
whoever is asked next finds either both or neither. What a call does before that may be done again without
another effect.
"""

from __future__ import annotations

from lineclear.core.agents.hooks import (
    AFTER_EDIT,
    AFTER_OTHER,
    AFTER_READ,
    BEFORE_EDIT,
    BEFORE_OTHER,
    BEFORE_SHELL,
    HookAnswer,
    is_silent,
)
from lineclear.core.quick_json import read_json, write_json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from lineclear.core.agents.hooks import HookCall
    from lineclear.host.sessions import SessionFile

KIND = "answer"
# More calls of one session than this are hardly ever on their way at once.
_SLOTS = 16
_LONGEST_ID = 64
# Asked again, these give the same answer by themselves, as long as they were silent and changed nothing.
_SAME = (BEFORE_EDIT, AFTER_EDIT, AFTER_READ, BEFORE_SHELL, BEFORE_OTHER, AFTER_OTHER)


def keep_answer(memory: SessionFile, call: HookCall, call_id: str, reply: HookAnswer) -> None:
    """Into the memory, which is yet to be saved; a later call takes its place there."""
    is_needed = memory.is_changed or not is_silent(reply) or call.event not in _SAME
    if is_needed and _is_plain(call_id):
        parts = [int(reply.is_denied), reply.reason, reply.context, reply.note_to_person, reply.path]
        memory.set(KIND, _slot(call_id), f"{call_id} {write_json(parts)}")


def answer_again(memory: SessionFile, call_id: str) -> HookAnswer | None:
    """What this call was answered with; None if nobody came so far."""
    known, _, text = memory.get(KIND, _slot(call_id)).partition(" ")
    if known != call_id:
        return None
    is_denied, reason, context, note, path = read_json(text)
    reply = HookAnswer(is_denied=bool(is_denied), reason=reason, context=context, note_to_person=note)
    reply.path = path
    return reply


def _slot(call_id: str) -> str:
    return str(sum(call_id.encode("utf-8", "replace")) % _SLOTS)


def _is_plain(call_id: str) -> bool:
    return len(call_id) <= _LONGEST_ID and call_id.isascii() and call_id.isprintable() and " " not in call_id
