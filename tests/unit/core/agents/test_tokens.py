"""How a token is written, read and proved, and when it is no longer good."""

from __future__ import annotations

import pytest

from lineclear.core.agents.tokens import (
    EXPIRED,
    ID_CHARS,
    LIVE,
    MOST_CHARS,
    REVOKED,
    hash_of,
    is_plausible,
    proves,
    split_token,
    state_of,
    write_token,
)
from lineclear.core.log.tables import Token
from lineclear.host.tokens import new_id, new_secret

ID, SECRET = "0123abcdef", "A" * 43
TOKEN = write_token(ID, SECRET)


def row(expires_ns: int = 0, revoked_ns: int = 0) -> Token:
    return Token(ID, "ada", "agent", hash_of(SECRET), "", "sam", 3, 10, expires_ns, "", revoked_ns)


def test_what_is_drawn_is_read_back_whole() -> None:
    """A secret may itself hold the sign that stands between the parts."""
    for _ in range(200):
        id, (secret, kept) = new_id(), new_secret()
        assert split_token(write_token(id, secret)) == (id, secret)
        assert proves(secret, kept)


def test_no_two_secrets_are_alike() -> None:
    assert len({new_secret()[0] for _ in range(100)}) == 100
    assert len({new_id() for _ in range(100)}) == 100


@pytest.mark.parametrize(
    "text",
    [
        "",
        "lc_",
        TOKEN[:-1],
        TOKEN + "A",
        TOKEN + "\n",
        TOKEN.upper(),
        "xx" + TOKEN[2:],
        write_token("0123ABCDEF", SECRET),
        write_token(ID, "é" + SECRET[1:]),
        write_token(ID, "/" + SECRET[1:]),
        f"lc_{ID}-{SECRET}",
        "\udcff" * len(TOKEN),
    ],
)
def test_what_is_not_written_as_a_token_is_none(text: str) -> None:
    assert split_token(text) is None


def test_a_secret_is_proved_by_itself_alone() -> None:
    kept = hash_of(SECRET)
    assert SECRET not in kept
    assert proves(SECRET, kept)
    assert not proves(SECRET[:-1] + "B", kept)
    assert not proves(kept, kept)
    assert not proves("", kept)


@pytest.mark.parametrize("text", ["", "x" * (MOST_CHARS + 1), "é", "a b", "\udcff", "a\0b", "a\nb"])
def test_what_nobody_can_have_been_given_is_not_looked_for(text: str) -> None:
    assert not is_plausible(text)


def test_the_secret_of_a_run_is_looked_for() -> None:
    assert is_plausible(new_secret()[0])
    assert len(new_id()) == ID_CHARS


def test_a_token_ends_at_its_time_or_when_it_is_revoked() -> None:
    assert state_of(row(), 1 << 62) == LIVE
    assert state_of(row(expires_ns=100), 99) == LIVE
    assert state_of(row(expires_ns=100), 100) == EXPIRED
    assert state_of(row(expires_ns=100, revoked_ns=50), 200) == REVOKED
