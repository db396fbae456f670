"""The kinds of events that the log can hold. What an event does to the tables is in fold.py.

An event's body is a flat dictionary of plain values; KINDS lists its fields, and the reference page is
made from KINDS. A stored kind never changes its meaning: a new meaning is a new kind.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class Event:
    """One fact. `position` orders it; `seen` is the highest position that had been delivered to its actor."""

    __slots__ = ("actor", "at_ns", "body", "kind", "op", "position", "seen", "subject")

    def __init__(
        self,
        position: int,
        at_ns: int,
        actor: str,
        kind: str,
        subject: str,
        seen: int,
        op: str,
        body: dict[str, Any],
    ) -> None:
        self.position = position
        self.at_ns = at_ns
        self.actor = actor
        self.kind = kind
        self.subject = subject
        self.seen = seen
        self.op = op
        self.body = body


class BrokenLog(Exception):
    """An event that cannot follow the ones before it: the log was damaged or edited."""


class Draft:
    """An event that a rule returned and that the engine has not numbered yet."""

    __slots__ = ("body", "kind", "subject")

    def __init__(self, kind: str, subject: str, /, **body: Any) -> None:
        self.kind = kind
        self.subject = subject
        self.body = body


_FINDING = (
    "key", "kind", "agents", "files", "symbol", "old", "new", "detail", "confidence", "interrupts", "task",
)  # fmt: skip

# kind -> (what it says, its fields)
KINDS: dict[str, tuple[str, tuple[str, ...]]] = {
    "EpochBegan": ("the store's clock restarted or it was restored; positions jump ahead", ("boot",)),
    "AgentJoined": (
        "an agent or person was seen for the first time, or its next incarnation began",
        ("kind", "client", "tree", "session", "bond", "incarnation"),
    ),
    "AgentLeft": ("an agent ended its session or was found dead", ("why",)),
    "ClaimGranted": (
        "an agent holds a resource; the event's position is the fence",
        ("resource", "node", "mode", "tree", "note", "task", "ttl_ms", "bond", "until_ns"),
    ),
    "ClaimNoted": ("a claim's announcement changed", ("resource", "note")),
    "ClaimReleased": ("its holder released a resource, or left", ("agent", "resource", "why")),
    "ClaimExpired": ("a lease ran out, and a later decision noticed it", ("agent", "resource")),
    "ClaimTakenOver": ("a person took a claim away from its holder", ("agent", "resource")),
    "WaitBegan": (
        "an agent waits in line; the event's position is its ticket",
        ("resources", "mode", "tree", "note", "task", "ttl_ms", "bond", "until_ns"),
    ),
    "WaitEnded": ("a ticket was served, given up or found dead", ("ticket", "why")),
    "TaskAdded": (
        "somebody added a piece of work",
        ("id", "title", "body", "priority", "scope", "labels", "needs", "attempts_max", "after", "produces"),
    ),
    "TaskEdited": ("a task's text, priority, scope, labels, needs or attempts changed", ("id", "changes")),
    "TaskLinked": ("a task waits for another, or no longer does", ("id", "after", "linked")),
    "TaskTaken": ("an agent began to work on a task", ("id", "agent", "attempt", "ttl_ms", "until_ns")),
    "TaskNoted": ("somebody wrote a status update for a task", ("id", "text")),
    "TaskReturned": ("a task is open again", ("id", "why")),
    "TaskPutBack": ("a task is open again, and the attempt does not count", ("id", "why")),
    "TaskHandedOver": ("a branch with the work is ready to land", ("id", "branch")),
    "TaskMerged": ("the work is on main", ("id",)),
    "TaskAccepted": ("a task without a branch is done", ("id", "result")),
    "TaskFailed": ("a task ended without success", ("id", "reason")),
    "TaskCancelled": ("a task is no longer wanted", ("id", "reason")),
    "TaskSame": ("a task is the same work as another and ended in its favour", ("id", "same_as")),
    "TaskReopened": ("a failed or cancelled task is wanted after all", ("id",)),
    "WorktreeMade": (
        "an agent has a worktree and a branch of its own; `origin` says who made it",
        ("name", "path", "branch", "base", "agent", "task", "origin", "port_first", "port_count"),
    ),
    "WorktreeRemoved": ("a worktree is gone, and its ports are free", ("name", "why")),
    "RunStarted": (
        "the supervisor started a client on a task; the event's position is the run's id",
        ("agent", "task", "attempt", "client", "model", "tree", "branch", "base", "bond", "token_hash"),
    ),
    "RunNamed": ("the client reported its session and its model", ("id", "session", "model")),
    "RunPaused": ("a run is paused until it is resumed", ("id", "why")),
    "RunResumed": ("a paused run continues", ("id",)),
    "RunAsked": ("somebody asked for a run to stop, pause or resume", ("id", "what")),
    "RunEnded": (
        "a run is over; numbers that the client did not report are -1",
        ("id", "how", "reason", "exit_code", "tokens_in", "tokens_out", "cost_micros", "snapshot"),
    ),
    "TokenIssued": (
        "a person made a token for a name; its secret is not in the log, and cannot be found from its hash",
        ("id", "name", "kind", "hash", "note", "expires_ns"),
    ),
    "TokenRevoked": ("a person ended a token", ("id",)),
    "CandidateSubmitted": (
        "a branch wants to land; `after` are candidates that must land before it",
        ("id", "branch", "tip", "base", "agent", "task", "attempt", "priority", "after"),
    ),
    "CandidateRenewed": ("a waiting branch has new commits, and needs its approval again", ("id", "tip")),
    "CandidateReviewed": ("somebody reviewed a candidate's commit", ("id", "tip", "verdict", "note")),
    "CandidateHeld": ("a candidate is held until it is freed", ("id", "why")),
    "CandidateFreed": ("a held, stopped or delayed candidate is tried again", ("id",)),
    "CandidateDelayed": ("a candidate waits for claims that end by themselves", ("id", "why", "files")),
    "CandidateStopped": ("a candidate needs a person before it can continue", ("id", "why", "files")),
    "CandidateLanded": ("a candidate is on main", ("id", "commit", "how")),
    "CandidateSentBack": (
        "a candidate conflicts or fails; `others` are the candidates it fails with",
        ("id", "kind", "why", "files", "others", "output"),
    ),
    "CandidateDropped": ("a candidate is no longer wanted; its branch stays", ("id", "why")),
    "QueueOrdered": ("a person put candidates first, in this order", ("ids",)),
    "AttemptRefused": (
        "an agent tried what it may not decide; nothing came of it",
        ("code", "what"),
    ),
    "QueuePaused": ("nothing lands until the queue is resumed", ("why",)),
    "QueueResumed": ("the queue runs again", ()),
    "LandingBegan": (
        "main is about to move; the event's position is the landing's id",
        ("old", "new", "ids", "commits", "hows"),
    ),
    "LandingEnded": ("a landing took place, or did not", ("id", "moved")),
    "CheckEnded": (
        "a check ran on a tree; `flaky` says that it failed first and then passed",
        ("key", "tree", "command", "green", "flaky", "took_ms", "ids"),
    ),
    "PhaseBegan": ("everybody now works in another phase", ("phase", "note")),
    "ValuePut": ("a value has a new version", ("key", "version", "base", "json")),
    "ValueDeleted": ("a value is gone; its version keeps counting", ("key", "version", "base")),
    "CopyMade": ("an agent made an isolated copy of a value", ("copy", "key", "base_version", "base_json")),
    "CopyChanged": ("a value inside a copy changed", ("copy", "key", "json", "deleted")),
    "CopyEnded": ("a copy was merged back or dropped", ("copy", "why")),
    "ProposalMade": (
        "an agent proposed a change to the owner of a resource",
        ("resource", "base_version", "payload", "note"),
    ),
    "ProposalDecided": ("a proposal was accepted, rejected or superseded", ("id", "state", "reason")),
    "MessageSent": ("somebody wrote to an agent, a topic or everyone", ("audience", "urgent", "text")),
    "MessagesRead": ("a reader received these messages", ("cursor", "ids")),
    "TopicJoined": ("a reader listens to a topic", ("topic",)),
    "TopicLeft": ("a reader no longer listens to a topic", ("topic",)),
    "FindingMade": (
        "the radar found that two sides do not fit; the event's position is the finding's id",
        _FINDING,
    ),
    "FindingChanged": (
        "a finding looks different now; with `again`, those who were told before are told again",
        ("id", *_FINDING, "again"),
    ),
    "FindingEnded": ("a finding no longer holds, or is muted", ("id", "why")),
    "FindingsTold": ("an agent was told of these findings", ("ids",)),
    "FindingMuted": (
        "a kind of finding is silenced below a path, or no longer is",
        ("kind", "path", "muted"),
    ),
}
