"""The hook protocol of Claude Code, which several other clients use with small differences.

A denial is JSON with exit code 0. We never use exit code 2: every client takes it as a denial, even when it
comes from a crash.
"""

from __future__ import annotations

from lineclear.clients import hook_json
from lineclear.clients.hook_json import EDIT, PATCH, READ, SHELL, WRITE, dict_of, json_line, text_of
from lineclear.core.agents import hooks
from lineclear.core.agents.hooks import HookAnswer, HookCall

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

TOOLS = {
    "Edit": EDIT, "MultiEdit": EDIT, "NotebookEdit": EDIT, "Write": WRITE, "Read": READ, "Bash": SHELL,
    "apply_patch": PATCH, "ApplyPatch": PATCH,
    "edit": EDIT, "replace": EDIT, "multi_edit": EDIT, "write_file": WRITE, "create": WRITE, "write": WRITE,
    "read_file": READ, "read_many_files": READ, "read": READ, "view": READ,
    "run_shell_command": SHELL, "bash": SHELL, "shell": SHELL, "Execute": SHELL, "Create": WRITE,
    "StrReplaceFile": EDIT, "WriteFile": WRITE, "ReadFile": READ, "Shell": SHELL,
    "search_replace": EDIT, "run_terminal_cmd": SHELL, "run_terminal_command": SHELL,
    "monitor": SHELL,
}  # fmt: skip

# The events that most of them have, for every tool.
PLAIN_EVENTS = {
    "SessionStart": "", "UserPromptSubmit": "", "PreToolUse": "", "PostToolUse": "", "Stop": "",
    "SessionEnd": "",
}  # fmt: skip

BEFORE = ("PreToolUse",)
AFTER = ("PostToolUse", "PostToolUseFailure")
OTHERS = {
    "SessionStart": hooks.SESSION_START,
    "UserPromptSubmit": hooks.PROMPT,
    "Stop": hooks.STOP,
    "SessionEnd": hooks.SESSION_END,
    "SubagentStart": hooks.SUBAGENT_START,
    "SubagentStop": hooks.SUBAGENT_STOP,
}
# The events whose answer reaches the model as context, in Claude Code itself.
TELLING = frozenset(
    ("SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "PostToolUseFailure", "SubagentStart")
)


def reader(
    client: str, telling: frozenset[str] = TELLING
) -> Callable[[str, dict[str, Any]], HookCall | None]:
    """`read_call` for a client that differs at most in the events that reach its model."""
    return lambda event, data: read_call(client, event, data, telling)


def read_call(
    client: str, event: str, data: dict[str, Any], telling: frozenset[str] = TELLING
) -> HookCall | None:
    """Return the call; None if it does not concern us."""
    given = dict_of(data, "tool_input", "toolInput")
    tool = text_of(data, "tool_name", "toolName")
    kind = TOOLS.get(tool, "")
    ours = OTHERS.get(event, "")
    if event in BEFORE or event in AFTER:
        ours = hook_json.event_of_tool(kind, is_before=event in BEFORE)
    if not ours:
        return None
    patch = text_of(given, "command", "input", "patch") if kind == PATCH else ""
    return HookCall(
        client,
        ours,
        session=text_of(data, "session_id", "sessionId"),
        subagent=text_of(data, "agent_id", "agentId"),
        cwd=text_of(data, "cwd"),
        tool=tool,
        paths=hook_json.patch_paths(patch) if patch else hook_json.paths_of(given),
        is_whole_write=hook_json.patch_is_whole(patch) if patch else kind == WRITE,
        command=text_of(given, "command", "cmd") if kind == SHELL else "",
        call_id=text_of(data, "tool_use_id", "toolUseId", "tool_call_id"),
        prompt=text_of(data, "prompt"),
        old_text=hook_json.patch_old_text(patch) if patch else hook_json.old_text_of(given),
        replaced=hook_json.patch_replaced(patch) if patch else hook_json.replaced_by(given),
        can_tell=event in telling,
        is_again=data.get("stop_hook_active") is True or data.get("stopHookActive") is True,
    )


def write_answer(event: str, answer: HookAnswer) -> bytes:
    said: dict[str, Any] = {}
    if answer.note_to_person:
        said["systemMessage"] = answer.note_to_person
    if answer.is_denied and event in ("Stop", "SubagentStop"):
        said |= {"decision": "block", "reason": answer.reason}
        return json_line(said)
    inner: dict[str, Any] = {}
    if answer.is_denied and event == "PreToolUse":
        inner = {"permissionDecision": "deny", "permissionDecisionReason": answer.reason}
    if answer.context and event in TELLING:
        inner["additionalContext"] = answer.context
    if inner:
        said["hookSpecificOutput"] = {"hookEventName": event, **inner}
    return json_line(said)
