"""Gemini CLI: one JSON line per message, tool call and result."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lineclear.clients.stream_reader import StreamReader

if TYPE_CHECKING:
    from lineclear.clients.json_values import Json
    from lineclear.core.runs.client_events import Usage

EDITS = frozenset({"replace", "write_file"})
SHELLS = frozenset({"run_shell_command"})


def reader(worktree: str = "", before: Usage | None = None) -> StreamReader:
    return StreamReader(
        "Gemini CLI", _understand, edits=EDITS, shells=SHELLS, read_text=_read_text,
        worktree=worktree, before=before,
    )  # fmt: skip


def _understand(event: Json, out: StreamReader) -> None:
    kind = event.text("type")
    if kind == "init":
        out.session(event.text("session_id"))
        out.model(event.text("model"))
    elif kind == "message" and event.text("role") == "assistant":
        out.said(event.text("content"))
    elif kind == "tool_use":
        out.call(event.text("tool_id"), event.text("tool_name"), event.value("parameters"))
    elif kind == "tool_result":
        # A failed command counts as a success here; only its output shows the failure.
        failed = "Command exited with code:" in event.text("output")
        ok = event.text("status") == "success" and not failed
        out.call_done(event.text("tool_id"), ok, event.value("output"))
    elif kind == "error":
        out.trouble(event.text("message"))
    elif kind == "result":
        _result(event, out)


def _result(event: Json, out: StreamReader) -> None:
    spent = event.inner("stats")
    if spent.count("input_tokens") > 0 or spent.count("output_tokens") > 0:
        out.used_in_all(spent.count("input_tokens"), spent.count("output_tokens"), spent.count("cached"))
    if event.text("status") == "success":
        out.ended(True)
        return
    why = event.inner("error").text("message") or "it gave no reason"
    out.trouble(why)
    out.ended(False, why)


def _read_text(text: str, out: StreamReader) -> None:
    """Gemini CLI retries for minutes without an event; only its error output shows it."""
    if text.startswith("Attempt ") and " failed" in text:
        out.trouble(text)
