"""The audit: replay the log through the rules, check each event, and compare the tables with the replay.

Independent of the engines: events come in one by one, and memory grows with the live rows, not with the
length of the log. A finding names the position of the event that it is about.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from lineclear.core.agents.names import is_family
from lineclear.core.claims.granting import EXCLUSIVE, excludes, has_copies
from lineclear.core.claims.resources import ancestors, overlaps, resource_of
from lineclear.core.log.events import BrokenLog
from lineclear.core.log.fold import fold
from lineclear.core.log.state import FoldedState
from lineclear.core.log.tables import CLAIM, FINDING, VALUE
from lineclear.core.words.refusals import Refusal

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

    from lineclear.core.log.events import Event
    from lineclear.core.log.tables import Table, TableRow

MOST_FINDINGS = 200


@dataclass(frozen=True, slots=True)
class AuditFinding:
    """A violated rule. `kind` is a stable name; `position` is 0 for a difference between tables."""

    kind: str
    position: int
    text: str


class Auditor:
    def __init__(self) -> None:
        self.state = FoldedState()
        self.findings: list[AuditFinding] = []
        self.missed = 0
        self.count = 0
        self.position = 0

    def feed(self, event: Event) -> None:
        """Check an event against everything before it, then fold it in."""
        self.count += 1
        self._check_order(event)
        check = _CHECKS.get(event.kind)
        try:
            if check is not None:
                check(self, event)
            fold(self.state, event)
        except (BrokenLog, Refusal, AttributeError, KeyError, TypeError) as error:
            self.report("broken event", event.position, f"{event.kind}: {error}")

    def compare(self, table: Table[Any], rows: Iterable[TableRow]) -> None:
        """Report each row of an engine that differs from the replayed one; quiet columns are skipped."""
        columns = [name for name in table.columns if name not in table.quiet]
        expected = {table.key_of(row): row for row in self.state.all_rows(table)}
        for row in rows:
            key = table.key_of(row)
            replayed = expected.pop(key, None)
            if replayed is None:
                self.report("table differs", 0, f"{table.name} {key} is in the table, not in the log")
                continue
            for name in columns:
                found, logged = getattr(row, name), getattr(replayed, name)
                if found != logged:
                    text = f"{table.name} {key}: {name} is {found!r}, the log says {logged!r}"
                    self.report("table differs", 0, text)
        for key in expected:
            self.report("table differs", 0, f"{table.name} {key} is in the log, not in the table")

    def report(self, kind: str, position: int, text: str) -> None:
        if len(self.findings) < MOST_FINDINGS:
            self.findings.append(AuditFinding(kind, position, text))
        else:
            self.missed += 1

    def _check_order(self, event: Event) -> None:
        if event.position <= self.position:
            self.report("order", event.position, f"position {event.position} follows {self.position}")
        if event.seen >= event.position:
            self.report("order", event.position, f"{event.actor} had seen {event.seen} before it was written")
        self.position = event.position


def _check_grant(auditor: Auditor, event: Event) -> None:
    body = event.body
    resource = resource_of(body["resource"])
    copies = has_copies(resource)
    node = resource.node
    near = auditor.state.pick(CLAIM, "node", ancestors(node))
    near += auditor.state.scan(CLAIM, "node", low=node + "/", high=node + "0")
    for claim in near:
        if is_family(claim.agent, event.actor) or not overlaps(resource, resource_of(claim.resource)):
            continue
        if excludes(body["mode"], body["tree"], claim.mode, claim.tree, copies=copies):
            auditor.report(
                "two holders",
                event.position,
                f"{event.actor} was granted {body['resource']} ({body['mode']}) while {claim.agent} "
                f"held {claim.resource} ({claim.mode})",
            )
        if body["mode"] == EXCLUSIVE and claim.fence >= event.position:
            auditor.report(
                "fence", event.position, f"the fence of {claim.agent} on {claim.resource} is not lower"
            )


def _check_end(auditor: Auditor, event: Event) -> None:
    body = event.body
    if auditor.state.get(CLAIM, (body["agent"], body["resource"])) is None:
        auditor.report("claim", event.position, f"{body['agent']} did not hold {body['resource']}")


def _check_write(auditor: Auditor, event: Event) -> None:
    body = event.body
    value = auditor.state.get(VALUE, (body["key"],))
    newest = value.version if value is not None else 0
    found = lost_update(body["base"], newest)
    if found:
        auditor.report("lost update", event.position, f"{event.actor} wrote {body['key']}: {found}")
    if body["version"] != newest + 1:
        auditor.report("version", event.position, f"{body['key']} went from {newest} to {body['version']}")


def _check_made(auditor: Auditor, event: Event) -> None:
    for row in auditor.state.scan(FINDING, "key"):
        if row.key == event.body["key"]:
            auditor.report("finding", event.position, f"F-{row.id} is open and says the same")


def lost_update(base: int, newest: int) -> str:
    """How a write was based on a version that was no longer current; "" if it was based on the newest."""
    return "" if base == newest else f"based on version {base} when {newest} was current"


_CHECKS: dict[str, Callable[[Auditor, Event], None]] = {
    "ClaimGranted": _check_grant,
    "ClaimReleased": _check_end,
    "ClaimExpired": _check_end,
    "ClaimTakenOver": _check_end,
    "ValuePut": _check_write,
    "ValueDeleted": _check_write,
    "FindingMade": _check_made,
}
