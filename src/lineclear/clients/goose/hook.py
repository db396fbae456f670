"""goose: Claude's event names, its own tools. Tested with 1.52.0; 1.34.0 also runs the hooks, but ignores
their answers.

Our words reach the model only when we deny a call and when it wants to stop. goose presents a denial as final
("do not retry"), so we never hold a call back just to pass on a message. Sub-agents run no hooks: after they
end, we look for their changes as for those of a shell command.
"""

from __future__ import annotations

from lineclear.clients import claude_protocol
from lineclear.clients.hook_json import dict_of, id_of_command, json_line, text_of
from lineclear.core.agents.hooks import HookAnswer, HookCall

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

# goose searches for this regular expression anywhere in the tool's name.
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
            call.call_id = id_of_command(call.command)  # 1.34 sends none
    return call


def write_answer(event: str, answer: HookAnswer) -> bytes:
    if not answer.is_denied or event not in ("PreToolUse", "Stop"):
        return b""
    return json_line({"decision": "block", "reason": answer.reason})
