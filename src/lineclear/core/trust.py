"""Trust by content: has a person approved exactly the command that a committed file asks us to run?

Pure: the stated commands and the record of trust come in, the judgement goes out.
"""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import sha256
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

# The file with the record, in the state directory.
RECORD = "trusted"
NEW, CHANGED, KNOWN = "new", "changed", "known"
# Enough for years of changes; beyond it the oldest are dropped.
MAX_RECORDS = 10_000
_HEX = frozenset("0123456789abcdef")
_DIGEST_CHARS = 64


@dataclass(frozen=True, slots=True)
class Stated:
    """Something in a committed file that needs trust: `where` it is, and the whole `text`."""

    where: str
    text: str

    @property
    def digest(self) -> str:
        return digest(self.where, self.text)


@dataclass(frozen=True, slots=True)
class JudgedCommand:
    """A stated command and its state: known (this text is recorded), changed (another text is recorded for
    this place) or new."""

    stated: Stated
    state: str

    def as_data(self) -> dict[str, str]:
        return {
            "where": self.stated.where,
            "text": self.stated.text,
            "digest": self.stated.digest,
            "state": self.state,
        }


def digest(where: str, text: str) -> str:
    """The digest of a text at its place: a command trusted as a check is not trusted as a worker."""
    return sha256(f"{where}\0{text}".encode(errors="surrogatepass")).hexdigest()


def is_at(where: str, places: Iterable[str]) -> bool:
    """Is it one of the places, or inside one? "worktrees.setup[0]" is inside "worktrees.setup"."""
    return any(where == place or where.startswith((f"{place}.", f"{place}[")) for place in places)


def judge(stated: Iterable[Stated], recorded: Mapping[str, str]) -> list[JudgedCommand]:
    """The state of each stated command. `recorded` maps a digest to the place where it was trusted."""
    places = set(recorded.values())
    return [
        JudgedCommand(one, KNOWN if one.digest in recorded else CHANGED if one.where in places else NEW)
        for one in stated
    ]


# -- the record -------------------------------------------------------------------------------


def read_record(text: str) -> dict[str, str]:
    """Digest -> place, the oldest first. Damaged lines are ignored."""
    record: dict[str, str] = {}
    for line in text.split("\n"):
        found, _, where = line.partition(" ")
        if len(found) == _DIGEST_CHARS and _HEX.issuperset(found):
            record[found] = where.strip()
    return record


def write_record(record: Mapping[str, str]) -> str:
    """One line per entry, the digest first, as `sha256sum` writes them."""
    newest = list(record.items())[-MAX_RECORDS:]
    return "".join(f"{found}  {where}\n" for found, where in newest)


def with_trust(record: Mapping[str, str], stated: Iterable[Stated]) -> dict[str, str]:
    """The record with these as its newest entries. Older ones stay, because branches come and go."""
    added = {one.digest: one.where for one in stated}
    return {found: where for found, where in record.items() if found not in added} | added
