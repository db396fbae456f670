"""The queue and the radar: the change lands before the call, and a call that fails is told why."""

from __future__ import annotations

from lineclear.app.queue import candidates as queue
from lineclear.app.radar.findings import record
from lineclear.core.log.codec import event_of
from lineclear.core.log.tables import LOG
from lineclear.core.radar.findings import Finding
from tests.queueing import PAT, Scene


def breaking(*agents: str) -> Finding:
    return Finding(
        kind="signature", agents=agents, files=("src/parse.py", "src/reader.py"), symbol="parse",
        old="parse(text)", new="parse(text, encoding)", interrupts=True,
    )  # fmt: skip


def find(scene: Scene, *agents: str) -> None:
    record(scene.store, PAT, [breaking(*agents)])


def both_fail(tree: frozenset[str]) -> bool:
    return {"change", "call"} <= tree


def test_the_change_lands_before_the_call_that_was_submitted_first() -> None:
    scene = Scene(lambda _tree: False)
    scene.submit("call")
    scene.submit("change")
    find(scene, "change", "call")
    shown = scene.store.read(queue.list_all)
    assert [row["branch"] for row in shown] == ["change", "call"]
    scene.run()
    assert scene.landed() == ["change", "call"]


def test_a_call_that_fails_with_the_change_goes_back_with_the_reason_and_the_files() -> None:
    scene = Scene(both_fail)
    scene.submit("call")
    scene.submit("change")
    find(scene, "change", "call")
    scene.run()
    assert scene.states() == {"call": "sent back", "change": "landed"}
    row = scene.row("call")
    assert row.reason.startswith(
        "it fails the check perhaps since `parse` is now `parse(text, encoding)`, before `parse(text)`, "
        "together with Q-2 (change); without that it passes: make test"
    )
    entries = scene.store.read(lambda view: view.scan(LOG, "subject", (f"Q-{row.id}",)))
    event = next(event_of(entry) for entry in entries if entry.kind == "CandidateSentBack")
    assert event.body["files"] == ["src/reader.py"]


def test_a_finding_against_main_is_the_reason_too() -> None:
    scene = Scene(lambda tree: "call" in tree)
    scene.submit("call")
    find(scene, "main", "call")
    scene.run()
    assert "since `parse` is now" in scene.row("call").reason


def test_without_a_finding_the_reason_is_as_ever() -> None:
    scene = Scene(both_fail)
    scene.submit("change")
    scene.submit("call")
    scene.run()
    assert scene.row("call").reason.startswith("it fails the check, together with Q-1 (change)")
