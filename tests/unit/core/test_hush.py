"""Whom an event concerns, as far as hushed edits go: too many at times, never too few."""

from __future__ import annotations

import pytest

from lineclear.core.events import KINDS, Event
from lineclear.core.hush import concerned


def event(kind: str, **body: object) -> Event:
    return Event(1, 0, "eve", kind, "", 0, "", body)


@pytest.mark.parametrize(
    "kind", ["ClaimGranted", "ClaimReleased", "ClaimExpired", "ClaimTakenOver", "ClaimNoted"]
)
def test_a_claim_concerns_those_at_its_file_or_directory(kind: str) -> None:
    found = concerned([event(kind, resource="file:src/a.py"), event(kind, resource="symbol:b.py#f")])
    assert (found.paths, found.everyone) == ({"src/a.py", "b.py"}, False)
    assert concerned([event(kind, resource="file:src/")]).directories == {"src"}
    assert concerned([event(kind, resource="file:./")]).directories == {""}
    assert concerned([event(kind, resource="file:**/*.py")]).everyone
    assert not concerned([event(kind, resource="value:PORT")])


def test_a_message_concerns_its_reader_or_everyone() -> None:
    assert concerned([event("MessageSent", audience="agent:ada")]).agents == {"ada"}
    assert concerned([event("MessageSent", audience="topic:db")]).everyone
    assert concerned([event("MessageSent", audience="all")]).everyone


def test_what_somebody_does_about_its_own_messages_concerns_itself() -> None:
    assert concerned([event("MessagesRead"), event("TopicJoined")]).agents == {"eve"}


def test_a_kind_that_is_not_known_concerns_everyone() -> None:
    assert concerned([event("SomethingNew")]).everyone
    quiet = {kind for kind in KINDS if not concerned([event(kind, resource="file:a", audience="all")])}
    assert quiet == {
        "WaitBegan", "WaitEnded", "TaskNoted", "ValuePut", "ValueDeleted", "CopyMade", "CopyChanged",
        "CopyEnded", "CheckEnded",
    }  # fmt: skip
