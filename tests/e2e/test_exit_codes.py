"""Each exit code by a situation that really happens, and the places where nothing can be done."""

from __future__ import annotations

import signal
from pathlib import Path

import apsw

from tests.e2e.commandline import CommandLine
from tests.repository import TemporaryRepo


def test_0_a_claim_that_nobody_disputes(line: CommandLine) -> None:
    answer = line.ok("claim", "a.py", "--as", "codex-1")
    assert answer.out.startswith("file:a.py is yours (exclusive) for 30 min, fence ")
    assert answer.err == ""


WRONG_WORDS: list[tuple[str, ...]] = [
    ("claim",),
    ("claim", "a", "--mode", "greedy"),
    ("claim", "a", "--ttl", "soon"),
    ("claim", "a", "--wait", "-5s"),
    ("task", "add", ""),
    ("task", "show", "T-0"),
    ("task", "edit", "T-1"),
    ("task", "next", "--can"),
    ("value", "put", "k", "{not json"),
    ("value", "put", "k", "1", "--version", "-1"),
    ("value", "get", ""),
    ("say", "hi", "--to", "a", "--all"),
    ("say", "hi", "--to", "no body"),
    ("log", "--since", "yesterday"),
    ("log", "--before", "1"),
    ("release",),
    ("clam", "a"),
    ("task", "nxt"),
    ("who", "a", "--as", "me"),
    ("claim", "a", "--key", "\t"),
    ("-C", "nowhere", "status"),
]


def test_2_a_wrong_word_is_refused_with_a_next_step(line: CommandLine) -> None:
    for words in WRONG_WORDS:
        answer = line.run(*words)
        assert answer.code == 2, answer
        assert answer.out == "", answer
        assert answer.err.splitlines()[-1].startswith("Next: run `lineclear"), answer
        assert len(answer.err.splitlines()) <= 3, answer


def test_3_somebody_else_holds_it(line: CommandLine) -> None:
    line.ok("claim", "src/", "--as", "codex-1", "--note", "the parser")
    error = line.refused("claim", "src/a.py", "--as", "codex-2", code=3)
    assert (error["code"], error["holder"], error["held"]) == ("claim.held", "codex-1", "file:src/")
    assert error["next"] == "lineclear claim file:src/a.py --mode exclusive --wait 10m --as codex-2"
    line.ok("task", "add", "One")
    line.ok("task", "next", "T-1", "--as", "codex-1")
    assert line.refused("task", "next", "T-1", "--as", "codex-2", code=3)["code"] == "task.taken"
    assert line.refused("task", "done", "T-1", "--as", "codex-2", code=3)["code"] == "task.not_yours"


def test_4_an_agent_may_not_do_what_only_a_person_may(line: CommandLine) -> None:
    line.ok("claim", "a", "--as", "codex-1")
    assert line.refused("claim", "a", "--take-over", "--as", "codex-2", code=4)["code"] == "person.only"
    assert line.refused("agent", "leave", "codex-1", "--as", "codex-2", code=4)["code"] == "person.only"
    assert line.refused("uninstall", "--yes", "--as", "codex-2", code=4)["code"] == "person.only"
    assert line.refused("claim", "../outside", code=4)["code"] == "resource.outside"


def test_4_a_person_inside_an_agents_session_is_that_agent(line: CommandLine) -> None:
    line.ok("claim", "a", "--as", "codex-1")
    answer = line.run("claim", "a", "--take-over", env={"CLAUDECODE": "1"})
    assert answer.code == 4, answer


def test_5_what_is_not_there(line: CommandLine) -> None:
    assert line.refused("task", "next", "--as", "codex-1", code=5)["code"] == "task.none"
    assert line.refused("task", "show", "T-9", code=5)["code"] == "task.unknown"
    assert line.refused("value", "get", "k", code=5)["code"] == "value.unknown"
    assert line.refused("value", "merge", "draft", code=5)["code"] == "copy.unknown"
    assert line.refused("proposal", "show", "7", code=5)["code"] == "proposal.unknown"
    assert line.refused("log", "--before", "1", "999", code=5)["code"] == "event.unknown"
    assert line.refused("agent", "leave", "nobody-yet", code=5)["code"] == "agent.unknown"
    assert line.refused("release", "a", code=5)["code"] == "claim.not_held"
    assert line.refused("task", "import", "nowhere.md", code=5)["code"] == "file.unknown"


def test_6_a_store_whose_tables_were_edited_by_hand(line: CommandLine) -> None:
    line.ok("value", "put", "k", "1")
    database = apsw.Connection(str(line.place / ".git" / "lineclear" / "state.db"))
    database.execute('UPDATE "value" SET "json" = \'2\'')
    database.close()
    answer = line.run("audit", "--json")
    assert answer.code == 6, answer
    assert [found["kind"] for found in answer.data["findings"]] == ["table differs"]
    assert "1 findings" in line.run("audit").out


