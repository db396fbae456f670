"""A store of the previous schema: refused as it is, brought up to date by `init`, and whole afterwards."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from lineclear.app import claims, messages
from lineclear.app.log import audit
from lineclear.app.ports import Caller
from lineclear.app.radar.findings import open_findings, record
from lineclear.core.log.tables import CLAIM, FINDING, MESSAGE
from lineclear.core.radar.findings import Finding
from lineclear.store.postgres import schema as postgres
from lineclear.store.sqlite import engine as sqlite
from tests.engines import Place, new_place
from tests.verbs import request_of
from tests.world import refused

PAT = Caller("pat", is_person=True)


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.postgres)])
def old_place(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """A store as the program of schema 4 left it, at work until a moment ago."""
    with monkeypatch.context() as before:
        for module, known in ((sqlite, "_migrations"), (postgres, "known_migrations")):
            migrations = getattr(module, known)()[:4]
            before.setattr(module, "SCHEMA_NUMBER", 4)
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
    assert caught.value.facts["found"] == 4


def test_nothing_is_lost_and_findings_can_be_recorded(old_place: Place) -> None:
    assert old_place.create() is False
    store = old_place.open()
    try:
        assert store.check() == []
        assert store.info()["schema"] == 5
        assert [row.text for row in store.read(lambda view: view.scan(MESSAGE, "key"))] == ["hello"]
        assert [row.resource for row in store.read(lambda view: view.scan(CLAIM, "key"))] == ["file:src/a.py"]
        assert store.read(lambda view: view.scan(FINDING, "key")) == []
        made, _, _ = record(store, PAT, [Finding(kind="removed", agents=("ann", "ben"), files=("a.py",))])
        assert [row.id for row in store.read(open_findings)] == made
        assert audit(store)["findings"] == []
    finally:
        store.close()


def test_bringing_it_up_to_date_twice_changes_nothing(old_place: Place) -> None:
    old_place.create()
    assert old_place.create() is False
    store = old_place.open()
    assert store.check() == []
    store.close()
