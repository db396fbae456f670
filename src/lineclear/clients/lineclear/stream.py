"""Our own JSON lines, for scripts and for clients that we do not know.

{"type":"session","id":"..."}   {"type":"model","name":"..."}   {"type":"say","text":"..."}
{"type":"call","id":"1","tool":"edit","input":{...}}   {"type":"done","id":"1","ok":true,"output":"..."}
{"type":"usage","tokens_in":1,"tokens_out":1,"tokens_cached":0,"cost_usd":0.01}   (totals of the run so far)
{"type":"limited","text":"...","retry_after_s":60}   {"type":"login","text":"..."}
{"type":"end","ok":false,"error":"..."}
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lineclear.clients.plain import stream
from lineclear.clients.stream_reader import StreamReader, micros_of

if TYPE_CHECKING:
    from lineclear.clients.json_values import Json
    from lineclear.core.runs.client_events import Usage

EDITS = frozenset({"edit", "write"})
SHELLS = frozenset({"bash", "shell"})


def reader(worktree: str = "", before: Usage | None = None) -> StreamReader:
    return StreamReader(
        "the command", _understand, edits=EDITS, shells=SHELLS, needs_end=False, codes=stream.CODES,
        worktree=worktree, before=before,
    )  # fmt: skip


def _understand(event: Json, out: StreamReader) -> None:
    kind = event.text("type")
    if kind == "session":
        out.session(event.text("id"))
    elif kind == "model":
        out.model(event.text("name"))
    elif kind == "say":
        out.said(event.text("text"))
    elif kind == "call":
        out.call(event.text("id"), event.text("tool"), event.value("input"))
    elif kind == "done":
        out.call_done(event.text("id"), event.flag("ok"), event.value("output"))
    elif kind == "usage":
        _usage(event, out)
    elif kind in ("limited", "login"):
        out.trouble(event.text("text") or kind, kind=kind, wait_s=event.count("retry_after_s"))
    elif kind == "end":
        out.ended(event.flag("ok"), event.text("error"))


def _usage(event: Json, out: StreamReader) -> None:
    tokens = (event.count("tokens_in"), event.count("tokens_out"), event.count("tokens_cached"))
    out.used_in_all(*tokens, micros_of(event.value("cost_usd")))
