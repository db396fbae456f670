"""How long a connection is waited for: for a head, a body, the next request; never while we are at work."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from lineclear.serve.connections import (
    BODY_WITHIN_S,
    HEAD_WITHIN_S,
    KEEP_ALIVE_S,
    LOOK_EVERY_S,
    LimitedConnection,
)


class Loop:
    """A clock that is moved by hand; whoever wants to be called later is called when it passes."""

    def __init__(self) -> None:
        self.now = 100.0
        self._calls: list[tuple[float, Callable[[], None]]] = []

    def time(self) -> float:
        return self.now

    def call_later(self, seconds: float, call: Callable[[], None]) -> None:
        self._calls.append((self.now + seconds, call))

    def pass_s(self, seconds: float) -> None:
        end = self.now + seconds
        while due := [entry for entry in self._calls if entry[0] <= end]:
            at, call = min(due, key=lambda entry: entry[0])
            self._calls.remove((at, call))
            self.now = at
            call()
        self.now = end


class Transport:
    is_ended = False

    def abort(self) -> None:
        self.is_ended = True


@pytest.fixture
def line() -> Any:
    """Just connected."""
    line: Any = LimitedConnection.__new__(LimitedConnection)
    line.loop, line.transport, line.cycle = Loop(), Transport(), None
    line._since = line.loop.time()
    line._look()
    return line


def _asked(*, more_body: bool = False, response_complete: bool = False) -> Any:
    return SimpleNamespace(more_body=more_body, response_complete=response_complete)


SLACK_S = 3 * LOOK_EVERY_S


def test_who_says_nothing_is_hung_up_on(line: Any) -> None:
    line.loop.pass_s(HEAD_WITHIN_S - 1)
    assert not line.transport.is_ended
    line.loop.pass_s(SLACK_S)
    assert line.transport.is_ended


def test_a_body_has_longer_but_not_for_ever_however_steadily_it_drips(line: Any) -> None:
    line.cycle = _asked(more_body=True)
    line.loop.pass_s(BODY_WITHIN_S - 1)
    assert not line.transport.is_ended
    line.loop.pass_s(SLACK_S)
    assert line.transport.is_ended


def test_a_request_that_is_at_work_is_never_cut_off(line: Any) -> None:
    line.cycle = _asked()
    line.loop.pass_s(24 * 3_600)
    assert not line.transport.is_ended


def test_a_connection_is_kept_for_the_next_request_for_a_while(line: Any) -> None:
    line.cycle = _asked(response_complete=True)
    line.loop.pass_s(KEEP_ALIVE_S)
    assert not line.transport.is_ended
    line.cycle = _asked(response_complete=True)  # the next one came and was answered
    line.loop.pass_s(KEEP_ALIVE_S)
    assert not line.transport.is_ended
    line.loop.pass_s(HEAD_WITHIN_S + SLACK_S)
    assert line.transport.is_ended
