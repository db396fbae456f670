"""What each event does to the tables: the one projection that the engines and the audit share.

A fold reads and writes through the small `Ledger` port and decides nothing: all decisions are already
in the event.
"""

from __future__ import annotations

from lineclear.core.log.events import BrokenLog
from lineclear.core.log.fold_queue import QUEUE_FOLDS
from lineclear.core.log.fold_radar import RADAR_FOLDS
from lineclear.core.log.tables import (
    AGENT,
    CLAIM,
    COPY,
    FENCE,
    MESSAGE,
    PROPOSAL,
    READ,
    READER,
    RUN,
    TASK,
    TASK_DEP,
    TOKEN,
    VALUE,
    WAIT,
    WORKTREE,
    Agent,
    Claim,
    Copy,
    Fence,
    Message,
    MessageReader,
    Proposal,
    Read,
    Run,
    Task,
    TaskDep,
    Token,
    Value,
    Wait,
    Worktree,
    join_names,
    split_names,
)  # fmt: skip
from lineclear.core.runs.states import ENDED as ENDED_RUN
from lineclear.core.runs.states import PAUSED, RUNNING
from lineclear.core.tasks.states import FINISHED, MOVES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any, Protocol, TypeVar

    from lineclear.core.log.events import Event
    from lineclear.core.log.tables import Table, TableRow

    R = TypeVar("R", bound=TableRow)
    Key = tuple[int | str, ...]

    class Ledger(Protocol):
        """The rows as the running transaction sees them."""

        def get(self, table: Table[R], key: Key, /) -> R | None: ...
        def pick(self, table: Table[R], index: str, values: Iterable[int | str], /) -> list[R]: ...
        def put(self, table: Table[R], row: R, /) -> None: ...
        def delete(self, table: Table[R], key: Key, /) -> None: ...

    Fold = Callable[[Ledger, Event], None]


def fold(ledger: Ledger, event: Event) -> None:
    known = FOLDS.get(event.kind)
    if known is None:
        raise BrokenLog(f"event {event.position} has the unknown kind {event.kind}")
    known(ledger, event)


def _ignore(_ledger: Ledger, _event: Event) -> None:
    """For events that are only history (notes, epochs)."""


# -- agents -----------------------------------------------------------------------------------


def _agent_joined(ledger: Ledger, event: Event) -> None:
    b = event.body
    ledger.put(
        AGENT,
        Agent(
            event.actor, b["kind"], b["client"], b["tree"], b["session"], "here", b["incarnation"], b["bond"],
            event.position,
        ),
    )  # fmt: skip
    if ledger.get(READER, (event.actor,)) is None:
        # A newcomer gets no old announcements, only messages that were addressed to it.
        ledger.put(READER, MessageReader(event.actor, 0, event.position, ""))


def _agent_left(ledger: Ledger, event: Event) -> None:
    agent = ledger.get(AGENT, (event.subject.removeprefix("agent:"),))
    if agent is not None:
        ledger.put(AGENT, agent.changed(state="gone", session="", bond=""))


# -- claims -----------------------------------------------------------------------------------


def granted_claim(event: Event) -> Claim:
    b = event.body
    return Claim(
        event.actor, b["resource"], b["node"], b["mode"], event.position, b["tree"], b["note"], b["task"],
        b["ttl_ms"], b["bond"], b["until_ns"],
    )  # fmt: skip


def _claim_granted(ledger: Ledger, event: Event) -> None:
    claim = granted_claim(event)
    ledger.put(CLAIM, claim)
    if claim.mode == "exclusive":
        ledger.put(FENCE, Fence(claim.node, claim.resource, claim.fence, claim.agent))


def _claim_noted(ledger: Ledger, event: Event) -> None:
    claim = ledger.get(CLAIM, (event.actor, event.body["resource"]))
    if claim is None:
        raise BrokenLog(f"event {event.position} notes a claim that is not held")
    ledger.put(CLAIM, claim.changed(note=event.body["note"]))


def _claim_ended(ledger: Ledger, event: Event) -> None:
    ledger.delete(CLAIM, (event.body["agent"], event.body["resource"]))


def _wait_began(ledger: Ledger, event: Event) -> None:
    b = event.body
    ledger.put(
        WAIT,
        Wait(
            event.position, event.actor, b["resources"], b["mode"], b["tree"], b["note"], b["task"],
            b["ttl_ms"], b["bond"], b["until_ns"],
        ),
    )  # fmt: skip


