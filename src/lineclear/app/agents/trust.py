"""Trust in the commands of the committed settings file: look it up, require it, record it, revoke it.

The settings are read once per process: the commands that were shown or allowed are those that run, even if
the file changes meanwhile.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from lineclear.core.trust import KNOWN, is_at, judge, read_record, with_trust, write_record
from lineclear.core.words.computed.settings import not_trusted
from lineclear.core.words.refusals import refuse

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from lineclear.app.ports import Caller
    from lineclear.core.trust import JudgedCommand, Stated


class TrustRecord(Protocol):
    """The file in which this clone keeps what was trusted; only its owner can write it."""

    def read(self) -> str:
        """The text; "" if nothing was ever trusted, or if another user could have written it."""

    def change(self, change: Callable[[str], str], /) -> None:
        """Replace the text by the result of `change`, while no other process changes it."""


class Trust:
    """The commands in a repository's committed settings, and which of them this clone's person trusts."""

    def __init__(self, stated: list[Stated], record: TrustRecord) -> None:
        self._stated, self._record = stated, record

    def judged(self) -> list[JudgedCommand]:
        """Every command that needs trust, with whether it is trusted."""
        return judge(self._stated, self.recorded())

    def recorded(self) -> dict[str, str]:
        """digest -> its place in the settings, for everything that was ever trusted in this clone."""
        return read_record(self._record.read())

    def missing(self, places: Iterable[str] = ()) -> list[Stated]:
        """The untrusted commands at these places ("workers.codex"), or anywhere if none is given."""
        wanted = tuple(places)
        found = [one.stated for one in self.judged() if one.state != KNOWN]
        return [one for one in found if is_at(one.where, wanted)] if wanted else found

    def require(self, places: Iterable[str] = ()) -> None:
        missing = self.missing(places)
        if missing:
            raise not_trusted(missing)

    def record(self, caller: Caller, seen: Iterable[JudgedCommand]) -> None:
        """Trust exactly the commands that the person saw, whatever the file says by now. For people only."""
        if not caller.is_person:
            raise refuse("person.only", what="trust the commands of a repository", agent=caller.name)
        stated = [one.stated for one in seen]
        self._record.change(lambda text: write_record(with_trust(read_record(text), stated)))

    def revoke(self, caller: Caller) -> int:
        """Revoke all trust; returns how many records there were. For people only."""
        if not caller.is_person:
            raise refuse("person.only", what="revoke trust", agent=caller.name)
        counts: list[int] = []

        def forget(text: str) -> str:
            counts.append(len(read_record(text)))
            return ""

        self._record.change(forget)
        return counts[0]
