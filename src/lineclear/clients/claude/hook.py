"""Claude Code's hooks. Tested with 2.1.325."""

from __future__ import annotations

from lineclear.clients import claude_protocol
from lineclear.clients.hook_json import text_of
from lineclear.core.agents.hooks import SUBAGENT_STOP, WORKTREE_CREATE, HookAnswer, HookCall

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

# Event -> the tools that the hook is installed for ("": all of them).
EVENTS = {
    "SessionStart": "",
    "UserPromptSubmit": "",
    # Our own tools, too: the MCP call itself does not say which sub-agent makes it.
    "PreToolUse": "Edit|MultiEdit|Write|NotebookEdit|Bash|mcp__(plugin_lineclear_)?lineclear__.*",
    "PostToolUse": "Edit|MultiEdit|Write|NotebookEdit|Bash|Read",
    "PostToolUseFailure": "Edit|MultiEdit|Write|NotebookEdit|Bash",
    "SubagentStart": "",
    "SubagentStop": "",
    "Stop": "",
    "SessionEnd": "",
    "WorktreeCreate": "",
}


def read_call(event: str, data: dict[str, Any]) -> HookCall | None:
    if event == "WorktreeCreate":
        # The name comes from `--worktree NAME`; it is `agent-ID` for an isolated sub-agent.
        session, cwd = text_of(data, "session_id"), text_of(data, "cwd")
        return HookCall("claude", WORKTREE_CREATE, session=session, cwd=cwd, name=text_of(data, "name"))
    call = claude_protocol.read_call("claude", event, data)
    # The end of a sub-agent has its id; without one it is the parent's own Stop.
    return None if call is not None and call.event == SUBAGENT_STOP and not call.subagent else call


def write_answer(event: str, answer: HookAnswer) -> bytes:
    if event == "WorktreeCreate":
        return (answer.path + "\n").encode("utf-8", "surrogateescape") if answer.path else b""
    return claude_protocol.write_answer(event, answer)