def _wait_ended(ledger: Ledger, event: Event) -> None:
    ledger.delete(WAIT, (event.body["ticket"],))


# -- tasks ------------------------------------------------------------------------------------


def _task_added(ledger: Ledger, event: Event) -> None:
    b = event.body
    unmet = 0
    for dep in b["after"]:
        ledger.put(TASK_DEP, TaskDep(b["id"], dep))
        unmet += _is_unmet(ledger, dep)
    ledger.put(
        TASK,
        Task(
            b["id"], b["title"], b["body"], "open", b["priority"], unmet, b["scope"], b["labels"], b["needs"],
            "", 0, b["attempts_max"], "", "", 0, event.position, 0, 0, b.get("produces", ""),
        ),
    )  # fmt: skip


def _task(ledger: Ledger, event: Event) -> Task:
    task = ledger.get(TASK, (event.body["id"],))
    if task is None:
        raise BrokenLog(f"event {event.position} is about a task that was never added")
    return task


def _is_unmet(ledger: Ledger, task_id: int) -> bool:
    dep = ledger.get(TASK, (task_id,))
    return dep is None or dep.state not in FINISHED


def _task_edited(ledger: Ledger, event: Event) -> None:
    ledger.put(TASK, _task(ledger, event).changed(**event.body["changes"]))


def _task_linked(ledger: Ledger, event: Event) -> None:
    task, dep = _task(ledger, event), event.body["after"]
    step = int(_is_unmet(ledger, dep))
    if event.body["linked"]:
        ledger.put(TASK_DEP, TaskDep(task.id, dep))
        ledger.put(TASK, task.changed(unmet=task.unmet + step))
    else:
        ledger.delete(TASK_DEP, (task.id, dep))
        ledger.put(TASK, task.changed(unmet=task.unmet - step))


def _task_moved(ledger: Ledger, event: Event) -> None:
    """Moves a task to its next state; tasks/states.py has the table of legal moves."""
    task, b = _task(ledger, event), event.body
    state = MOVES.get((task.state, event.kind))
    if state is None:
        raise BrokenLog(f"event {event.position}: {event.kind} cannot follow {task.state}")
    columns: dict[str, Any] = {"state": state}
    if event.kind == "TaskTaken":
        columns |= {"agent": b["agent"], "attempt": b["attempt"], "reason": ""}
        columns |= {"ttl_ms": b["ttl_ms"], "until_ns": b["until_ns"]}
    elif event.kind == "TaskReopened":
        columns |= {"agent": "", "attempt": 0, "reason": "", "same_as": 0, "branch": ""}
    else:
        columns["reason"] = b.get("reason") or b.get("why") or b.get("result") or ""
    if event.kind in ("TaskReturned", "TaskPutBack"):
        columns["agent"] = ""
    if event.kind == "TaskPutBack":
        columns["attempt"] = task.attempt - 1
    columns |= {name: b[name] for name in ("branch", "same_as") if name in b}
    ledger.put(TASK, task.changed(**columns))
    if state in FINISHED:
        _meet_dependents(ledger, task.id)
    if event.kind == "TaskSame":
        _rewire_dependents(ledger, task.id, b["same_as"])


def _meet_dependents(ledger: Ledger, task_id: int) -> None:
    for link in ledger.pick(TASK_DEP, "dep", (task_id,)):
        dependent = ledger.get(TASK, (link.task,))
        if dependent is not None:
            ledger.put(TASK, dependent.changed(unmet=dependent.unmet - 1))


def _rewire_dependents(ledger: Ledger, task_id: int, same_as: int) -> None:
    """Tasks that waited for the duplicate now wait for the task that does the work."""
    for link in ledger.pick(TASK_DEP, "dep", (task_id,)):
        dependent = ledger.get(TASK, (link.task,))
        ledger.delete(TASK_DEP, (link.task, task_id))
        if dependent is None:
            continue
        has_it = ledger.get(TASK_DEP, (link.task, same_as)) is not None
        ledger.put(TASK_DEP, TaskDep(link.task, same_as))
        gained = 0 if has_it else int(_is_unmet(ledger, same_as))
        ledger.put(TASK, dependent.changed(unmet=dependent.unmet - 1 + gained))


