"""aider edits text without tools and commits it. Its output is for people; its exit code says little."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lineclear.clients.stream_reader import StreamReader, micros_of

if TYPE_CHECKING:
    from lineclear.core.runs.client_events import Usage


def reader(worktree: str = "", before: Usage | None = None) -> StreamReader:
    return StreamReader(
        "aider", None, edits=frozenset({"edit"}), read_text=_read_text, worktree=worktree, before=before
    )


def _read_text(text: str, out: StreamReader) -> None:
    """After an error aider may try again, or end with exit code 0."""
    if text.startswith("litellm."):
        out.trouble(text)
    elif text.startswith("Applied edit to "):
        path = text.removeprefix("Applied edit to ")
        out.call("", "edit", {"path": path}, is_opaque=True)
    elif text.startswith("Tokens: "):
        out.answered()
        _usage(text, out)


def _usage(text: str, out: StreamReader) -> None:
    """`Tokens: 2.4k sent, 38 received. Cost: $0.01 message, $0.01 session.`"""
    words = text.replace(",", " ").replace("$", " ").replace(".  ", " ").split()
    sent, received = _before("sent", words), _before("received.", words)
    if received < 0:
        received = _before("received", words)
    cost = _before("session.", words)
    if sent >= 0 and received >= 0:
        out.used_more(int(sent), int(received))
    if cost > 0:
        out.used_in_all(cost_micros=micros_of(cost))


def _before(name: str, words: list[str]) -> float:
    if name not in words or words.index(name) == 0:
        return -1
    figure = words[words.index(name) - 1]
    factor = {"k": 1_000, "M": 1_000_000}.get(figure[-1:], 1)
    try:
        return float(figure.rstrip("kM")) * factor
    except ValueError:
        return -1
