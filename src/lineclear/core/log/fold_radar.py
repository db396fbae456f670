"""What the radar's events do to its tables; a part of fold.py."""

from __future__ import annotations

from lineclear.core.log.events import BrokenLog
from lineclear.core.log.tables import FINDING, MUTE, FindingRow, Mute, join_names, split_names

TYPE_CHECKING = False
if TYPE_CHECKING:
    from lineclear.core.log.events import Event
    from lineclear.core.log.fold import Fold, Ledger


def _made(ledger: Ledger, event: Event) -> None:
    b = event.body
    ledger.put(
        FINDING,
        FindingRow(
            event.position, b["key"], b["kind"], join_names(b["agents"]), join_names(b["files"]), b["symbol"],
            b["old"], b["new"], b["detail"], b["confidence"], b["interrupts"], b["task"], event.at_ns, "",
        ),
    )  # fmt: skip


def _open(ledger: Ledger, event: Event) -> FindingRow:
    row = ledger.get(FINDING, (event.body["id"],))
    if row is None:
        raise BrokenLog(f"event {event.position} is about a finding that is not open")
    return row


def _changed(ledger: Ledger, event: Event) -> None:
    row, b = _open(ledger, event), event.body
    columns = {name: b[name] for name in _PLAIN}
    columns |= {"agents": join_names(b["agents"]), "files": join_names(b["files"])}
    ledger.put(FINDING, row.changed(**columns, told="" if b["again"] else row.told))


_PLAIN = ("key", "kind", "symbol", "old", "new", "detail", "confidence", "interrupts", "task")


def _ended(ledger: Ledger, event: Event) -> None:
    ledger.delete(FINDING, (_open(ledger, event).id,))


def _told(ledger: Ledger, event: Event) -> None:
    for number in event.body["ids"]:
        row = ledger.get(FINDING, (number,))
        if row is None:
            continue  # it ended before its reader's next call said that it had arrived
        told = split_names(row.told)
        if event.actor not in told:
            ledger.put(FINDING, row.changed(told=join_names([*told, event.actor])))


def _muted(ledger: Ledger, event: Event) -> None:
    b = event.body
    if b["muted"]:
        ledger.put(MUTE, Mute(b["kind"], b["path"], event.actor, event.position))
    else:
        ledger.delete(MUTE, (b["kind"], b["path"]))


RADAR_FOLDS: dict[str, Fold] = {
    "FindingMade": _made,
    "FindingChanged": _changed,
    "FindingEnded": _ended,
    "FindingsTold": _told,
    "FindingMuted": _muted,
}
