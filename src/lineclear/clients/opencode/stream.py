"""opencode: `opencode run --format json`, one JSON line per part of a message."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lineclear.clients.stream_reader import StreamReader, micros_of

if TYPE_CHECKING:
    from lineclear.clients.json_values import Json
    from lineclear.core.runs.client_events import Usage

EDITS = frozenset({"apply_patch", "edit", "multiedit", "patch", "write"})
SHELLS = frozenset({"bash"})


def reader(worktree: str = "", before: Usage | None = None) -> StreamReader:
    return StreamReader("opencode", _understand, edits=EDITS, shells=SHELLS, worktree=worktree, before=before)


def _understand(event: Json, out: StreamReader) -> None:
    out.session(event.text("sessionID"))
    kind, part = event.text("type"), event.inner("part")
    if kind == "text":
        out.said(part.text("text"))
    elif kind == "tool_use":
        _tool(part, out)
    elif kind == "step_finish":
        _step(part, out)
    elif kind == "error":
        error = event.inner("error")
        data = error.inner("data")
        why = data.text("message") or error.text("message") or error.text("name")
        out.trouble(why, status=max(data.count("statusCode"), 0))
        out.ended(False, why)


def _tool(part: Json, out: StreamReader) -> None:
    """opencode reports a call only once, when the tool has answered."""
    id, state = part.text("callID"), part.inner("state")
    out.call(id, part.text("tool"), state.value("input"))
    ok = state.text("status") == "completed" and state.inner("metadata").count("exit") <= 0
    out.call_done(id, ok, state.value("output") or state.value("error"))


def _step(part: Json, out: StreamReader) -> None:
    spent = part.inner("tokens")
    read, written = spent.inner("cache").count("read"), spent.inner("cache").count("write")
    tokens_in = max(spent.count("input"), 0) + max(read, 0) + max(written, 0)
    tokens_out = max(spent.total("output", "reasoning"), 0)
    # A model whose price opencode does not know counts 0, which means unknown, not free.
    out.used_more(tokens_in, tokens_out, max(read, 0), micros_of(part.value("cost")) or -1)
    if part.text("reason") == "stop":
        out.ended(True)
    elif part.text("reason") != "tool-calls":
        out.ended(False, f"it stopped because of {part.text('reason') or 'an unnamed reason'}")
