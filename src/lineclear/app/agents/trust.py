"""Trust in what the committed settings file asks to be run: looked up, required, recorded, taken back.

The judged values are those of the settings that were read once for this process: what was shown or
allowed is what runs, even if the file changes meanwhile.
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
    """The text that this clone keeps of what was trusted; nobody else can write it."""

    def read(self) -> str:
        """ "" when nothing was ever trusted, or when somebody else could have written it."""

    def change(self, change: Callable[[str], str], /) -> None:
        """Replace the text by what `change` makes of it, while no other process does the same."""


class Trust:
    """What a repository's committed settings state, and what of it this clone's person trusts."""

    def __init__(self, stated: list[Stated], record: TrustRecord) -> None:
        self._stated, self._record = stated, record

    def judged(self) -> list[JudgedCommand]:
        """Everything the committed file states that needs trust, with whether it has it."""
        return judge(self._stated, self.recorded())

    def recorded(self) -> dict[str, str]:
        """Digest -> where it stood, of everything that was ever trusted in this clone."""
        return read_record(self._record.read())

    def missing(self, places: Iterable[str] = ()) -> list[Stated]:
        """What is stated but not trusted, at these places ("workers.codex") or anywhere."""
        wanted = tuple(places)
        found = [one.stated for one in self.judged() if one.state != KNOWN]
        return [one for one in found if is_at(one.where, wanted)] if wanted else found

    def require(self, places: Iterable[str] = ()) -> None:
        missing = self.missing(places)
        if missing:
            raise not_trusted(missing)

    def record(self, caller: Caller, seen: Iterable[JudgedCommand]) -> None:
        """Record exactly what was judged, and is shown to the person: not what the file says by now."""
        if not caller.is_person:
            raise refuse("person.only", what="trust the commands of a repository", agent=caller.name)
        stated = [one.stated for one in seen]
        self._record.change(lambda text: write_record(with_trust(read_record(text), stated)))

    def revoke(self, caller: Caller) -> int:
        """Nothing is trusted any more; says how many records there were."""
        if not caller.is_person:
            raise refuse("person.only", what="revoke trust", agent=caller.name)
        counts: list[int] = []

        def forget(text: str) -> str:
            counts.append(len(read_record(text)))
            return ""

        self._record.change(forget)
        return counts[0]
