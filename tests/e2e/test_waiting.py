"""Several processes at once: who waits is served in order, and who listens hears of everything, once."""

from __future__ import annotations

import json
import signal
from pathlib import Path

from tests.e2e.commandline import CommandLine, Running


def test_three_waiters_are_served_in_the_order_they_came(line: CommandLine, tmp_path: Path) -> None:
    order = tmp_path / "order"
    line.ok("claim", "a", "--as", "holder")
    waiters: list[Running] = []
    names = ["third", "first", "second"]  # no order of names or of time but the order of asking
    for place, name in enumerate(names, 1):
        waiters.append(
            line.start("with", "a", "--wait", "1m", "--as", name, "--", "sh", "-c", f"echo {name} >> {order}")
        )
        line.until_waiting(*names[:place])
    line.ok("release", "a", "--as", "holder")
    assert [waiter.wait() for waiter in waiters] == [0, 0, 0]
    assert order.read_text().split() == names
    assert line.holders("a") == []


def test_a_waiter_that_dies_is_passed_over(line: CommandLine) -> None:
    line.ok("claim", "a", "--as", "holder")
    dead = line.start("claim", "a", "--wait", "1m", "--as", "dead")
    line.until_waiting("dead")
    alive = line.start("claim", "a", "--wait", "1m", "--as", "alive")
    line.until_waiting("dead", "alive")
    dead.process.kill()
    dead.wait()
    line.ok("release", "a", "--as", "holder")
    assert alive.wait() == 0
    assert line.holders("a") == ["alive"]


def test_waiting_for_each_other_is_refused_at_once(line: CommandLine) -> None:
    line.ok("claim", "a", "--as", "one")
    line.ok("claim", "b", "--as", "two")
    line.start("claim", "b", "--wait", "1m", "--as", "one")
    line.until_waiting("one")
    error = line.refused("claim", "a", "--wait", "1m", "--as", "two", code=3)
    assert error["code"] == "claim.deadlock"
    assert set(error["cycle"]) == {"one", "two"}


def test_a_waiter_in_line_and_its_agents_other_process_leave_a_log_in_order(line: CommandLine) -> None:
    line.ok("claim", "a", "--as", "holder")
    waiter = line.start("claim", "a", "--wait", "1m", "--as", "busy")
    line.until_waiting("busy")
    line.ok("log", "--as", "busy")
    line.ok("say", "still here", "--as", "busy")
    line.ok("release", "a", "--as", "holder")
    assert waiter.wait() == 0
    line.ok("audit")


def test_a_waiting_worker_takes_the_task_that_comes(line: CommandLine) -> None:
    worker = line.start("task", "next", "--wait", "1m", "--as", "codex-1", "--can", "sql", "--json")
    line.ok("task", "add", "Not for everybody", "--needs", "gemini")
    line.ok("task", "add", "A migration", "--needs", "sql")
    assert json.loads(worker.line())["data"]["task"]["title"] == "A migration"
    assert worker.wait() == 0


def test_a_worker_waits_for_the_one_task_it_named(line: CommandLine) -> None:
    line.ok("task", "add", "First")
    line.ok("task", "add", "Second", "--after", "T-1")
    line.ok("task", "next", "T-1", "--as", "codex-1")
    worker = line.start("task", "next", "T-2", "--wait", "1m", "--as", "codex-2", "--json")
    line.ok("task", "done", "T-1", "--as", "codex-1")
    assert json.loads(worker.line())["data"]["task"]["id"] == "T-2"


def test_an_inbox_that_waits_shows_what_comes_and_marks_it_read(line: CommandLine) -> None:
    line.ok("say", "for the others", "--to", "codex-2")
    reader = line.start("inbox", "--wait", "1m", "--as", "codex-1")
    line.ok("say", "good\nmorning", "--to", "codex-1", "--as", "codex-2")
    assert " from codex-2 to agent codex-1 at " in reader.line()
    assert [reader.line(), reader.line()] == ["> good", "> morning"]
    assert reader.wait() == 0
    assert line.ok("inbox", "--as", "codex-1").out == "Nothing unread.\n"


def test_a_message_is_given_again_until_it_was_read(line: CommandLine) -> None:
    line.ok("say", "soon", "--to", "codex-1")
    line.ok("say", "now", "--to", "codex-1", "--urgent")
    peeked = line.json("inbox", "--peek", "--as", "codex-1")["messages"]
    assert [message["text"] for message in peeked] == ["now", "soon"]
    first = line.json("inbox", "--limit", "1", "--as", "codex-1")
    assert ([message["text"] for message in first["messages"]], first["more"]) == (["now"], 1)
    assert [m["text"] for m in line.json("inbox", "--as", "codex-1")["messages"]] == ["soon"]
    assert line.json("inbox", "--as", "codex-1")["messages"] == []


def test_following_the_log_misses_nothing_and_tells_nothing_twice(line: CommandLine) -> None:
    line.ok("say", "before")
    follower = line.start("log", "-f", "--since", "0", "--json")
    first = json.loads(follower.line())
    writers = [
        line.start("task", "import", "-"),
        *(line.start("say", f"message {number}", "--as", f"codex-{number}") for number in range(4)),
    ]
    assert [writer.wait() for writer in writers] == [0] * len(writers)
    line.ok("task", "import", "-", stdin="".join(f"- [ ] task {n}\n" for n in range(60)))
    last = line.ok("say", "after", "--json").data["id"]
    told = [first["data"]]
    while told[-1]["position"] < last:
        told.append(json.loads(follower.line())["data"])
    follower.process.send_signal(signal.SIGINT)
    assert follower.wait() == 130
    assert follower.rest() == []
    assert told == line.json("log", "--since", "0", "--limit", "1000")["events"]


def test_following_tells_only_what_was_asked_for(line: CommandLine) -> None:
    follower = line.start("log", "-f", "--since", "0", "--kind", "claim", "--agent", "codex-1")
    line.ok("claim", "a", "--as", "codex-2")
    line.ok("say", "hello", "--as", "codex-1")
    line.ok("claim", "b", "--as", "codex-1")
    assert "codex-1  ClaimGranted  file:b" in follower.line()


def test_a_status_that_is_watched_shows_what_changes(line: CommandLine) -> None:
    watcher = line.start("status", "--watch", "--json")
    assert json.loads(watcher.line())["data"]["claims"] == []
    line.ok("claim", "a", "--as", "codex-1")
    shown = json.loads(watcher.line())["data"]
    assert [claim["resource"] for claim in shown["claims"]] == ["file:a"]


def test_happened_before_is_what_an_agent_had_been_told(line: CommandLine) -> None:
    line.ok("claim", "a", "--as", "one")
    line.ok("claim", "b", "--as", "two")
    events = {
        e["subject"]: str(e["position"]) for e in line.json("log", "--kind", "claim", "--as", "one")["events"]
    }
    line.ok("claim", "c", "--as", "one")
    third = str(line.json("log")["head"])
    assert "are concurrent" in line.ok("log", "--before", events["file:a"], events["file:b"]).out
    assert (
        f"event {events['file:b']} happened before event {third}"
        in line.ok("log", "--before", events["file:b"], third).out
    )
    assert "happened after" in line.ok("log", "--before", third, events["file:a"]).out
    assert line.json("log", "--before", third, third)["relation"] == "same"
