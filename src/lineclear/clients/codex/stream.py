"""Codex CLI: `codex exec --json`, one JSON line per item of a turn."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from lineclear.clients.stream_reader import StreamReader

if TYPE_CHECKING:
    from lineclear.clients.json_values import Json
    from lineclear.core.runs.client_events import Usage


EDITS = frozenset({"file_change"})
SHELLS = frozenset({"command_execution"})


def reader(worktree: str = "", before: Usage | None = None) -> StreamReader:
    return StreamReader("Codex", _understand, edits=EDITS, shells=SHELLS, worktree=worktree, before=before)


def _understand(event: Json, out: StreamReader) -> None:
    kind = event.text("type")
    if kind == "thread.started":
        out.session(event.text("thread_id"))
    elif kind in ("item.started", "item.completed"):
        _item(event.inner("item"), out, is_over=kind == "item.completed")
    elif kind == "error":
        out.trouble(event.text("message"))
    elif kind == "turn.completed":
        _usage(event.inner("usage"), out)
        out.ended(True)
    elif kind == "turn.failed":
        _usage(event.inner("usage"), out)
        out.trouble(event.inner("error").text("message"))
        out.ended(False, event.inner("error").text("message"))


def _item(item: Json, out: StreamReader, *, is_over: bool) -> None:
    kind = item.text("type")
    if kind == "agent_message" and is_over:
        out.said(item.text("text"))
    elif kind == "command_execution":
        _step(item, out, kind, {"command": _unwrapped(item.text("command"))}, "aggregated_output", is_over)
    elif kind == "file_change":
        _step(item, out, kind, {"changes": item.value("changes")}, "status", is_over)
    elif kind == "mcp_tool_call":
        tool = f"{item.text('server')}.{item.text('tool')}"
        _step(item, out, tool, item.value("arguments"), "result", is_over)
    elif kind == "web_search":
        _step(item, out, kind, {"query": item.text("query")}, "query", is_over)


def _step(item: Json, out: StreamReader, tool: str, given: object, answer: str, is_over: bool) -> None:
    if not is_over:
        # Codex reports only the paths of an edit.
        out.call(item.text("id"), tool, given, is_opaque=tool in EDITS)
    else:
        out.call_done(item.text("id"), item.text("status") not in ("failed", "declined"), item.value(answer))


def _unwrapped(command: str) -> str:
    """The command that the model wrote, without the shell that runs it."""
    try:
        words = shlex.split(command)
    except ValueError:
        return command
    return words[2] if len(words) == 3 and words[1] in ("-lc", "-c") else command


def _usage(spent: Json, out: StreamReader) -> None:
    # Sums of the session; the input includes cached tokens. Codex does not report costs: see `[prices]`.
    if spent.raw:
        out.used_in_session(
            spent.count("input_tokens"), spent.count("output_tokens"), spent.count("cached_input_tokens")
        )
