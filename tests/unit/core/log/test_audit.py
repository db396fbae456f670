"""Audit: a true log has no finding; every kind of doctored log or table is found, at its position."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from lineclear.app import claims, messages, proposals, task_lists, tasks, values
from lineclear.app.agents import membership, tokens
from lineclear.app.agents.attempts import log_attempts
from lineclear.app.ports import Caller
from lineclear.app.queue import candidates
from lineclear.app.queue.sending_back import send_back
from lineclear.app.radar import findings
from lineclear.app.radar.telling import mark_told
from lineclear.app.runs import records
from lineclear.core.log.audit import MOST_FINDINGS, Auditor, lost_update
from lineclear.core.log.codec import event_of
from lineclear.core.log.events import KINDS, Draft, Event
from lineclear.core.log.fold import FOLDS
from lineclear.core.log.tables import CLAIM, FINDING, LOG, PROJECTED, TASK, VALUE, Claim, Table, TableRow
from lineclear.core.radar.findings import Finding
from lineclear.core.tasks.lists import TaskDraft
from tests.world import MINUTE_MS, World, resource

if TYPE_CHECKING:
    from lineclear.app.ports import Tx, View

ANN, BOB, PAT = Caller("ann"), Caller("bob"), Caller("pat", is_person=True)


def eventful_world() -> World:
    """A world in which every kind of event has happened, but for the restart of a clock."""
    world = World()
    store = world.store
    world.ask("ann", "src/", mode="intent", tree="w1")
    world.ask("bob", "src/a.py", tree="w2")
    world.ask("bob", "src/a.py", tree="w2", note="again")
    world.stand_in_line("ann", "src/a.py", tree="w1")
    membership.leave(store, ANN, "ann", "done")
    world.release("bob", "src/a.py")
    world.ask("bob", "row:users/1", ttl_ms=MINUTE_MS)
    world.clock.advance(MINUTE_MS)
    world.ask("cat", "row:users")
    claims.take_over(store, world.liveness, PAT, world.request("pat", "row:users/2"))
    task_lists.import_all(
        store, PAT, [TaskDraft(str(n), f"task {n}", after=["2"] if n == 1 else []) for n in range(1, 8)]
    )
    tasks.edit(store, PAT, 3, {"priority": 1})
    for number in (2, 4, 5, 6, 7):
        tasks.take(store, world.liveness, BOB, number=number)
    tasks.note(store, BOB, 2, "soon")
    tasks.finish(store, BOB, 2)
    tasks.finish(store, BOB, 4, branch="bob/4")
    tasks.finish(store, PAT, 4)
    tasks.fail(store, BOB, 5, "no")
    tasks.fail(store, PAT, 6, "no")
    tasks.reopen(store, PAT, 6, "")
    tasks.cancel(store, PAT, 7, "no")
    tasks.mark_same(store, PAT, 6, 5)
    values.put(store, world.liveness, BOB, [], "plan", "1")
    values.put(store, world.liveness, BOB, [], "plan", "2")
    values.fork(store, BOB, "draft", ["plan"])
    values.put(store, world.liveness, BOB, [], "plan", "3", copy="draft")
    values.merge(store, world.liveness, BOB, [], "draft")
    values.put(store, world.liveness, BOB, [], "other", "1")
    values.delete(store, world.liveness, BOB, [], "other")
    values.fork(store, BOB, "second", ["plan"])
    number = proposals.propose(store, BOB, [], resource("value:plan"), "4")["proposal"]["id"]
    proposals.accept(store, world.liveness, PAT, [], number)
    messages.say(store, BOB, "hello", to="cat")
    messages.join_topic(store, Caller("cat"), "ui")
    messages.leave_topic(store, Caller("cat"), "ui")
    unread = store.read(lambda view: messages.inbox(view, "cat"))["messages"]
    messages.mark_read(store, Caller("cat"), [message["id"] for message in unread])
    messages.say(store, BOB, "later", to="cat")
    urgent = messages.say(store, BOB, "now", to="cat", urgent=True)["id"]
    messages.mark_read(store, Caller("cat"), [urgent])
    run_a_client(world)
    run_a_queue(world)
    look_around(world)
    for id in ("a", "b"):
        tokens.issue(store, PAT, "bob", id=id, secret_hash="c0ffee")
    tokens.revoke(store, PAT, "a")
    log_attempts(store, BOB, [("person.only", "trust")])
    world.stand_in_line("bob", "row:users/2")
    return world


def look_around(world: World) -> None:
    store = world.store
    first = Finding(kind="signature", agents=("ann", "bob"), files=("a.py",), symbol="f", new="f(a)")
    second = Finding(kind="removed", agents=("main", "bob"), files=("b.py",), symbol="g")
    for new in ("f(a)", "f(a, b)"):
        findings.record(store, PAT, [replace(first, new=new), second])
        untold = store.read(lambda view: view.scan(FINDING, "key"))
        mark_told(store, BOB, [row.id for row in untold])
    findings.mute(store, PAT, "removed", "b.py")
    findings.mute(store, PAT, "removed", "c.py")
    findings.mute(store, PAT, "removed", "c.py", muted=False)


def run_a_queue(world: World) -> None:
    store = world.store
    for name in ("a", "b", "c", "d"):
        candidates.submit(store, BOB, candidates.SubmittedBranch(name, f"{name}1", "c0ffee"), agent="bob")
    candidates.submit(store, BOB, candidates.SubmittedBranch("a", "a2", "c0ffee"), agent="bob")
    candidates.review(store, PAT, 1, is_good=True)
    candidates.hold(store, BOB, 2, "not yet")
    candidates.retry(store, BOB, 2)
    candidates.drop(store, BOB, 4, "no")
    candidates.move(store, PAT, 3, before=1)
    candidates.pause(store, PAT, "lunch")
    candidates.resume(store, PAT)

    def land(tx: Tx) -> None:
        checked = {"key": "k", "tree": "t", "command": "make", "green": True, "flaky": False, "took_ms": 5}
        tx.append(Draft("CheckEnded", "queue", **checked, ids=[1]))
        began = {"old": "m0", "new": "m1", "ids": [1], "commits": ["m1"], "hows": ["merge"]}
        landing = tx.append(Draft("LandingBegan", "queue", **began)).position
        tx.append(Draft("CandidateLanded", "Q-1", id=1, commit="m1", how="merge"))
        tx.append(Draft("LandingEnded", "queue", id=landing, moved=True))
        tx.append(Draft("LandingBegan", "queue", **began | {"ids": [2]}))
        tx.append(Draft("CandidateDelayed", "Q-2", id=2, why="waits: ada holds it", files=["a.py"]))
        tx.append(Draft("CandidateStopped", "Q-2", id=2, why="in the way", files=["a.py"]))
        send_back(tx, candidates.known(tx, 3), "conflict", "it does not fit")
        tx.append(Draft("PhaseBegan", "phase", phase="integrate", note=""))

    store.transact(PAT, land)


def run_a_client(world: World) -> None:
    store = world.store
    place: dict[str, Any] = {
        "name": "bob-1",
        "path": "/trees/bob-1",
        "branch": "b",
        "base": "c0ffee",
        "agent": "bob",
    }
    place |= {"task": 3, "origin": "made", "port_first": 42_000, "port_count": 10}
    store.transact(BOB, lambda tx: tx.append(Draft("WorktreeMade", "worktree:bob-1", **place)))
    tasks.take(store, world.liveness, BOB, number=3)
    number = records.begin(store, BOB, records.Start(3, 1, client="claude", tree="bob-1"))
    records.name(store, BOB, number, "session-1", "model-1")
    records.ask(store, PAT, "bob", records.PAUSE)
    records.pause(store, BOB, number, "asked")
    records.resume(store, BOB, number)
    records.end(store, BOB, number, records.Ending("limited", "429"))
    gone = Draft("WorktreeRemoved", "worktree:bob-1", name="bob-1", why="done")
    store.transact(BOB, lambda tx: tx.append(gone))
    store.transact(BOB, lambda tx: tx.append(Draft("WorktreeMade", "worktree:bob-1", **place)))


def events_of(world: World) -> list[Event]:
    return [event_of(entry) for entry in world.store.read(lambda view: view.scan(LOG, "key"))]


def rows_of(world: World) -> dict[str, list[TableRow]]:
    def work(view: View) -> dict[str, list[TableRow]]:
        return {table.name: list(view.scan(table, "key")) for table in PROJECTED}

    return world.store.read(work)


def audit(events: list[Event], rows: dict[str, list[TableRow]] | None = None) -> list[tuple[str, int]]:
    """(kind, position) of each finding."""
    auditor = Auditor()
    for event in events:
        auditor.feed(event)
    for table in PROJECTED if rows is not None else ():
        auditor.compare(table, (rows or {})[table.name])
    return [(finding.kind, finding.position) for finding in auditor.findings]


def event(position: int, kind: str, actor: str = "ann", *, seen: int = 0, **body: Any) -> Event:
    return Event(position, 0, actor, kind, "subject", seen, "", body)


def granted(
    position: int, actor: str, text: str, mode: str = "exclusive", *, tree: str = "main", **body: Any
) -> Event:
    found = resource(text)
    facts: dict[str, Any] = {"resource": found.text, "node": found.node, "mode": mode, "tree": tree}
    facts |= {"note": "", "task": 0, "ttl_ms": 1, "bond": "", "until_ns": 1, **body}
    return event(position, "ClaimGranted", actor, **facts)


def put(position: int, version: int, base: int) -> Event:
    return event(position, "ValuePut", key="plan", version=version, base=base, json="1")


# -- a true log -------------------------------------------------------------------------------


def test_a_true_log_and_its_tables_have_no_finding() -> None:
    world = eventful_world()
    assert audit(events_of(world), rows_of(world)) == []
    assert world.findings() == []


def test_the_true_log_of_this_test_has_every_kind_of_event() -> None:
    assert {kind for kind, _ in eventful_world().events()} == set(KINDS)


def test_every_kind_has_a_fold_and_every_event_its_declared_fields() -> None:
    assert set(FOLDS) == set(KINDS)
    for kind, body in eventful_world().events():
        assert set(body) == set(KINDS[kind][1]), kind


def test_quiet_columns_are_not_compared() -> None:
    world = eventful_world()
    rows = rows_of(world)
    rows["claim"] = [row.changed(until_ns=7, ttl_ms=7) for row in rows["claim"]]
    assert audit(events_of(world), rows) == []


# -- two holders ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (granted(1, "ann", "src/"), granted(2, "bob", "src/a.py")),
        (granted(1, "ann", "src/a.py"), granted(2, "bob", "**/*.py")),
        (granted(1, "ann", "src/a.py"), granted(2, "bob", "src/a.py", "intent", tree="w2")),
        (granted(1, "ann", "src/a.py", "shared"), granted(2, "bob", "src/a.py", tree="w2")),
        (granted(1, "ann", "row:1", "intent"), granted(2, "bob", "row:1", tree="w2")),
        (granted(1, "ann/one", "a"), granted(2, "ann/two", "a")),
    ],
)
def test_two_holders_of_one_thing_are_found(first: Event, second: Event) -> None:
    assert audit([first, second]) == [("two holders", 2)]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (granted(1, "ann", "src/"), granted(2, "bob", "docs/")),
        (granted(1, "ann", "src/", "intent"), granted(2, "bob", "src/", tree="w2")),
        (granted(1, "ann", "src/", "shared"), granted(2, "bob", "src/", "intent")),
        (granted(1, "ann", "src/"), granted(2, "ann/one", "src/a.py")),
    ],
)
def test_claims_that_go_together_are_not_found(first: Event, second: Event) -> None:
    assert audit([first, second]) == []


@pytest.mark.parametrize("kind", ["ClaimReleased", "ClaimExpired", "ClaimTakenOver"])
def test_the_end_of_a_claim_must_have_a_claim(kind: str) -> None:
    end = event(2, kind, agent="ann", resource="file:a", why="")
    assert audit([granted(1, "ann", "a"), end]) == []
    assert audit([granted(1, "ann", "b"), end]) == [("claim", 2)]
    assert audit([granted(1, "ann", "a"), end, event(3, kind, agent="ann", resource="file:a", why="")]) == [
        ("claim", 3)
    ]


def test_a_fence_that_is_not_higher_is_found() -> None:
    found = audit([granted(5, "ann", "a", "intent"), granted(4, "bob", "a", tree="w2")])
    assert found == [("order", 4), ("fence", 4)]


# -- lost updates -----------------------------------------------------------------------------


def test_a_write_that_was_based_on_an_old_version_is_found() -> None:
    assert audit([put(1, 1, 0), put(2, 2, 1), put(3, 3, 2)]) == []
    assert audit([put(1, 1, 0), put(2, 2, 1), put(3, 3, 1)]) == [("lost update", 3)]
    deleted = event(3, "ValueDeleted", key="plan", version=3, base=1)
    assert audit([put(1, 1, 0), put(2, 2, 1), deleted]) == [("lost update", 3)]


def test_a_version_that_was_skipped_or_given_twice_is_found() -> None:
    assert audit([put(1, 1, 0), put(2, 3, 1)]) == [("version", 2)]
    assert audit([put(1, 1, 0), put(2, 1, 1)]) == [("version", 2)]


def test_a_lost_update_is_described() -> None:
    assert lost_update(3, 3) == ""
    assert lost_update(1, 3) == "based on version 1 when 3 was current"


# -- order ------------------------------------------------------------------------------------


def noted(position: int, actor: str = "ann", seen: int = 0) -> Event:
    return event(position, "TaskNoted", actor, seen=seen, id=1, text="")


def test_positions_must_grow() -> None:
    assert audit([noted(1), noted(2), noted(100_000)]) == []
    assert audit([noted(2), noted(1)]) == [("order", 1)]
    assert audit([noted(1), noted(1)]) == [("order", 1)]


def test_nobody_has_seen_the_future() -> None:
    assert audit([noted(1), noted(2, seen=1)]) == []
    assert audit([noted(1), noted(2, seen=2)]) == [("order", 2)]


# -- events that cannot be --------------------------------------------------------------------


def test_an_unknown_kind_is_found() -> None:
    assert audit([event(1, "ClaimDreamt")]) == [("broken event", 1)]


def test_an_illegal_move_of_a_task_is_found_and_the_rest_is_still_checked() -> None:
    added = event(
        1,
        "TaskAdded",
        id=1,
        title="t",
        body="",
        priority=5,
        scope="",
        labels="",
        needs="",
        attempts_max=3,
        after=[],
    )
    merged = event(2, "TaskMerged", id=1)
    assert audit([added, merged, put(3, 2, 0)]) == [("broken event", 2), ("version", 3)]


@pytest.mark.parametrize(
    "broken",
    [
        event(1, "TaskMerged", id=7),
        event(1, "TaskMerged"),
        event(1, "ClaimNoted", resource="file:a", note="x"),
        event(1, "CopyChanged", copy="c", key="k", json="", deleted=0),
        event(1, "ProposalDecided", id=1, state="accepted", reason=""),
        event(1, "ClaimGranted"),
        event(1, "ClaimReleased"),
        event(1, "ValuePut"),
        event(1, "ValuePut", key="plan", version="two", base="one"),
        granted(1, "ann", "a", resource="file:../a"),
        granted(1, "ann", "a", resource=7),
    ],
)
def test_an_event_that_cannot_follow_is_a_finding_and_not_a_crash(broken: Event) -> None:
    assert ("broken event", 1) in audit([broken])


# -- tables -----------------------------------------------------------------------------------

CHANGED: list[tuple[Table[Any], str, int | str]] = [
    (CLAIM, "mode", "shared"),
    (CLAIM, "fence", 99_999),
    (TASK, "state", "merged"),
    (TASK, "unmet", 7),
    (VALUE, "json", '"forged"'),
    (VALUE, "version", 99),
]


@pytest.mark.parametrize(("table", "column", "value"), CHANGED)
def test_a_changed_row_is_found(table: Table[Any], column: str, value: int | str) -> None:
    world = eventful_world()
    rows = rows_of(world)
    rows[table.name][0] = rows[table.name][0].changed(**{column: value})
    assert audit(events_of(world), rows) == [("table differs", 0)]


@pytest.mark.parametrize("table", PROJECTED, ids=lambda table: table.name)
def test_a_missing_row_is_found(table: Table[Any]) -> None:
    world = eventful_world()
    rows = rows_of(world)
    del rows[table.name][0]
    assert audit(events_of(world), rows) == [("table differs", 0)]


def test_a_row_that_no_event_explains_is_found() -> None:
    world = eventful_world()
    rows = rows_of(world)
    rows["claim"].append(Claim("eve", "file:a", "file:/a", "exclusive", 1, "main", "", 0, 1, "", 1))
    auditor = Auditor()
    for event in events_of(world):
        auditor.feed(event)
    auditor.compare(CLAIM, rows["claim"])
    (finding,) = auditor.findings
    assert finding.text == "claim ('eve', 'file:a') is in the table, not in the log"


def test_an_event_that_is_missing_from_the_log_shows_in_the_tables() -> None:
    world = eventful_world()
    events = [event for event in events_of(world) if event.kind != "MessagesRead"]
    assert ("table differs", 0) in audit(events, rows_of(world))


def test_findings_are_bounded_and_the_rest_is_counted() -> None:
    auditor = Auditor()
    for position in range(1, MOST_FINDINGS + 11):
        auditor.feed(event(position, "ClaimDreamt"))
    assert (len(auditor.findings), auditor.missed, auditor.count) == (MOST_FINDINGS, 10, MOST_FINDINGS + 10)


def test_a_finding_that_is_made_twice_or_was_never_made_is_found() -> None:
    body: dict[str, Any] = {
        "key": "k",
        "kind": "removed",
        "agents": ["ann"],
        "files": ["a.py"],
        "symbol": "f",
        "old": "",
    }
    body |= {"new": "", "detail": "", "confidence": "sure", "interrupts": 1, "task": 0}
    made = [Event(position, 0, "ann", "FindingMade", "subject", 0, "", body) for position in (1, 2)]
    assert audit(made) == [("finding", 2)]
    assert audit([event(1, "FindingEnded", id=7, why="")]) == [("broken event", 1)]
