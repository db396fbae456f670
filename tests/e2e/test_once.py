"""`--key`: a command sent twice has the effect of one."""

from __future__ import annotations

import pytest

from tests.e2e.commandline import CommandLine

WRITES: list[tuple[str, ...]] = [
    ("task", "add", "Once"),
    ("claim", "a.py"),
    ("value", "put", "k", "1"),
    ("say", "hello"),
    ("propose", "value:k", "1"),
    ("topic", "api"),
    ("value", "fork", "draft", "k"),
]


@pytest.mark.parametrize("words", WRITES, ids=" ".join)
def test_a_repeat_with_the_same_id_changes_nothing(line: CommandLine, words: tuple[str, ...]) -> None:
    first = line.json(*words, "--as", "codex-1", "--key", "op-1")
    head = line.json("log")["head"]
    again = line.json(*words, "--as", "codex-1", "--key", "op-1")
    assert again.pop("replayed") is True
    again.pop("still_valid", None)
    assert again == first
    assert line.json("log")["head"] == head


def test_a_replayed_grant_says_whether_it_still_holds(line: CommandLine) -> None:
    words = ("claim", "a", "--as", "codex-1", "--key", "op-1")
    line.ok(*words)
    assert "replayed: file:a is still yours." in line.ok(*words).out
    line.ok("release", "a", "--as", "codex-1")
    assert line.ok(*words).out == "replayed: file:a is no longer yours.\n"
    assert line.json(*words)["still_valid"] is False
    line.ok("task", "add", "One")
    take = ("task", "next", "--as", "codex-1", "--key", "op-2")
    line.ok(*take)
    assert "replayed: it is still yours." in line.ok(*take).out
    line.ok("task", "done", "T-1", "--as", "codex-1")
    assert "replayed: it is no longer yours." in line.ok(*take).out


def test_the_same_id_with_other_arguments_is_refused(line: CommandLine) -> None:
    line.ok("value", "put", "k", "1", "--key", "op-1")
    assert line.refused("value", "put", "k", "2", "--key", "op-1", code=2)["code"] == "operation.differs"
    assert line.refused("say", "k", "--key", "op-1", code=2)["code"] == "operation.differs"


def test_a_refusal_is_not_remembered(line: CommandLine) -> None:
    line.ok("claim", "a", "--as", "codex-1")
    line.refused("claim", "a", "--as", "codex-2", "--key", "op-1", code=3)
    line.ok("release", "a", "--as", "codex-1")
    assert "replayed" not in line.json("claim", "a", "--as", "codex-2", "--key", "op-1")


def test_the_id_may_come_from_the_environment(line: CommandLine) -> None:
    for _ in range(2):
        answer = line.run("task", "add", "Once", env={"LINECLEAR_KEY": "op-1"})
        assert answer.code == 0, answer
    assert len(line.json("task", "list")["tasks"]) == 1
    assert line.run("task", "list", env={"LINECLEAR_KEY": "op-1"}).code == 0
