"""Whom an event could concern, as far as the hushes go that hooks leave for a session's next edit.

A hush says: this session may edit this file again without asking, nothing is to be said. It is lifted before
an event that could change that answer is committed. The rule here may name too many, never too few: a kind
that is not listed concerns everyone.
"""

from __future__ import annotations

from lineclear.core.claims import resource_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from lineclear.core.events import Event

# What an edit is answered never depends on these: a place in a line, a note to a task, values and their
# copies, checks of a tree.
_NOBODY = frozenset(
    (
        "WaitBegan", "WaitEnded", "TaskNoted", "ValuePut", "ValueDeleted", "CopyMade", "CopyChanged",
        "CopyEnded", "CheckEnded",
    )
)  # fmt: skip
_ACTOR = frozenset(("MessagesRead", "TopicJoined", "TopicLeft"))
_CLAIMS = frozenset(("ClaimGranted", "ClaimNoted", "ClaimReleased", "ClaimExpired", "ClaimTakenOver"))


class Concerned:
    """`paths` and `directories` are repo-relative; `agents` are meant with their sub-agents."""

    __slots__ = ("agents", "directories", "everyone", "paths")

    def __init__(self) -> None:
        self.everyone = False
        self.paths: set[str] = set()
        self.directories: set[str] = set()
        self.agents: set[str] = set()

    def __bool__(self) -> bool:
        return bool(self.everyone or self.paths or self.directories or self.agents)


def concerned(events: Iterable[Event]) -> Concerned:
    found = Concerned()
    for event in events:
        if event.kind in _CLAIMS:
            _by_claim(found, event)
        elif event.kind == "MessageSent":
            _by_message(found, str(event.body["audience"]))
        elif event.kind in _ACTOR:
            found.agents.add(event.actor)
        elif event.kind not in _NOBODY:
            found.everyone = True
    return found


def _by_claim(found: Concerned, event: Event) -> None:
    resource = resource_of(str(event.body["resource"]))
    if resource.scheme not in ("file", "symbol"):
        return  # no file overlaps it
    if resource.kind in ("file", "symbol"):
        found.paths.add(resource.path)
    elif resource.kind == "dir":
        found.directories.add(resource.path)
    else:
        found.everyone = True


def _by_message(found: Concerned, audience: str) -> None:
    if audience.startswith("agent:"):
        found.agents.add(audience[6:])
    else:
        found.everyone = True
