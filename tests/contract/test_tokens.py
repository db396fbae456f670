"""Tokens on every engine: made by one process, checked and revoked by another."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from lineclear.app.agents import tokens
from lineclear.app.log import audit
from lineclear.app.ports import Caller
from lineclear.core.agents.tokens import write_token
from lineclear.core.log.tables import TOKEN
from lineclear.host.tokens import new_id, new_secret
from tests.contract.three_engines import Engine, log_of, rows_of
from tests.world import HOUR_MS, FakeClock, refused

if TYPE_CHECKING:
    from lineclear.app.ports import Store

PAT = Caller("pat", is_person=True)


def issue(store: Store, name: str, *, op: str = "", is_person: bool = False, ttl_ms: int = 0) -> str:
    id, (secret, kept) = new_id(), new_secret()
    caller = Caller("pat", is_person=True, op=op)
    tokens.issue(store, caller, name, id=id, secret_hash=kept, is_person=is_person, ttl_ms=ttl_ms)
    return write_token(id, secret)


def verify(store: Store, token: str) -> tuple[str, str]:
    bearer = store.read(lambda view: tokens.verify(view, token))
    return bearer.name, bearer.kind


def test_what_one_process_makes_another_knows_and_a_third_ends(engine: Engine, clock: FakeClock) -> None:
    maker, door, desk = (engine.open(clock) for _ in range(3))
    ada, kim = issue(maker, "ada"), issue(maker, "kim", is_person=True)
    assert (verify(door, ada), verify(door, kim)) == (("ada", "agent"), ("kim", "person"))
    assert tokens.revoke(desk, PAT, "ada")["revoked"] == [ada[3:13]]
    with refused("token.revoked") as caught:
        verify(door, ada)
    assert caught.value.facts["revoked_by"] == "pat"
    assert verify(door, kim) == ("kim", "person")
    assert audit(door)["findings"] == []


@pytest.mark.parametrize("change", ["secret", "id", "short", "long", "letters"])
def test_a_forged_token_is_not_known(store: Store, change: str) -> None:
    token = issue(store, "ada")
    other = issue(store, "ben")
    forged = {
        "secret": token[:14] + other[14:],
        "id": "lc_ffffffffff_" + token[14:],
        "short": token[:-1],
        "long": token + "A" * 100_000,
        "letters": "é" + token[1:],
    }[change]
    with refused("token.unknown"):
        verify(store, forged)
    assert verify(store, token) == ("ada", "agent")


def test_a_token_ends_at_its_time(store: Store, clock: FakeClock) -> None:
    lasting, token = issue(store, "ben"), issue(store, "ada", ttl_ms=HOUR_MS)
    clock.advance(HOUR_MS - 1)
    assert verify(store, token) == ("ada", "agent")
    clock.advance(1)
    with refused("token.expired"):
        verify(store, token)
    assert verify(store, lasting) == ("ben", "agent")


def test_a_repeat_makes_one_token_and_keeps_no_secret(store: Store) -> None:
    first = issue(store, "ada", op="k")
    second = issue(store, "ada", op="k")
    assert [row["id"] for row in store.read(tokens.list_tokens)] == [first[3:13]]
    with refused("token.unknown"):
        verify(store, second)


def test_rows_are_the_same_on_every_engine_and_hold_no_secret(store: Store) -> None:
    token = issue(store, "ada")
    tokens.revoke(store, PAT, "ada")
    (row,) = rows_of(store, TOKEN)
    issued, revoked = (entry for entry in log_of(store) if entry.kind.startswith("Token"))
    assert (row["made"], row["made_ns"]) == (issued.position, issued.at_ns)
    assert (row["revoker"], row["revoked_ns"]) == ("pat", revoked.at_ns)
    assert (row["name"], row["kind"], row["issuer"], row["expires_ns"]) == ("ada", "agent", "pat", 0)
    assert token[14:] not in f"{row} {issued.body} {revoked.body}"


def test_a_copy_of_the_store_knows_the_same_tokens(store: Store, clock: FakeClock) -> None:
    from lineclear.store.memory import MemoryStore

    ada, ben = issue(store, "ada"), issue(store, "ben")
    tokens.revoke(store, PAT, ben)
    copy = MemoryStore(clock)
    copy.load(log_of(store))
    assert verify(copy, ada) == ("ada", "agent")
    with refused("token.revoked"):
        verify(copy, ben)
    assert rows_of(copy, TOKEN) == rows_of(store, TOKEN)
