"""Which findings an agent has not heard of, and the mark that it has. On the hook's path: cheap to import."""

from __future__ import annotations

from lineclear.app.agents.membership import ensure_agent
from lineclear.core.log.events import Draft
from lineclear.core.log.queries import by_index
from lineclear.core.log.tables import FINDING, split_names

TYPE_CHECKING = False
if TYPE_CHECKING:
    from lineclear.app.ports import Caller, Store, Tx, View
    from lineclear.core.log.tables import FindingRow


def findings_for(view: View, name: str) -> list[FindingRow]:
    """What `name` has not heard of yet, interrupting findings first. A sub-agent gets its parent's findings
    too."""
    found = [row for row in findings_about(view, name) if name not in split_names(row.told)]
    return sorted(found, key=lambda row: not row.interrupts)


def findings_about(view: View, name: str) -> list[FindingRow]:
    """The open findings in which the agent, or the parent of this sub-agent, is one of the sides."""
    return [row for row in view.scan(FINDING, "key") if is_about(row, name)]


def is_about(row: FindingRow, name: str) -> bool:
    return any(name == side or name.startswith(side + "/") for side in split_names(row.agents))


def mark_told(store: Store, caller: Caller, ids: list[int]) -> None:
    """Remember that the caller has heard of these findings."""
    if ids:
        store.transact(caller, lambda tx: mark_told_in(tx, caller, ids), [by_index(FINDING, "key")])


def mark_told_in(tx: Tx, caller: Caller, ids: list[int]) -> None:
    """`mark_told` inside another transaction. What has ended or changed hands meanwhile is left out."""
    untold = {row.id for row in findings_for(tx, caller.name)}
    told = sorted(untold.intersection(ids))
    if told:
        ensure_agent(tx, caller)
        tx.append(Draft("FindingsTold", f"agent:{caller.name}", ids=told))
