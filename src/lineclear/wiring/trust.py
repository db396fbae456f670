"""Trust in what the committed settings file asks to be run: looked up, required, recorded, taken back.

The judged values are those of the settings that were read once for this process: what was shown or
allowed is what runs, even if the file changes meanwhile.
"""

from __future__ import annotations

import os

from lineclear.core.trust import KNOWN, is_at, judge, read_record, with_trust, write_record
from lineclear.core.words.refusals import refuse
from lineclear.core.words.settings import not_trusted
from lineclear.host.records import change_record_file, read_record_file
from lineclear.settings.commands import commands_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from lineclear.app.ports import Caller
    from lineclear.core.trust import JudgedCommand, Stated
    from lineclear.wiring.repo import Repo

RECORD = "trusted"


def judged(repo: Repo) -> list[JudgedCommand]:
    """Everything the committed file states that needs trust, with whether it has it."""
    return judge(commands_of(repo.settings), trusted(repo))


def trusted(repo: Repo) -> dict[str, str]:
    """Digest -> where it stood, of everything that was ever trusted in this clone."""
    return read_record(read_record_file(_path(repo)))


def untrusted(repo: Repo, places: Iterable[str] = ()) -> list[Stated]:
    """What is stated but not trusted, at these places ("worktrees.setup", "workers.codex") or anywhere."""
    wanted = tuple(places)
    found = [one.stated for one in judged(repo) if one.state != KNOWN]
    return [one for one in found if is_at(one.where, wanted)] if wanted else found


def require_trust(repo: Repo, places: Iterable[str] = ()) -> None:
    missing = untrusted(repo, places)
    if missing:
        raise not_trusted(missing)


def trust(repo: Repo, caller: Caller, seen: Iterable[JudgedCommand]) -> None:
    """Record exactly what was judged, and is shown to the person: not what the file says by now."""
    if not caller.is_person:
        raise refuse("person.only", what="trust what a repository wants to run", agent=caller.name)
    stated = [one.stated for one in seen]
    change_record_file(_path(repo), lambda text: write_record(with_trust(read_record(text), stated)))


def revoke(repo: Repo, caller: Caller) -> int:
    """Nothing is trusted any more; says how many records there were."""
    if not caller.is_person:
        raise refuse("person.only", what="take trust back", agent=caller.name)
    counts: list[int] = []

    def forget(text: str) -> str:
        counts.append(len(read_record(text)))
        return ""

    change_record_file(_path(repo), forget)
    return counts[0]


def _path(repo: Repo) -> str:
    return os.path.join(repo.state_directory, RECORD)
