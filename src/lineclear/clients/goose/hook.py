"""goose: names of events like Claude's, tools of its own. Seen with 1.52.0; 1.34.0 runs the hooks as well,
but ignores their answers.

Its model hears us where a call is denied and where it wants to stop, and nowhere else. A denial is said to be
final ("do not retry"), so nothing is held back to tell something. Its sub-agents run no hooks: what they did
is looked at like a command's doing, when they are done.
"""

from __future__ import annotations

from lineclear.clients import claude_protocol
from lineclear.clients.hook_json import dict_of, id_of_command, json_line, text_of
from lineclear.core.agents.hooks import HookAnswer, HookCall

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

# It compares by a regular expression, anywhere in the name.
_CHANGING = "^((developer__)?(edit|write|shell)|delegate)$"
EVENTS = {
    **claude_protocol.PLAIN_EVENTS,
    "PreToolUse": _CHANGING,
    "PostToolUse": _CHANGING,
    "PostToolUseFailure": _CHANGING,
}

_TELLING: frozenset[str] = frozenset()


def read_call(event: str, data: dict[str, Any]) -> HookCall | None:
    given = dict_of(data, "tool_input")
    tool = text_of(data, "tool_name").removeprefix("developer__")
    if tool == "delegate":
        tool, given = "shell", {"command": text_of(given, "instructions") or tool}
    filled = data | {"tool_name": tool, "tool_input": given}
    call = claude_protocol.read_call("goose", event, filled, _TELLING)
    if call is not None:
        call.cwd = text_of(data, "working_dir")
        call.old_text = text_of(given, "before")[:2_000]
        call.replaced = (text_of(given, "before"),)
        call.is_deaf = True
        if call.command and not call.call_id:
            call.call_id = id_of_command(call.command)  # 1.34 has none
    return call


def write_answer(event: str, answer: HookAnswer) -> bytes:
    if not answer.is_denied or event not in ("PreToolUse", "Stop"):
        return b""
    return json_line({"decision": "block", "reason": answer.reason})
