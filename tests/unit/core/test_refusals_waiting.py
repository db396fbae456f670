"""The exact words for those who waited in vain."""

from __future__ import annotations

from lineclear.core import refusals_tasks
from lineclear.core.refusals_waiting import no_message_came, no_task_came


def test_a_worker_is_told_what_did_not_change() -> None:
    refusal = no_task_came(90_000, refusals_tasks.no_task(0, 0, 2))
    assert str(refusal) == (
        "There is no task for you now. 1 min 30 s of waiting did not change that.\n"
        "Of the unfinished ones 2 are being worked on.\n"
        "Next: run `lineclear task list`."
    )
    assert refusal.exit_code == 8
    assert refusal.as_data()["reason"] == "task.none"


def test_a_reader_is_told_how_long_nothing_came() -> None:
    refusal = no_message_came(500)
    assert str(refusal) == "No message came within 500 ms.\nNext: run `lineclear task next`."
    assert (refusal.code, refusal.exit_code) == ("inbox.timeout", 8)
