"""Sessions that are kept: while they are used, for a while after, and for their owner only."""

from __future__ import annotations

import pytest

from lineclear.serve.sessions import BRIEFLY_IDLE_S, IDLE_S, MOST_NAMES, MOST_OF_ONE, Sessions


class Clock:
    def __init__(self) -> None:
        self.now = 1_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def ended() -> list[str]:
    return []


@pytest.fixture
def sessions(clock: Clock, ended: list[str]) -> Sessions:
    return Sessions(lambda session, owner: ended.append(f"{session} of {owner}"), clock)


def test_one_that_nobody_began_here_is_not_kept(sessions: Sessions) -> None:
    assert not sessions.take("s", "ada")
    sessions.put_back("s", "ada")
    assert len(sessions) == 0


def test_one_that_is_idle_for_long_is_given_up_and_that_is_told(
    sessions: Sessions, clock: Clock, ended: list[str]
) -> None:
    sessions.begin("s", "ada")
    clock.now += IDLE_S - 1
    assert sessions.take("s", "ada")
    sessions.put_back("s", "ada")
    clock.now += IDLE_S - 1
    assert sessions.take("s", "ada")
    sessions.put_back("s", "ada")
    clock.now += IDLE_S
    assert not sessions.take("s", "ada")
    assert ended == ["s of ada"]


def test_one_whose_client_is_known_is_let_go_soon_and_the_client_remembered(
    sessions: Sessions, clock: Clock, ended: list[str]
) -> None:
    sessions.begin("s", "ada")
    assert sessions.take("s", "ada")
    sessions.put_back("s", "ada", client="claude-code")
    clock.now += BRIEFLY_IDLE_S - 1
    assert sessions.take("s", "ada")
    sessions.put_back("s", "ada")  # a ping, which shows no name
    clock.now += BRIEFLY_IDLE_S
    assert not sessions.take("s", "ada")
    assert ended == ["s of ada"]
    assert sessions.client_of("s", "ada") == "claude-code"
    assert sessions.client_of("s", "ben") == "", "it says nothing of who else names this session"


def test_one_that_wants_to_hear_of_changes_is_kept_for_long(sessions: Sessions, clock: Clock) -> None:
    sessions.begin("s", "ada")
    assert sessions.take("s", "ada")
    sessions.put_back("s", "ada", client="claude-code", is_told=True)
    clock.now += IDLE_S - 1
    assert sessions.take("s", "ada")


def test_names_of_those_let_go_are_not_kept_for_ever(sessions: Sessions, clock: Clock) -> None:
    for number in range(MOST_NAMES + 1):
        sessions.begin(f"s{number}", "ada")
        sessions.take(f"s{number}", "ada")
        sessions.put_back(f"s{number}", "ada", client="codex")
    clock.now += BRIEFLY_IDLE_S
    assert not sessions.take("s0", "ada")
    assert (sessions.client_of("s0", "ada"), sessions.client_of("s1", "ada")) == ("", "codex")


def test_one_that_is_in_use_is_kept_however_long_that_takes(sessions: Sessions, clock: Clock) -> None:
    sessions.begin("s", "ada")
    assert sessions.take("s", "ada")  # its stream of news
    clock.now += 10 * IDLE_S
    assert sessions.take("s", "ada")
    sessions.put_back("s", "ada")
    clock.now += 10 * IDLE_S
    assert sessions.take("s", "ada")


def test_another_owner_neither_uses_it_nor_keeps_it_alive(sessions: Sessions, clock: Clock) -> None:
    sessions.begin("s", "ada")
    clock.now += IDLE_S - 1
    assert sessions.take("s", "ben"), "it is known: who it belongs to is judged elsewhere"
    sessions.put_back("s", "ben")
    clock.now += 1
    assert not sessions.take("s", "ada")


def test_one_that_its_client_ended_is_forgotten_at_once(sessions: Sessions, ended: list[str]) -> None:
    sessions.begin("s", "ada")
    assert sessions.take("s", "ada")
    sessions.end("s")
    sessions.put_back("s", "ada")
    assert not sessions.take("s", "ada")
    assert (ended, len(sessions)) == ([], 0), "whoever ended it knows"


def test_what_was_is_not_kept_however_much_it_was(sessions: Sessions, clock: Clock) -> None:
    for number in range(10_000):
        sessions.begin(f"s{number}", "ada")
        clock.now += 1
    assert len(sessions) <= IDLE_S + 1


def test_one_owner_cannot_take_the_room_of_others(sessions: Sessions, clock: Clock, ended: list[str]) -> None:
    sessions.begin("s", "ben")
    for number in range(MOST_OF_ONE + 2):
        clock.now += 0.001
        sessions.begin(f"s{number}", "ada")
    assert ended == ["s0 of ada", "s1 of ada"]
    assert sessions.take("s", "ben")
    for number in range(2, MOST_OF_ONE + 2):
        assert sessions.has_room("ada")
        assert sessions.take(f"s{number}", "ada")
    assert not sessions.has_room("ada")
    assert sessions.has_room("ben")