def test_7_a_write_based_on_an_old_version(line: CommandLine) -> None:
    line.ok("value", "put", "k", "1", "--as", "codex-1")
    line.ok("value", "put", "k", "2", "--version", "1", "--as", "codex-2")
    error = line.refused("value", "put", "k", "3", "--version", "1", "--as", "codex-1", code=7)
    assert (error["code"], error["version"], error["holder"]) == ("value.stale", 2, "codex-2")
    assert line.refused("value", "put", "k", "3", "--as", "codex-1", code=7)["code"] == "value.stale"
    assert (
        line.refused("value", "put", "k", "3", "--version", "0", "--as", "codex-1", code=7)["code"]
        == "value.exists"
    )
    assert line.refused("value", "delete", "k", "--version", "1", code=7)["code"] == "value.stale"
    assert line.json("value", "get", "k")["value"] == 2


def test_7_a_conflict_between_a_copy_and_the_value_names_the_place(line: CommandLine) -> None:
    line.ok("value", "put", "k", '{"a": {"b/c": 1}}')
    line.ok("value", "fork", "draft", "k")
    line.ok("value", "put", "k", '{"a": {"b/c": 2}}', "--copy", "draft")
    line.ok("value", "put", "k", '{"a": {"b/c": 3}}')
    error = line.refused("value", "merge", "draft", code=7)
    assert error["conflicts"] == [{"key": "k", "pointer": "/a/b~1c"}]


def test_8_waiting_in_vain(line: CommandLine) -> None:
    line.ok("claim", "a", "--as", "codex-1")
    error = line.refused("claim", "a", "--wait", "200ms", "--as", "codex-2", code=8)
    assert (error["code"], error["holder"]) == ("claim.timeout", "codex-1")
    assert line.json("status")["waits"] == []
    assert line.refused("inbox", "--wait", "100ms", "--as", "codex-1", code=8)["code"] == "inbox.timeout"
    error = line.refused("task", "next", "--wait", "100ms", "--as", "codex-1", code=8)
    assert (error["code"], error["reason"]) == ("task.timeout", "task.none")


def test_130_a_waiter_that_is_interrupted_leaves_the_line(line: CommandLine) -> None:
    line.ok("claim", "a", "--as", "codex-1")
    waiter = line.start("claim", "a", "--wait", "1m", "--as", "codex-2")
    line.until_waiting("codex-2")
    waiter.process.send_signal(signal.SIGINT)
    assert waiter.wait() == 130
    assert line.json("status")["waits"] == []


# -- places where nothing can be done ------------------------------------------------------------


def refusal_in(place: Path, like: CommandLine, *words: str) -> tuple[int, str]:
    answer = like.at(place).run(*words, "--json")
    return answer.code, answer.error["code"]


def test_a_repository_without_a_store_says_how_to_make_one(bare_line: CommandLine) -> None:
    error = bare_line.refused("status", code=5)
    assert (error["code"], error["next"]) == ("store.missing", "lineclear init")
    assert bare_line.refused("claim", "a", code=5)["code"] == "store.missing"


def test_a_directory_that_is_no_repository(line: CommandLine, tmp_path: Path) -> None:
    place = tmp_path / "plain"
    place.mkdir()
    assert refusal_in(place, line, "status") == (5, "repo.none")
    assert refusal_in(place, line, "init") == (5, "repo.none")


def test_a_bare_repository_has_nothing_to_work_on(
    repo: TemporaryRepo, line: CommandLine, tmp_path: Path
) -> None:
    repo.git("init", "--quiet", "--bare", str(tmp_path / "bare.git"))
    assert refusal_in(tmp_path / "bare.git", line, "init") == (4, "repo.bare")


def test_a_repository_without_a_commit_can_be_coordinated(
    repo: TemporaryRepo, line: CommandLine, tmp_path: Path
) -> None:
    repo.git("init", "--quiet", str(tmp_path / "young"))
    young = line.at(tmp_path / "young")
    young.ok("init")
    young.ok("claim", "a.py", "--as", "codex-1")
    assert "codex-1" in young.ok("status").out


def test_the_status_of_an_empty_store_says_what_to_do(line: CommandLine) -> None:
    answer = line.ok()
    assert "No agents yet." in answer.out
    assert "0 ready" in answer.out
    data = line.json("status")
    assert (data["agents"], data["claims"], data["needs_you"]) == ([], [], [])


def test_init_twice_is_init_once(line: CommandLine) -> None:
    line.ok("claim", "a", "--as", "codex-1")
    assert "was already under lineclear" in line.ok("init").out
    assert line.holders("a") == ["codex-1"]


def test_uninstall_shows_first_and_removes_only_when_told(line: CommandLine) -> None:
    store = line.place / ".git" / "lineclear"
    assert "would remove" in line.ok("uninstall").out
    assert store.exists()
    line.ok("uninstall", "--yes")
    assert not store.exists()


def test_a_store_that_cannot_be_written_can_still_be_read(line: CommandLine) -> None:
    line.ok("claim", "a", "--as", "codex-1")
    line.ok("say", "hello", "--to", "codex-1")
    # For root no file is read-only; a gate that cannot be opened is the same to us.
    gate = line.place / ".git" / "lineclear" / "state.lock"
    gate.unlink()
    gate.mkdir()
    assert line.json("who", "a", "--as", "newcomer")["holders"][0]["agent"] == "codex-1"
    assert line.json("status")["claims"][0]["resource"] == "file:a"
    assert line.refused("claim", "b", "--as", "codex-1", code=1)["code"] == "store.unreadable"
    answer = line.run("inbox", "--as", "codex-1")
    assert answer.code == 1, answer
    assert "> hello" in answer.out
    assert "The messages stay unread." in answer.err
