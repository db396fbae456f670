"""Reads the output of one client line by line, and turns it into signs and one end.

The client's module provides a function that understands one JSON line. Nothing here raises, whatever the
input. Memory is bounded: the caller splits the output into lines, and whatever is too long is left out.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from lineclear.clients.error_words import (
    LIMITED,
    LOGIN,
    OTHER,
    kind_of_status,
    kind_of_trouble,
    retry_after_s,
)
from lineclear.clients.json_values import Json, number, one_line, paths_in, summary_of
from lineclear.core.runs.client_events import (
    UNKNOWN,
    Call,
    CallDone,
    DoneSign,
    Limited,
    Model,
    NotLoggedIn,
    RunEnd,
    Said,
    SessionSign,
    Usage,
)
from lineclear.core.runs.digests import normal_digest, normal_result

if TYPE_CHECKING:
    from collections.abc import Callable

    from lineclear.core.runs.client_events import Sign

    Understand = Callable[[Json, "StreamReader"], None]
    ReadText = Callable[[str, "StreamReader"], None]

LONGEST_LINE_BYTES = 16 * 1024 * 1024  # an image that a tool returns is one line
_SAID_CHARS = 400
_REASON_CHARS = 300
_TAIL_LINES = 20
_OPEN_CALLS = 256


class StreamReader:
    """One run's output. `feed` every line, then `finish` with the exit code."""

    def __init__(
        self,
        client: str,
        understand: Understand | None,
        *,
        edits: frozenset[str] = frozenset(),
        shells: frozenset[str] = frozenset(),
        read_text: ReadText | None = None,
        needs_end: bool = True,
        codes: dict[int, str] | None = None,
        worktree: str = "",
        before: Usage | None = None,
    ) -> None:
        """`edits`, `shells`: the tools that edit files, and those that run commands. `read_text` gets the
        lines that are not JSON. `needs_end`: exit code 0 alone does not mean success. `before`: what earlier
        runs of a resumed session used.
        """
        self._client, self._understand, self._worktree = client, understand, worktree
        self._edits, self._shells, self._read_text = edits, shells, read_text
        self._needs_end, self._codes = needs_end and understand is not None, codes or {}
        self._signs: list[Sign] = []
        self._tail: list[str] = []
        self._unread_lines = 0
        self._session = self._model = ""
        self._calls = 0
        self._open_calls: dict[str, str] = {}
        self._usage, self._settled, self._before = Usage(), Usage(), before or Usage()
        self._message = ("", 0, 0, 0)
        self._ended: DoneSign | None = None
        self._trouble, self._trouble_text, self._wait_s = OTHER, "", UNKNOWN

    # -- for the supervisor -------------------------------------------------------------------

    def feed(self, line: bytes, *, is_error_output: bool = False) -> list[Sign]:
        """The signs in this line. Lines of the error output only serve to explain a failure."""
        self._signs = []
        event = None if is_error_output or self._understand is None else _event_of(line)
        if event is not None and self._understand is not None:
            self._understand(event, self)
        else:
            self._keep(line, is_expected=is_error_output or self._understand is None)
        return self._signs

    def finish(self, exit_code: int | None) -> RunEnd:
        """The end, by the output and the exit code (None: unknown)."""
        silently_well = exit_code == 0 and not self._needs_end and not self._trouble_text
        said_well = self._ended.ok if self._ended else silently_well
        if said_well and exit_code in (0, None):
            return RunEnd(True, unread_lines=self._unread_lines)
        reason = self._reason(exit_code)
        kind = self._codes.get(exit_code or 0) or self._kind_of_end(reason)
        wait_s = self._wait_s if self._wait_s != UNKNOWN else retry_after_s(reason)
        return RunEnd(
            False,
            reason,
            is_limited=kind == LIMITED,
            is_login=kind == LOGIN,
            retry_after_s=wait_s if kind == LIMITED else UNKNOWN,
            unread_lines=self._unread_lines,
        )

    @property
    def usage(self) -> Usage:
        return self._usage

    @property
    def last_trouble(self) -> str:
        """The text of the last error, unless the client has recovered from it."""
        return self._trouble_text

    # -- for the modules of the clients -------------------------------------------------------

    def session(self, id: str) -> None:
        if id and id != self._session:
            self._session = id
            self._signs.append(SessionSign(one_line(id, 200)))

    def model(self, name: str) -> None:
        if name and name != self._model:
            self._model = name
            self._signs.append(Model(one_line(name, 200)))

    def call(self, id: str, tool: str, given: object, *, is_opaque: bool = False) -> None:
        """`is_opaque`: the client does not report the whole input, so no two such calls count as equal."""
        self._calls += 1
        digest = normal_digest(tool, [self._calls, given] if is_opaque else given)
        if id and len(self._open_calls) < _OPEN_CALLS:
            self._open_calls[id] = digest
        paths = paths_in(given, self._worktree)
        summary = summary_of(tool, given, paths)
        is_edit, is_shell = tool in self._edits, tool in self._shells
        self._signs.append(
            Call(one_line(tool, 100), digest, paths, summary, is_edit=is_edit, is_shell=is_shell)
        )
        self.answered()

    def call_done(self, id: str, ok: bool, result: object) -> None:
        self._signs.append(CallDone(ok, normal_result(_text_of(result)), self._open_calls.pop(id, "")))

    def said(self, text: str) -> None:
        if text.strip():
            self._signs.append(Said(one_line(text, _SAID_CHARS)))
            self.answered()

    def used_in_all(
        self,
        tokens_in: int = UNKNOWN,
        tokens_out: int = UNKNOWN,
        tokens_cached: int = UNKNOWN,
        cost_micros: int = UNKNOWN,
    ) -> None:
        """The run's totals. An unknown number leaves the known one; none ever decreases."""
        old = self._usage
        new = Usage(
            max(old.tokens_in, tokens_in),
            max(old.tokens_out, tokens_out),
            max(old.tokens_cached, tokens_cached),
            max(old.cost_micros, cost_micros),
        )
        if new != old:
            self._usage = new
            self._signs.append(new)

    def used_more(
        self, tokens_in: int, tokens_out: int, tokens_cached: int = UNKNOWN, cost_micros: int = UNKNOWN
    ) -> None:
        """The usage of one more answer, added to the totals."""
        old = self._usage
        self.used_in_all(
            _plus(old.tokens_in, tokens_in),
            _plus(old.tokens_out, tokens_out),
            _plus(old.tokens_cached, tokens_cached),
            _plus(old.cost_micros, cost_micros),
        )

    def used_in_session(
        self,
        tokens_in: int = UNKNOWN,
        tokens_out: int = UNKNOWN,
        tokens_cached: int = UNKNOWN,
        cost_micros: int = UNKNOWN,
    ) -> None:
        """The session's totals, which include the earlier runs of a resumed session."""
        before = self._before
        self.used_in_all(
            _minus(tokens_in, before.tokens_in),
            _minus(tokens_out, before.tokens_out),
            _minus(tokens_cached, before.tokens_cached),
            _minus(cost_micros, before.cost_micros),
        )

    def used_since_last_report(
        self, tokens_in: int, tokens_out: int, tokens_cached: int, cost_micros: int
    ) -> None:
        """One of several reports that add up to the run. More exact than what we counted meanwhile."""
        settled = self._settled
        self._settled = Usage(
            _plus(settled.tokens_in, tokens_in),
            _plus(settled.tokens_out, tokens_out),
            _plus(settled.tokens_cached, tokens_cached),
            _plus(settled.cost_micros, cost_micros),
        )
        now = self._settled
        self.used_in_all(now.tokens_in, now.tokens_out, now.tokens_cached, now.cost_micros)

    def used_by_message(self, id: str, tokens_in: int, tokens_out: int, tokens_cached: int) -> None:
        """A message in several lines, each with the message's usage so far."""
        if tokens_in <= 0 and tokens_out <= 0:
            return
        last, last_in, last_out, last_cached = self._message
        if last != id:
            last_in = last_out = last_cached = 0
        now = (max(last_in, tokens_in), max(last_out, tokens_out), max(last_cached, tokens_cached))
        self._message = (id, *now)
        self.used_more(now[0] - last_in, now[1] - last_out, now[2] - last_cached)

    def trouble(self, text: str, *, status: int = 0, kind: str = OTHER, wait_s: int = UNKNOWN) -> None:
        """The client reports an error; it may still recover from it."""
        self._trouble = kind or kind_of_status(status) or kind_of_trouble(text)
        self._trouble_text = one_line(text, _REASON_CHARS)
        self._wait_s = wait_s if wait_s != UNKNOWN else retry_after_s(text)
        if self._trouble == LIMITED:
            self._signs.append(Limited(self._trouble_text, self._wait_s))
        elif self._trouble == LOGIN:
            self._signs.append(NotLoggedIn(self._trouble_text))

    def ended(self, ok: bool, reason: str = "") -> None:
        self._ended = DoneSign(ok, one_line(reason, _REASON_CHARS))
        self._signs.append(self._ended)

    def answered(self) -> None:
        """The model has answered again, so an earlier error is not the reason if the run fails."""
        self._trouble, self._trouble_text, self._wait_s = OTHER, "", UNKNOWN

    # -- inside -------------------------------------------------------------------------------

    def _keep(self, line: bytes, *, is_expected: bool) -> None:
        text = one_line(line[:4096].decode("utf-8", "replace"), _REASON_CHARS)
        if text:
            self._tail = [*self._tail[1 - _TAIL_LINES :], text]
            self._unread_lines += not is_expected
            if self._read_text is not None:
                self._read_text(text, self)

    def _kind_of_end(self, reason: str) -> str:
        if self._trouble:
            return self._trouble
        # Do not interpret the output of a command that we do not know.
        if not self._needs_end or (self._ended and self._ended.ok):
            return OTHER
        return kind_of_trouble("\n".join([reason, *self._tail]) if not self._ended else reason)

    def _reason(self, exit_code: int | None) -> str:
        said = self._ended.reason if self._ended and not self._ended.ok else ""
        words = said or self._trouble_text or _best_line(self._tail)
        return one_line(": ".join(part for part in (self._how(exit_code), words) if part), _REASON_CHARS)

    def _how(self, exit_code: int | None) -> str:
        if exit_code is None:
            return f"{self._client} is gone; how it ended is unknown"
        if exit_code < 0:
            return f"{self._client} was ended by signal {-exit_code}"
        if exit_code > 0:
            return f"{self._client} ended with exit code {exit_code}"
        if self._ended or self._trouble_text:
            return f"{self._client} ended with an error"
        return f"{self._client} ended without reporting a result"


def micros_of(dollars: object) -> int:
    """An amount in dollars as micro-dollars, rounded up; -1 if it is not a number."""
    amount = number(dollars)
    return UNKNOWN if amount < 0 else int(-(-amount * 1_000_000 // 1))


def _event_of(line: bytes) -> Json | None:
    """The JSON object in a line; None for anything else."""
    trimmed = line.strip()
    if not trimmed.startswith(b"{") or len(trimmed) > LONGEST_LINE_BYTES:
        return None
    try:
        value = json.loads(trimmed)
    except (ValueError, RecursionError):
        return None
    return Json(value) if isinstance(value, dict) else None


def _text_of(result: object) -> str:
    return result if isinstance(result, str) else json.dumps(result, sort_keys=True)


def _plus(known: int, more: int) -> int:
    return known if more < 0 else max(known, 0) + more


def _minus(total: int, before: int) -> int:
    return total if total < 0 else max(total - max(before, 0), 0)


def _best_line(tail: list[str]) -> str:
    """The last line that mentions an error, else the last one."""
    errors = [line for line in tail if kind_of_trouble(line) or "error" in line.lower()]
    return (errors or tail or [""])[-1]
