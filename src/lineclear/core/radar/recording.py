"""What a pass of the radar changes in the stored findings: what is new, looks different, or ended."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from lineclear.core.log.events import Draft
from lineclear.core.log.tables import join_names, split_names
from lineclear.core.words.refusals import shorten

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from typing import Any

    from lineclear.core.log.tables import FindingRow, Mute
    from lineclear.core.radar.findings import Finding

# What one pass keeps at most, those that interrupt first: somebody who renames everything meets everybody.
MOST_OPEN, MOST_FILES = 500, 50
_MOST_CHARS, _MOST_PATH_CHARS = 400, 1_000
# An agent hears of a finding again if one of these is different, but not if only lines or files moved.
_TOLD_AGAIN = ("old", "new", "detail")
_CONTENT = (*_TOLD_AGAIN, "files", "confidence", "interrupts")

ENDED, MUTED = "it no longer holds", "muted"


def plan(
    open_rows: Iterable[FindingRow],
    mutes: Sequence[Mute],
    found: Iterable[Finding],
    is_in_scope: Callable[[Sequence[str]], bool],
    tasks: Mapping[str, int],
) -> list[Draft]:
    """The events that bring the stored findings up to date with what a pass found. `is_in_scope(agents)`: did
    the pass look for findings between these sides? Others stay as they are. `tasks`: side -> its task."""
    wanted: dict[str, dict[str, Any]] = {}
    for finding in sorted(found, key=lambda finding: not finding.interrupts):
        if len(wanted) < MOST_OPEN and not _is_silenced(mutes, finding.kind, finding.files):
            body = _body(finding, tasks)
            wanted.setdefault(body["key"], body)
    drafts = []
    for row in open_rows:
        body_now = wanted.pop(row.key, None)
        if body_now is not None:
            drafts += _change(row, body_now)
        elif _is_silenced(mutes, row.kind, split_names(row.files)):
            drafts.append(end(row, MUTED))
        elif is_in_scope(split_names(row.agents)):
            drafts.append(end(row, ENDED))
    return drafts + [Draft("FindingMade", _subject(body["files"]), **body) for body in wanted.values()]


def _body(finding: Finding, tasks: Mapping[str, int]) -> dict[str, Any]:
    """The finding as an event stores it. Names, paths and code are others' texts: bounded, on one line."""
    agents = [shorten(name, _MOST_CHARS) for name in finding.agents]
    return {
        "key": _key(finding.key),
        "kind": finding.kind,
        "agents": agents,
        "files": [shorten(path, _MOST_PATH_CHARS) for path in finding.files[:MOST_FILES]],
        "symbol": shorten(finding.symbol, _MOST_CHARS),
        "old": shorten(finding.old, _MOST_CHARS),
        "new": shorten(finding.new, _MOST_CHARS),
        "detail": shorten(finding.detail, _MOST_CHARS),
        "confidence": finding.confidence,
        "interrupts": int(finding.interrupts),
        "task": finding.task or tasks.get(agents[0], 0),
    }


def _key(text: str) -> str:
    """The key as one line that every engine can store."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]


def _change(row: FindingRow, body: dict[str, Any]) -> list[Draft]:
    stored = body | {"agents": join_names(body["agents"]), "files": join_names(body["files"])}
    different = [name for name in _CONTENT if stored[name] != getattr(row, name)]
    if not different:
        return []
    again = any(name in _TOLD_AGAIN for name in different)
    return [Draft("FindingChanged", _subject(body["files"]), id=row.id, **body, again=int(again))]


def end(row: FindingRow, why: str) -> Draft:
    return Draft("FindingEnded", _subject(split_names(row.files)), id=row.id, why=why)


def _subject(files: Sequence[str]) -> str:
    """The file that the finding is about, as the log names files, so that `who PATH` shows it too."""
    return f"file:{files[0]}" if files else "radar"


def muted_by(rows: Iterable[FindingRow], kind: str, path: str) -> list[FindingRow]:
    """The open findings of a kind that have a file at or below the path."""
    return [row for row in rows if row.kind == kind and _is_below(split_names(row.files), path)]


def _is_silenced(mutes: Sequence[Mute], kind: str, files: Sequence[str]) -> bool:
    return any(mute.kind == kind and _is_below(files, mute.path) for mute in mutes)


def _is_below(files: Sequence[str], path: str) -> bool:
    return not path or any(file == path or file.startswith(path + "/") for file in files)
