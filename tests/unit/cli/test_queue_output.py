"""The queue in words: facts in, lines out."""

from __future__ import annotations

from typing import Any

from lineclear.cli.queue_output import as_data, list_lines, show_lines, tell
from lineclear.cli.render import TextTable

NOON_NS = 1_767_268_800 * 1_000_000_000
TIP = "1a2b3c4d5e6f" + "0" * 28

BRIEF: dict[str, Any] = {
    "candidate": "Q-7", "branch": "ada/login", "state": "waiting", "task": "T-3", "agent": "ada",
    "priority": 5, "after": [], "review": "", "reviewer": "", "why": "", "kind": "", "others": [],
    "commit": "", "submitted_ns": NOON_NS, "ended_ns": 0,
}  # fmt: skip


def lines_of(parts: list[str | TextTable]) -> list[str]:
    return [line for part in parts for line in (part.as_lines() if isinstance(part, TextTable) else [part])]


def listing(**more: Any) -> dict[str, Any]:
    return {"queue": "open", "by": "", "why": "", "candidates": [], "ended": [], **more}


def item(event: str, **more: Any) -> dict[str, Any]:
    return {"position": 1, "at_ns": NOON_NS, "actor": "sam", "event": event, **more}


def told(event: str, **more: Any) -> str:
    line = tell(item(event, **more), "Q-7")[0]
    assert line.startswith("  2026-01-01T12:00:00Z  ")
    return line.removeprefix("  2026-01-01T12:00:00Z  ")


def shown(**more: Any) -> dict[str, Any]:
    return {
        **BRIEF, "tip": TIP, "base": TIP, "title": "Login form", "history": [], "waits_for": "",
        "review_waited_ms": -1, **more,
    }  # fmt: skip


def test_an_empty_queue_says_so() -> None:
    assert lines_of(list_lines(listing(), with_ended=False)) == ["Nothing is waiting to land."]
    assert lines_of(list_lines(listing(), with_ended=True))[-1] == "Nothing has ended yet."


def test_a_paused_queue_is_told_first() -> None:
    lines = lines_of(list_lines(listing(queue="paused", by="sam", why="lunch"), with_ended=False))
    assert lines[0] == "The queue is paused by sam: lunch. `lineclear queue resume` restarts it."


def test_what_waits_has_its_place_and_the_time_that_is_left() -> None:
    row = {**BRIEF, "position": 1, "waits_for": "waits for Q-6", "eta_ms": 90_000}
    lines = lines_of(list_lines(listing(candidates=[row]), with_ended=False))
    for word in ("1", "Q-7", "waiting", "ada/login", "T-3", "ada", "about 1 min 30 s", "waits for Q-6"):
        assert word in lines[1]


def test_a_time_that_nobody_knows_is_left_out() -> None:
    row = {**BRIEF, "position": 1, "waits_for": "", "eta_ms": -1}
    assert "about" not in lines_of(list_lines(listing(candidates=[row]), with_ended=False))[1]


def test_a_long_reason_is_cut_to_its_first_line() -> None:
    over = {**BRIEF, "state": "sent back", "why": "x" * 500 + "\nmore", "ended_ns": NOON_NS}
    line = lines_of(list_lines(listing(ended=[over]), with_ended=True))[-1]
    assert line.endswith("x…")
    assert len(line) < 200


def test_a_landed_one_shows_its_commit() -> None:
    over = {**BRIEF, "state": "landed", "commit": TIP, "ended_ns": NOON_NS}
    assert lines_of(list_lines(listing(ended=[over]), with_ended=True))[-1].endswith("as 1a2b3c4d5e6f")


def test_every_decision_is_told_in_plain_words() -> None:
    assert told("CandidateSubmitted", tip=TIP) == "submitted by sam at 1a2b3c4d5e6f"
    assert told("CandidateRenewed", tip=TIP).startswith("new commits by sam, now at 1a2b3c4d5e6f")
    assert told("CandidateReviewed", tip=TIP, verdict="approved") == "approved by sam at 1a2b3c4d5e6f"
    assert told("CandidateHeld", why="") == "held by sam"
    assert told("CandidateHeld", why="the release") == "held by sam: the release"
    assert told("CandidateFreed") == "released by sam"
    assert told("CandidateStopped", why="in the way") == "needs you: in the way"
    assert told("CandidateLanded", commit=TIP, how="merge") == "landed as 1a2b3c4d5e6f (merge)"
    assert told("CandidateLanded", commit=TIP, how="nothing") == "all of it was already on main"
    assert told("CandidateSentBack", why="it fails", kind="check") == "sent back: it fails"
    assert told("CandidateDropped", why="") == "dropped by sam"
    assert told("LandingBegan", ids=[6, 7]) == "main is about to move, together with Q-6"
    assert told("LandingBegan", ids=[7]) == "main is about to move"


def test_a_check_says_how_it_ended_and_with_whom() -> None:
    run = {"command": "make test", "took_ms": 61_000, "flaky": False, "green": True, "ids": [7]}
    assert told("CheckEnded", **run) == "`make test` passed in 1 min 1 s, with no other candidate"
    failed = {**run, "green": False, "ids": [5, 6, 7]}
    assert told("CheckEnded", **failed) == "`make test` failed in 1 min 1 s, together with Q-5, Q-6"
    assert "passed after it had failed first" in told("CheckEnded", **{**run, "flaky": True})


def test_the_failing_output_and_a_note_are_quoted() -> None:
    lines = tell(item("CandidateSentBack", why="it fails", output="one\ntwo\x1b[31m\n"), "Q-7")
    assert lines[1:] == ["    > one", "    > two\ufffd[31m"]
    assert tell(item("CandidateReviewed", verdict="rejected", note="a test", tip=TIP), "Q-7")[1] == (
        "    > a test"
    )


def test_many_files_are_counted() -> None:
    lines = tell(item("CandidateStopped", why="x", files=[f"f{number}" for number in range(25)]), "Q-7")
    assert (lines[1], lines[-1], len(lines)) == ("    f0", "    and 5 more", 22)


def test_a_candidate_is_shown_with_what_it_waits_for() -> None:
    lines = show_lines(shown(waits_for="waits for Q-6", after=["Q-6"], review_waited_ms=60_000))
    assert lines[:5] == [
        'Q-7 is waiting: ada/login for T-3 "Login form"',
        "  by ada, priority 5, commit 1a2b3c4d5e6f",
        "  waits for Q-6",
        "  comes after Q-6",
        "  has waited 1 min for a review",
    ]
    assert "  waited 1 min for its review" in show_lines(shown(review="approved", review_waited_ms=60_000))


def test_others_that_it_fails_with_are_named() -> None:
    lines = show_lines(shown(state="sent back", others=["Q-5"], task="", agent=""))
    assert lines[0] == "Q-7 is sent back: ada/login"
    assert lines[1].startswith("  by a person")
    assert lines[-1] == "It fails together with Q-5, which landed before it."


def test_instants_are_written_as_everywhere() -> None:
    assert as_data(BRIEF)["submitted_at"] == "2026-01-01T12:00:00Z"
    assert as_data(BRIEF)["ended_at"] == ""
    assert not [name for name in as_data(BRIEF) if name.endswith("_ns")]
