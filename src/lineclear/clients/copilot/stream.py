"""GitHub Copilot CLI: `copilot -p --output-format json`, one JSON line per event of the session."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lineclear.clients.stream_reader import StreamReader

if TYPE_CHECKING:
    from lineclear.clients.json_values import Json
    from lineclear.core.runs.client_events import Usage

EDITS = frozenset({"apply_patch", "create", "edit", "str_replace_editor"})
SHELLS = frozenset({"bash", "write_bash"})


def reader(worktree: str = "", before: Usage | None = None) -> StreamReader:
    return StreamReader(
        "Copilot CLI", _understand, edits=EDITS, shells=SHELLS, worktree=worktree, before=before
    )


def _understand(event: Json, out: StreamReader) -> None:
    kind, data = event.text("type"), event.inner("data")
    if kind == "session.tools_updated":
        out.model(data.text("model"))
    elif kind == "assistant.message":
        out.said(data.text("content"))
    elif kind == "tool.execution_start":
        out.call(data.text("toolCallId"), data.text("toolName"), data.value("arguments"))
    elif kind == "tool.execution_complete":
        _tool_result(data, out)
    elif kind in ("session.error", "model.call_failure"):
        status = max(data.count("statusCode"), data.count("status"), 0)
        out.trouble(data.text("message") or data.text("errorMessage") or data.text("error"), status=status)
    elif kind == "result":
        _result(event, out)


def _tool_result(data: Json, out: StreamReader) -> None:
    failed = data.inner("shellExecution").count("exitCode") > 0
    answer = data.inner("result").text("content") or data.inner("error").text("message")
    out.call_done(data.text("toolCallId"), data.flag("success") and not failed, answer)


def _result(event: Json, out: StreamReader) -> None:
    """Only this line has the session's id. No line reports tokens."""
    out.session(event.text("sessionId"))
    code = event.count("exitCode")
    out.ended(code == 0, "" if code == 0 else out.last_trouble)
