"""Repeated calls: the process that should answer died, perhaps after the work and before its answer arrived.

At its end a call writes the session's memory once: what the session was told, and the answer, under the id
that the stub gave to the call. So the next process finds either both or neither. Everything that a call does
before that write can be repeated without further effect.
"""

from __future__ import annotations

from lineclear.core.agents.hooks import (
    AFTER_EDIT,
    AFTER_OTHER,
    AFTER_READ,
    AFTER_SHELL,
    BEFORE_EDIT,
    BEFORE_OTHER,
    BEFORE_SHELL,
    STOP,
    HookAnswer,
    is_silent,
)
from lineclear.core.quick_json import read_json, write_json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from lineclear.app.hooks.ports import Memory, SessionFiles
    from lineclear.core.agents.hooks import HookCall

KIND = "answer"
# A session rarely has more calls in flight than this.
_SLOTS = 16
_LONGEST_ID = 64
# These events give the same answer when repeated, if the first answer was silent and nothing was remembered.
_SAME = (BEFORE_EDIT, AFTER_EDIT, AFTER_READ, BEFORE_SHELL, BEFORE_OTHER, AFTER_OTHER)


def keep_answer(memory: Memory, call: HookCall, call_id: str, reply: HookAnswer) -> None:
    """Put the answer into the memory, which the caller saves. Later calls overwrite it."""
    is_needed = memory.is_changed or not is_silent(reply) or call.event not in _SAME
    is_plain = len(call_id) <= _LONGEST_ID and call_id.isascii() and call_id.isprintable()
    if is_needed and is_plain and " " not in call_id:
        parts = [int(reply.is_denied), reply.reason, reply.context, reply.note_to_person, reply.path]
        memory.set(KIND, _slot(call_id), f"{call_id} {write_json(parts)}")


def answer_again(memory: Memory, files: SessionFiles, call: HookCall, call_id: str) -> HookAnswer | None:
    """The stored answer to this call, after doing the work that was left; None if it was not answered yet."""
    known, _, text = memory.get(KIND, _slot(call_id)).partition(" ")
    if known != call_id:
        return None
    is_denied, reason, context, note, path = read_json(text)
    reply = HookAnswer(is_denied=bool(is_denied), reason=reason, context=context, note_to_person=note)
    reply.path = path
    files.catch_up(
        memory,
        ended=call.call_id if call.event == AFTER_SHELL else "",
        are_all_over=call.event == STOP and call.is_end_unsure,
    )
    return reply


def _slot(call_id: str) -> str:
    return str(sum(call_id.encode("utf-8", "replace")) % _SLOTS)
