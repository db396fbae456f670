"""A store of the previous schema: refused as it is, brought up to date by `init`, and whole afterwards."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from lineclear.app import claims, messages
from lineclear.app.agents import tokens
from lineclear.app.log import audit
from lineclear.app.ports import Caller
from lineclear.core.agents.tokens import write_token
from lineclear.core.log.tables import CLAIM, MESSAGE, TOKEN
from lineclear.host.tokens import new_id, new_secret
from lineclear.store.postgres import schema as postgres
from lineclear.store.sqlite import engine as sqlite
from tests.engines import Place, new_place
from tests.verbs import request_of
from tests.world import refused

PAT = Caller("pat", is_person=True)


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.postgres)])
def old_place(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """A store as the program of schema 3 left it, at work until a moment ago."""
    with monkeypatch.context() as before:
        for module, known in ((sqlite, "_migrations"), (postgres, "known_migrations")):
            migrations = getattr(module, known)()[:3]
            before.setattr(module, "SCHEMA_NUMBER", 3)
            before.setattr(module, known, lambda migrations=migrations: migrations)
        place = new_place(request, tmp_path)
        store = place.open()
        messages.say(store, Caller("ann"), "hello", to="ben")
        claims.ask(store, place.liveness(), Caller("ann"), request_of("ann", ("src/a.py",)))
        store.close()
    return place


def test_it_is_refused_until_it_is_brought_up_to_date(old_place: Place) -> None:
    with refused("store.older") as caught:
        old_place.open()
    assert caught.value.facts["found"] == 3


def test_nothing_is_lost_and_tokens_can_be_made(old_place: Place) -> None:
    assert old_place.create() is False
    store = old_place.open()
    try:
        assert store.check() == []
        assert store.info()["schema"] == 4
        assert [row.text for row in store.read(lambda view: view.scan(MESSAGE, "key"))] == ["hello"]
        assert [row.resource for row in store.read(lambda view: view.scan(CLAIM, "key"))] == ["file:src/a.py"]
        assert store.read(lambda view: view.scan(TOKEN, "key")) == []
        id, (secret, kept) = new_id(), new_secret()
        tokens.issue(store, PAT, "ada", id=id, secret_hash=kept)
        assert store.read(lambda view: tokens.verify(view, write_token(id, secret))).name == "ada"
        assert audit(store)["findings"] == []
    finally:
        store.close()


def test_bringing_it_up_to_date_twice_changes_nothing(old_place: Place) -> None:
    old_place.create()
    assert old_place.create() is False
    store = old_place.open()
    assert store.check() == []
    store.close()
