"""MCP resources: live pages, each the answer of a verb, and which events change them."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import unquote

if TYPE_CHECKING:
    from typing import Any

STATUS, TASKS, RADAR = "lineclear://status", "lineclear://tasks", "lineclear://radar"
TASK, HOLDERS = "lineclear://task/", "lineclear://holders/"

# address -> (name, what it shows)
PAGES = {
    STATUS: ("status", "The current agents, claims, waits, tasks and queue"),
    TASKS: ("tasks", "All unfinished tasks"),
    RADAR: ("radar", "What would break when everybody's unmerged work meets"),
}
TEMPLATES = {
    TASK + "{task}": ("task", "One task with its notes and history"),
    HOLDERS + "{+resource}": ("holders", "Who holds a resource, who waits for it, who wrote it last"),
}


def verb_of(address: str) -> tuple[str, dict[str, Any]] | None:
    """The verb that shows the page, and its arguments; None for an unknown address."""
    if address == STATUS:
        return "status", {}
    if address == TASKS:
        return "task list", {}
    if address == RADAR:
        return "radar", {"known": True}
    if address.startswith(TASK) and len(address) > len(TASK):
        return "task show", {"task": unquote(address[len(TASK) :])}
    if address.startswith(HOLDERS) and len(address) > len(HOLDERS):
        return "who", {"resource": unquote(address[len(HOLDERS) :])}
    return None


def is_touched(address: str, event: dict[str, Any]) -> bool:
    """May this event have changed the page? One read too many does no harm."""
    kind: str = event["kind"]
    if address == STATUS:
        return True
    if address == TASKS:
        return kind.startswith("Task")
    if address == RADAR:
        return kind.startswith("Finding")
    if address.startswith(TASK):
        number = unquote(address[len(TASK) :]).upper().removeprefix("T-")
        return kind.startswith("Task") and event["subject"] == f"T-{number}"
    return kind.startswith(("Claim", "Wait", "AgentLeft"))
