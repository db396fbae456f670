"""Qwen Code: a fork of Gemini CLI whose stream looks like Claude Code's."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lineclear.clients.stream_reader import StreamReader

if TYPE_CHECKING:
    from lineclear.clients.json_values import Json
    from lineclear.core.runs.client_events import Usage

EDITS = frozenset({"edit", "notebook_edit", "write_file"})
SHELLS = frozenset({"run_shell_command"})


def reader(worktree: str = "", before: Usage | None = None) -> StreamReader:
    return StreamReader(
        "Qwen Code", _understand, edits=EDITS, shells=SHELLS, worktree=worktree, before=before
    )


def _understand(event: Json, out: StreamReader) -> None:
    out.session(event.text("session_id"))
    kind = event.text("type")
    if kind == "system" and event.text("subtype") == "init":
        out.model(event.text("model"))
    elif kind == "assistant":
        _assistant(event.inner("message"), out)
    elif kind == "user":
        _tool_results(event.inner("message"), out)
    elif kind == "result":
        _result(event, out)


def _assistant(message: Json, out: StreamReader) -> None:
    for part in message.list("content"):
        if part.text("type") == "text" and part.text("text").startswith("[API Error"):
            out.trouble(part.text("text"))
        elif part.text("type") == "text":
            out.said(part.text("text"))
        elif part.text("type") == "tool_use":
            out.call(part.text("id"), part.text("name"), part.value("input"))
    spent = message.inner("usage")
    out.used_by_message(
        message.text("id"),
        max(spent.count("input_tokens"), 0),
        max(spent.count("output_tokens"), 0),
        max(spent.count("cache_read_input_tokens"), 0),
    )


def _tool_results(message: Json, out: StreamReader) -> None:
    for part in message.list("content"):
        if part.text("type") == "tool_result":
            out.call_done(part.text("tool_use_id"), not part.flag("is_error"), part.value("content"))


def _result(event: Json, out: StreamReader) -> None:
    spent = event.inner("usage")
    if spent.count("input_tokens") > 0 or spent.count("output_tokens") > 0:
        cached = spent.count("cache_read_input_tokens")
        out.used_in_session(spent.count("input_tokens"), spent.count("output_tokens"), cached)
    if not event.flag("is_error"):
        out.ended(True)
        return
    why = event.inner("error").text("message") or event.text("result") or event.text("subtype")
    out.trouble(why)
    out.ended(False, why)