# -- worktrees and runs -----------------------------------------------------------------------


def _worktree_made(ledger: Ledger, event: Event) -> None:
    b = event.body
    ledger.put(
        WORKTREE,
        Worktree(
            b["name"], b["path"], b["branch"], b["base"], b["agent"], b["task"], b["origin"],
            b["port_first"], b["port_count"], event.position,
        ),
    )  # fmt: skip


def _worktree_removed(ledger: Ledger, event: Event) -> None:
    ledger.delete(WORKTREE, (event.body["name"],))


def _run_started(ledger: Ledger, event: Event) -> None:
    b = event.body
    ledger.put(
        RUN,
        Run(
            event.position, b["agent"], b["task"], b["attempt"], b["client"], b["model"], b["tree"],
            b["branch"], b["base"], b["bond"], b["token_hash"], "", RUNNING, "", "", "", -1, -1, -1, -1, "",
            event.at_ns, 0,
        ),
    )  # fmt: skip


def _run(ledger: Ledger, event: Event) -> Run:
    run = ledger.get(RUN, (event.body["id"],))
    if run is None:
        raise BrokenLog(f"event {event.position} is about a run that never started")
    if run.state == ENDED_RUN:
        raise BrokenLog(f"event {event.position} is about a run that had ended")
    return run


def _run_named(ledger: Ledger, event: Event) -> None:
    run, b = _run(ledger, event), event.body
    ledger.put(RUN, run.changed(session=b["session"], model=b["model"] or run.model))


def _run_asked(ledger: Ledger, event: Event) -> None:
    ledger.put(RUN, _run(ledger, event).changed(asked=event.body["what"]))


def _run_paused(ledger: Ledger, event: Event) -> None:
    ledger.put(RUN, _run(ledger, event).changed(state=PAUSED, asked=""))


def _run_resumed(ledger: Ledger, event: Event) -> None:
    ledger.put(RUN, _run(ledger, event).changed(state=RUNNING, asked=""))


def _run_ended(ledger: Ledger, event: Event) -> None:
    run, b = _run(ledger, event), event.body
    names = ("how", "reason", "exit_code", "tokens_in", "tokens_out", "cost_micros", "snapshot")
    result = {name: b[name] for name in names}
    ledger.put(RUN, run.changed(state=ENDED_RUN, asked="", token_hash="", ended_ns=event.at_ns, **result))


# -- tokens -----------------------------------------------------------------------------------


def _token_issued(ledger: Ledger, event: Event) -> None:
    b = event.body
    ledger.put(
        TOKEN,
        Token(
            b["id"], b["name"], b["kind"], b["hash"], b["note"], event.actor, event.position, event.at_ns,
            b["expires_ns"], "", 0,
        ),
    )  # fmt: skip


def _token_revoked(ledger: Ledger, event: Event) -> None:
    token = ledger.get(TOKEN, (event.body["id"],))
    if token is None:
        raise BrokenLog(f"event {event.position} revokes a token that was never issued")
    ledger.put(TOKEN, token.changed(revoker=event.actor, revoked_ns=event.at_ns))


# -- values and proposals ---------------------------------------------------------------------


def _value_put(ledger: Ledger, event: Event) -> None:
    b = event.body
    ledger.put(VALUE, Value(b["key"], b["version"], b["json"], 0, event.actor, event.position))


def _value_deleted(ledger: Ledger, event: Event) -> None:
    b = event.body
    ledger.put(VALUE, Value(b["key"], b["version"], "", 1, event.actor, event.position))


def _copy_made(ledger: Ledger, event: Event) -> None:
    b = event.body
    deleted = int(b["base_json"] == "")
    ledger.put(
        COPY,
        Copy(b["copy"], b["key"], event.actor, b["base_version"], b["base_json"], b["base_json"], deleted),
    )


def _copy_changed(ledger: Ledger, event: Event) -> None:
    b = event.body
    copy = ledger.get(COPY, (b["copy"], b["key"]))
    if copy is None:
        raise BrokenLog(f"event {event.position} changes a copy that was never made")
    ledger.put(COPY, copy.changed(json=b["json"], deleted=b["deleted"]))


