"""Follow one run through its client's output, and keep what is known about the run up to date."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lineclear.core.runs.client_events import (
    Call,
    CallDone,
    Limited,
    Model,
    NotLoggedIn,
    Said,
    SessionSign,
    Usage,
)
from lineclear.core.words.refusals import shorten

PLAIN = "plain"

if TYPE_CHECKING:
    from collections.abc import Iterable

    from lineclear.app.runs.workers import LiveRun
    from lineclear.core.runs.client_events import Sign


def follow(live: LiveRun, lines: Iterable[bytes]) -> list[str]:
    """Read new lines of output into `live`; returns the agent's actions in words, oldest first."""
    actions, words = [], b""
    for line in lines:
        words = line if line.strip() else words
        for sign in live.reader.feed(line):
            action = _take_in(live, sign)
            if action:
                live.last_action = action
                actions.append(action)
    if live.slot.stream == PLAIN and words:
        # Plain output has no actions: its last line tells a person what the agent is doing.
        live.last_action = shorten(words[:400].decode("utf-8", "replace").strip(), 100)
    return actions


def _take_in(live: LiveRun, sign: Sign) -> str:
    if isinstance(sign, SessionSign):
        live.session = sign.id
    elif isinstance(sign, Model):
        live.model = sign.name
    elif isinstance(sign, Usage):
        live.usage = sign
    elif isinstance(sign, CallDone):
        live.watch.result(sign.ok, sign.digest, sign.input_digest)
    elif isinstance(sign, Call):
        live.watch.call(
            sign.tool, sign.input_digest, sign.paths, is_edit=sign.is_edit, is_shell=sign.is_shell,
            summary=sign.summary.removeprefix(sign.tool + " "),
        )  # fmt: skip
    return said_by(sign)


def said_by(sign: Sign) -> str:
    """What to tell a person about a sign; "" for nothing."""
    if isinstance(sign, Call):
        return sign.summary or sign.tool
    if isinstance(sign, Said):
        return sign.text
    if isinstance(sign, Limited):
        return f"waits for its model: {sign.text}"
    if isinstance(sign, NotLoggedIn):
        return f"is not logged in: {sign.text}"
    return ""
