"""goose: `goose run --output-format stream-json`, one JSON line per message."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lineclear.clients.stream_reader import StreamReader

if TYPE_CHECKING:
    from lineclear.clients.json_values import Json
    from lineclear.core.runs.client_events import Usage

EDITS = frozenset({"edit", "str_replace", "text_editor", "write"})
SHELLS = frozenset({"shell"})

_FAILURES = ("Ran into this error:", "Network error:")


def reader(worktree: str = "", before: Usage | None = None) -> StreamReader:
    return StreamReader(
        "goose", _understand, edits=EDITS, shells=SHELLS, read_text=_read_text,
        worktree=worktree, before=before,
    )  # fmt: skip


def _understand(event: Json, out: StreamReader) -> None:
    kind = event.text("type")
    if kind == "message":
        for part in event.inner("message").list("content"):
            _part(part, out, is_answer=event.inner("message").text("role") == "assistant")
    elif kind == "error":
        out.trouble(event.text("error"))
        out.ended(False, event.text("error"))
    elif kind == "complete":
        _complete(event, out)


def _part(part: Json, out: StreamReader, *, is_answer: bool) -> None:
    kind, id = part.text("type"), part.text("id")
    if kind == "text" and is_answer:
        _text(part.text("text"), out)
    elif kind == "toolRequest":
        asked = part.inner("toolCall", "value")
        out.call(id, asked.text("name"), asked.value("arguments"))
    elif kind == "toolResponse":
        answer = part.inner("toolResult")
        value = answer.inner("value")
        ok = answer.text("status") == "success" and not value.flag("isError")
        out.call_done(id, ok, value.value("content") or answer.value("error"))


def _text(text: str, out: StreamReader) -> None:
    """goose reports a failed request as if it were text from the model."""
    if text.startswith(_FAILURES):
        out.trouble(text)
    else:
        out.said(text)


def _complete(event: Json, out: StreamReader) -> None:
    if event.count("input_tokens") >= 0:
        out.used_in_session(event.count("input_tokens"), event.count("output_tokens"))
    out.ended(not out.last_trouble, out.last_trouble)


def _read_text(text: str, out: StreamReader) -> None:
    """The greeting contains the session's id: `20261115_1 · /srv/shop`."""
    words = text.replace("\\____)", " ").split()
    if len(words) >= 3 and words[1] == "·" and words[0].replace("_", "").isdigit():
        out.session(words[0])