def _copy_ended(ledger: Ledger, event: Event) -> None:
    for copy in ledger.pick(COPY, "key", (event.body["copy"],)):
        ledger.delete(COPY, (copy.copy, copy.key))


def _proposal_made(ledger: Ledger, event: Event) -> None:
    b = event.body
    ledger.put(
        PROPOSAL,
        Proposal(
            event.position,
            b["resource"],
            event.actor,
            b["base_version"],
            b["payload"],
            b["note"],
            "open",
            "",
            "",
        ),
    )


def _proposal_decided(ledger: Ledger, event: Event) -> None:
    b = event.body
    proposal = ledger.get(PROPOSAL, (b["id"],))
    if proposal is None:
        raise BrokenLog(f"event {event.position} decides a proposal that was never made")
    ledger.put(PROPOSAL, proposal.changed(state=b["state"], decided_by=event.actor, reason=b["reason"]))


# -- messages ---------------------------------------------------------------------------------


def _message_sent(ledger: Ledger, event: Event) -> None:
    b = event.body
    ledger.put(MESSAGE, Message(event.position, event.actor, b["audience"], b["urgent"], b["text"]))


def _reader(ledger: Ledger, event: Event) -> MessageReader:
    return ledger.get(READER, (event.actor,)) or MessageReader(event.actor, 0, 0, "")


def _messages_read(ledger: Ledger, event: Event) -> None:
    b = event.body
    ledger.put(READER, _reader(ledger, event).changed(cursor=b["cursor"]))
    for mark in ledger.pick(READ, "key", (event.actor,)):
        if mark.message <= b["cursor"]:
            ledger.delete(READ, (event.actor, mark.message))
    for message in b["ids"]:
        if message > b["cursor"]:
            ledger.put(READ, Read(event.actor, message))


def _topic_joined(ledger: Ledger, event: Event) -> None:
    reader = _reader(ledger, event)
    topics = split_names(reader.topics)
    if event.body["topic"] not in topics:
        topics.append(event.body["topic"])
    ledger.put(READER, reader.changed(topics=join_names(topics)))


def _topic_left(ledger: Ledger, event: Event) -> None:
    reader = _reader(ledger, event)
    kept = [topic for topic in split_names(reader.topics) if topic != event.body["topic"]]
    ledger.put(READER, reader.changed(topics=join_names(kept)))


FOLDS: dict[str, Fold] = {
    "EpochBegan": _ignore,
    "AttemptRefused": _ignore,
    "AgentJoined": _agent_joined,
    "AgentLeft": _agent_left,
    "ClaimGranted": _claim_granted,
    "ClaimNoted": _claim_noted,
    "ClaimReleased": _claim_ended,
    "ClaimExpired": _claim_ended,
    "ClaimTakenOver": _claim_ended,
    "WaitBegan": _wait_began,
    "WaitEnded": _wait_ended,
    "TaskAdded": _task_added,
    "TaskEdited": _task_edited,
    "TaskLinked": _task_linked,
    "TaskNoted": _ignore,
    "TaskTaken": _task_moved,
    "TaskReturned": _task_moved,
    "TaskPutBack": _task_moved,
    "TaskHandedOver": _task_moved,
    "TaskMerged": _task_moved,
    "TaskAccepted": _task_moved,
    "TaskFailed": _task_moved,
    "TaskCancelled": _task_moved,
    "TaskSame": _task_moved,
    "TaskReopened": _task_moved,
    "WorktreeMade": _worktree_made,
    "WorktreeRemoved": _worktree_removed,
    "RunStarted": _run_started,
    "RunNamed": _run_named,
    "RunPaused": _run_paused,
    "RunResumed": _run_resumed,
    "RunAsked": _run_asked,
    "RunEnded": _run_ended,
    "TokenIssued": _token_issued,
    "TokenRevoked": _token_revoked,
    **QUEUE_FOLDS,
    "ValuePut": _value_put,
    "ValueDeleted": _value_deleted,
    "CopyMade": _copy_made,
    "CopyChanged": _copy_changed,
    "CopyEnded": _copy_ended,
    "ProposalMade": _proposal_made,
    "ProposalDecided": _proposal_decided,
    "MessageSent": _message_sent,
    "MessagesRead": _messages_read,
    "TopicJoined": _topic_joined,
    "TopicLeft": _topic_left,
    **RADAR_FOLDS,
}
