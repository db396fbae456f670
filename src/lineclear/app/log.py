"""Use cases for the log: read it, copy it, order two events, audit it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lineclear.core.agents.names import OWN_OPERATION
from lineclear.core.instants import show_wall
from lineclear.core.log.audit import Auditor
from lineclear.core.log.causality import relation
from lineclear.core.log.codec import decode_body, event_of
from lineclear.core.log.tables import LOG, PROJECTED
from lineclear.core.words.refusals import not_found

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from lineclear.app.ports import Store, View
    from lineclear.core.log.tables import LogEntry

BATCH = 2_000
# Looking through so many events takes about a third of a second.
MOST_SEARCHED = 100_000
# Times are less exact than positions: between two writers on a server they may go back this much.
UNSTEADY_NS = 2_000_000_000


def entries_after(view: View, position: int) -> Iterator[LogEntry]:
    """All entries after a position, read in batches."""
    while True:
        batch = view.scan(LOG, "key", low=position, limit=BATCH)
        if not batch:
            return
        yield from batch
        position = batch[-1].position


def copy_log(source: Store, target: Store) -> int:
    """Fill an empty store by replaying another's log; returns the number of events."""
    return source.read(lambda view: target.load(entries_after(view, 0)))


def tail(
    view: View,
    *,
    after: int | None = None,
    since_ns: int = 0,
    agent: str = "",
    kind: str = "",
    subject: str = "",
    limit: int = 50,
) -> list[dict[str, Any]]:
    """The newest matching events, oldest first; with `after`, the first ones after that position. Without any
    bound, an agent or a kind is looked for in the newest events only (see `is_cut`)."""
    fitting, most = [], MOST_SEARCHED if (agent or kind) and not since_ns else 0
    for entry in _backwards(view, subject, most) if after is None else entries_after(view, after):
        if since_ns and entry.at_ns < since_ns:
            if after is None and entry.at_ns < since_ns - UNSTEADY_NS:
                break
            continue
        if _fits(entry, agent, kind, subject):
            fitting.append(entry)
            if limit and len(fitting) >= limit:
                break
    ordered = reversed(fitting) if after is None else fitting
    return [show_entry(entry) for entry in ordered]


def is_cut(view: View, found: int, limit: int) -> bool:
    """Did `tail` look at the newest events only, without finding as many as it may?"""
    return found < limit and view.count(LOG, "key") > MOST_SEARCHED


def _backwards(view: View, subject: str, most: int) -> Iterator[LogEntry]:
    """From the newest on; all, or at most about `most`."""
    if subject:
        yield from view.scan(LOG, "subject", (subject,), reverse=True)
        return
    position: int | None = None
    read = 0
    while not most or read < most:
        batch = view.scan(LOG, "key", high=position, limit=BATCH, reverse=True)
        if not batch:
            return
        yield from batch
        position, read = batch[-1].position, read + len(batch)


def _fits(entry: LogEntry, agent: str, kind: str, subject: str) -> bool:
    return (
        (not agent or entry.actor == agent)
        and (not kind or entry.kind.lower().startswith(kind.lower()))
        and (not subject or entry.subject == subject)
    )


def show_entry(entry: LogEntry) -> dict[str, Any]:
    return {
        "position": entry.position,
        "at": show_wall(entry.at_ns),
        "actor": entry.actor,
        "kind": entry.kind,
        "subject": entry.subject,
        "seen": entry.seen,
        "op": "" if entry.op.startswith(OWN_OPERATION) else entry.op,
        "body": decode_body(entry.body),
    }


def order_of(view: View, first: int, second: int) -> dict[str, Any]:
    """Did the first event happen before the second, after it, or concurrently?"""
    one, two = _known(view, first), _known(view, second)
    return {"first": show_entry(one), "second": show_entry(two), "relation": relation(one, two)}


def _known(view: View, position: int) -> LogEntry:
    entry = view.get(LOG, (position,))
    if entry is None:
        raise not_found("event", str(position), "lineclear log")
    return entry


def audit(store: Store) -> dict[str, Any]:
    """Replay the whole log through the core's rules, and compare the result with the tables."""

    def work(view: View) -> dict[str, Any]:
        auditor = Auditor()
        for entry in entries_after(view, 0):
            auditor.feed(event_of(entry))
        for table in PROJECTED:
            auditor.compare(table, view.scan(table, "key"))
        findings = [{"kind": f.kind, "position": f.position, "text": f.text} for f in auditor.findings]
        return {
            "events": auditor.count,
            "head": auditor.position,
            "findings": findings,
            "missed": auditor.missed,
        }

    return store.read(work)
