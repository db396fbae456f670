"""Claude Code: `claude -p` with one JSON line per message."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lineclear.clients.error_words import LIMITED
from lineclear.clients.stream_reader import StreamReader, micros_of

if TYPE_CHECKING:
    from lineclear.clients.json_values import Json
    from lineclear.core.runs.client_events import Usage

EDITS = frozenset({"Edit", "MultiEdit", "NotebookEdit", "Write"})
SHELLS = frozenset({"Bash", "Monitor"})

_READ = ("inputTokens", "cacheCreationInputTokens", "cacheReadInputTokens")


def reader(worktree: str = "", before: Usage | None = None) -> StreamReader:
    return StreamReader(
        "Claude Code", _understand, edits=EDITS, shells=SHELLS, worktree=worktree, before=before
    )


def _understand(event: Json, out: StreamReader) -> None:
    out.session(event.text("session_id"))
    kind = event.text("type")
    if kind == "system":
        _system(event, out)
    elif kind == "assistant":
        _assistant(event, out)
    elif kind == "user":
        _tool_results(event, out)
    elif kind == "rate_limit_event":
        _rate_limit(event.inner("rate_limit_info"), out)
    elif kind == "result":
        _result(event, out)


def _system(event: Json, out: StreamReader) -> None:
    if event.text("subtype") == "init":
        out.model(event.text("model"))
    elif event.text("subtype") == "api_retry":
        status, error = event.count("error_status"), event.text("error")
        delay_ms = event.count("retry_delay_ms")
        wait_s = -(-delay_ms // 1000) if delay_ms >= 0 else -1
        out.trouble(f"status {status}, {error}, tries again", status=max(status, 0), wait_s=wait_s)


def _assistant(event: Json, out: StreamReader) -> None:
    message = event.inner("message")
    if event.flag("is_api_error_message"):
        text = " ".join(part.text("text") for part in message.list("content"))
        out.trouble(text, status=max(event.count("api_error_status"), 0))
        return
    for part in message.list("content"):
        if part.text("type") == "text":
            out.said(part.text("text"))
        elif part.text("type") == "tool_use":
            out.call(part.text("id"), part.text("name"), part.value("input"))
    # Each line of a message repeats the input tokens. Output tokens are complete only in the result line.
    spent = message.inner("usage")
    cached = max(spent.count("cache_read_input_tokens"), 0)
    tokens_in = spent.total("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
    out.used_by_message(message.text("id"), max(tokens_in, 0), max(spent.count("output_tokens"), 0), cached)


def _tool_results(event: Json, out: StreamReader) -> None:
    for part in event.inner("message").list("content"):
        if part.text("type") == "tool_result":
            out.call_done(part.text("tool_use_id"), not part.flag("is_error"), part.value("content"))


def _rate_limit(info: Json, out: StreamReader) -> None:
    if info.text("status") == "rejected":
        kind = info.text("rateLimitType").replace("_", " ")
        out.trouble(f"the {kind or 'usage'} limit is reached", kind=LIMITED)


def _result(event: Json, out: StreamReader) -> None:
    """With background agents there are several results. `subtype` is "success" even for some errors."""
    _totals(event, out)
    text = event.text("result")
    if not event.flag("is_error") and event.text("subtype") in ("success", ""):
        out.ended(True)
        return
    status = max(event.count("api_error_status"), 0)
    why = text or " ".join(str(error) for error in _texts(event)) or event.text("subtype").replace("_", " ")
    if status or event.text("terminal_reason") == "api_error":
        out.trouble(why, status=status)
    out.ended(False, why)


def _totals(event: Json, out: StreamReader) -> None:
    """Uses the numbers since the last result: the totals cover the whole session, with earlier runs."""
    models = list(event.inner("model_usage_since_last_result").objects())
    if not models:
        return
    cached = sum(max(model.count("cacheReadInputTokens"), 0) for model in models)
    read = sum(max(model.total(*_READ), 0) for model in models)
    written = sum(max(model.count("outputTokens"), 0) for model in models)
    cost_micros = sum(max(micros_of(model.value("costUSD")), 0) for model in models)
    # A model whose price the client does not know counts 0, which means unknown, not free.
    out.used_since_last_report(read, written, cached, cost_micros or -1)


def _texts(event: Json) -> list[object]:
    errors = event.value("errors")
    return errors[:3] if isinstance(errors, list) else []
