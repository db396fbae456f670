"""Findings as shared state: made once, changed, ended, muted; told once to each agent."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from lineclear.app import tasks
from lineclear.app.ports import Caller
from lineclear.app.radar.findings import between, mute, mutes, open_findings, record, show
from lineclear.app.radar.telling import findings_for, mark_told
from lineclear.core.log.events import Draft
from lineclear.core.radar.findings import Finding
from lineclear.core.radar.recording import MOST_OPEN
from lineclear.core.tasks.lists import TaskDraft
from tests.world import World, refused

PAT, BEN = Caller("pat", is_person=True), Caller("ben")
SIGNATURE = Finding(
    kind="signature", agents=("ada", "ben"), files=("shop/cart.py", "shop/report.py"), symbol="total",
    old="total(items)", new="total(items, currency)", detail="it passes 1 argument", interrupts=True,
)  # fmt: skip
SAME = Finding(kind="same-symbol", agents=("ada", "cleo"), files=("shop/cart.py",), symbol="Cart.add")


def ids_for(world: World, name: str) -> list[int]:
    return [row.id for row in world.store.read(lambda view: findings_for(view, name))]


def kinds_of(world: World) -> list[str]:
    return [kind for kind, _ in world.events() if kind.startswith("Finding")]


def test_what_a_pass_finds_is_open_until_a_pass_no_longer_finds_it() -> None:
    world = World()
    made, changed, ended = record(world.store, PAT, [SIGNATURE, SAME])
    assert (len(made), changed, ended) == (2, [], [])
    assert [row.id for row in world.store.read(open_findings)] == made
    assert record(world.store, PAT, [SAME]) == ([], [], made[:1])
    assert [row.kind for row in world.store.read(open_findings)] == ["same-symbol"]
    assert world.findings() == []


def test_a_pass_that_finds_the_same_writes_nothing() -> None:
    world = World()
    record(world.store, PAT, [SIGNATURE])
    before = world.events()
    assert record(world.store, BEN, [SIGNATURE]) == ([], [], [])
    assert world.events() == before


def test_a_finding_as_data() -> None:
    world = World()
    (made,), _, _ = record(world.store, PAT, [SIGNATURE])
    shown = show(world.store.read(open_findings)[0])
    assert shown == {
        "id": f"F-{made}",
        "kind": "signature",
        "agents": ["ada", "ben"],
        "files": ["shop/cart.py", "shop/report.py"],
        "symbol": "total",
        "old": "total(items)",
        "new": "total(items, currency)",
        "detail": "it passes 1 argument",
        "confidence": "sure",
        "interrupts": True,
        "task": "",
        "since": "2026-01-01T12:00:00Z",
        "next": "lineclear diff ada",
    }


def test_each_side_and_its_sub_agents_are_told_once() -> None:
    world = World()
    made, _, _ = record(world.store, PAT, [SIGNATURE])
    assert [ids_for(world, name) for name in ("ada", "ben", "ben/1", "cleo")] == [made, made, made, []]
    mark_told(world.store, BEN, made)
    assert [ids_for(world, name) for name in ("ada", "ben", "ben/1")] == [made, [], made]
    mark_told(world.store, BEN, made)
    assert kinds_of(world) == ["FindingMade", "FindingsTold"]


def test_what_looks_different_is_told_again() -> None:
    world = World()
    made, _, _ = record(world.store, PAT, [SIGNATURE])
    mark_told(world.store, BEN, made)
    assert record(world.store, PAT, [replace(SIGNATURE, new="total(items, *, currency)")]) == ([], made, [])
    assert ids_for(world, "ben") == made


def test_what_only_moved_is_not_told_again() -> None:
    world = World()
    made, _, _ = record(world.store, PAT, [SIGNATURE])
    mark_told(world.store, BEN, made)
    moved = replace(SIGNATURE, files=("shop/cart.py", "shop/reports.py"), confidence="likely")
    assert record(world.store, PAT, [moved]) == ([], made, [])
    assert ids_for(world, "ben") == []
    assert world.store.read(open_findings)[0].files == "shop/cart.py\nshop/reports.py"
    assert world.findings() == []


def test_what_ended_before_it_was_told_is_not_told() -> None:
    world = World()
    made, _, _ = record(world.store, PAT, [SIGNATURE])
    record(world.store, PAT, [])
    assert ids_for(world, "ben") == []
    mark_told(world.store, BEN, made)
    assert kinds_of(world) == ["FindingMade", "FindingEnded"]


def test_a_pass_ends_nothing_between_sides_that_it_did_not_compare() -> None:
    world = World()
    made, _, _ = record(world.store, PAT, [SIGNATURE, SAME])
    assert record(world.store, PAT, [], lambda agents: "cleo" in agents) == ([], [], made[1:])


def test_a_finding_names_the_task_of_the_side_that_made_the_change() -> None:
    world = World()
    tasks.add(world.store, PAT, TaskDraft("1", "Currencies"))
    tasks.take(world.store, world.liveness, Caller("ada"), number=1)
    record(world.store, PAT, [SIGNATURE, replace(SIGNATURE, agents=("main", "cleo"), task=41)])
    assert [row.task for row in world.store.read(open_findings)] == [1, 41]


def test_a_worktree_without_an_agent_goes_by_its_branch() -> None:
    world = World()
    place: dict[str, Any] = {"name": "w", "path": "/w", "branch": "feature", "base": "c0ffee", "agent": ""}
    place |= {"task": 9, "origin": "made", "port_first": 0, "port_count": 0}
    world.store.transact(PAT, lambda tx: tx.append(Draft("WorktreeMade", "worktree:w", **place)))
    record(world.store, PAT, [replace(SIGNATURE, agents=("feature", "ben"))])
    assert world.store.read(open_findings)[0].task == 9


def test_what_interrupts_comes_first_and_is_kept_first() -> None:
    world = World()
    many = [replace(SAME, symbol=f"f{number}") for number in range(MOST_OPEN + 5)]
    record(world.store, PAT, [*many, SIGNATURE])
    found = world.store.read(open_findings)
    assert (len(found), found[0].kind) == (MOST_OPEN, "signature")


def test_hostile_texts_are_stored_as_one_bounded_line() -> None:
    world = World()
    nasty = "a\nb\0c\ud800" + "x" * 5_000
    found = Finding(kind="removed", agents=("ada", "ben"), files=(nasty,), symbol=nasty, detail=nasty)
    record(world.store, PAT, [found])
    assert record(world.store, PAT, [found]) == ([], [], [])
    row = world.store.read(open_findings)[0]
    assert len(row.files.split("\n")) == 1
    assert row.symbol.isprintable()
    assert len(row.symbol) <= 400


def test_those_between_named_sides() -> None:
    world = World()
    record(world.store, PAT, [SIGNATURE, SAME])
    rows = world.store.read(open_findings)
    assert len(between(rows, [])) == len(between(rows, ["ada"])) == 2
    assert [row.kind for row in between(rows, ["ada", "cleo"])] == ["same-symbol"]
    assert between(rows, ["ben", "cleo"]) == []


# -- muting -----------------------------------------------------------------------------------


def test_a_muted_kind_ends_below_its_path_and_is_not_recorded_again() -> None:
    world = World()
    (made, _), _, _ = record(world.store, PAT, [SIGNATURE, SAME])
    assert mute(world.store, PAT, "signature", "shop")["ended"] == [f"F-{made}"]
    assert record(world.store, PAT, [SIGNATURE, SAME]) == ([], [], [])
    assert world.store.read(mutes) == [{"kind": "signature", "path": "shop", "by": "pat"}]


def test_a_mute_counts_for_whole_names_only() -> None:
    world = World()
    mute(world.store, PAT, "signature", "sho")
    assert len(record(world.store, PAT, [SIGNATURE])[0]) == 1


def test_what_is_no_longer_muted_is_found_again() -> None:
    world = World()
    mute(world.store, PAT, "signature", "shop/report.py")
    assert record(world.store, PAT, [SIGNATURE]) == ([], [], [])
    mute(world.store, PAT, "signature", "shop/report.py", muted=False)
    assert len(record(world.store, PAT, [SIGNATURE])[0]) == 1


def test_muting_twice_is_one_event() -> None:
    world = World()
    for _ in range(2):
        mute(world.store, PAT, "removed", ".")
    assert kinds_of(world) == ["FindingMuted"]


def test_an_unknown_kind_cannot_be_muted() -> None:
    with refused("radar.kind"):
        mute(World().store, PAT, "sginature", "shop")
