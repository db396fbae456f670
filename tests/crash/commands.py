"""Every kind of writing command, and a repository in which each of them has something to do."""

from __future__ import annotations

from typing import Any

from tests.verbs import Desk

OP = "operation-1"
Command = tuple[str, tuple[Any, ...], dict[str, Any]]
OPEN: Command = ("open", (), {})


def prepare(desk: Desk) -> None:
    desk.claim("alice", "file:mine.py")
    desk.claim("bob", "file:held.py")
    desk.add_task("alice", "write the parser")
    desk.add_task("alice", "write the printer")
    desk.take_task("alice", 2)
    desk.put("alice", "config", '{"a": 1, "b": 2}')
    desk.put("alice", "old", "1")
    desk.fork("alice", "draft", "config")
    desk.put("alice", "config", '{"a": 5, "b": 2}', copy="draft")
    desk.put("alice", "config", '{"a": 1, "b": 6}')
    desk.claim("alice", "value:owned")
    desk.propose("bob", "value:owned", '"please"')
    desk.say("bob", "hello", to="alice")
    desk.take_over("pat", "api:nothing")


def _with_id(verb: str, *arguments: Any, **options: Any) -> Command:
    return verb, arguments, {**options, "op": OP}


# The number of bob's proposal is its position in the log: see `prepare`.
def commands(proposal: int) -> dict[str, Command]:
    return {
        "claim": _with_id("claim", "alice", "file:new.py"),
        "claim several": _with_id("claim", "alice", "file:a.py", "file:lib/", "file:src/**/*.ts"),
        "claim again": _with_id("claim", "alice", "file:mine.py"),
        "release": _with_id("release", "alice", "file:mine.py"),
        "take over": _with_id("take_over", "pat", "file:held.py"),
        "task add": _with_id("add_task", "alice", "write the docs"),
        "task next": _with_id("take_task", "alice"),
        "task done": _with_id("finish_task", "alice", 2),
        "task fail": _with_id("fail_task", "alice", 2),
        "value put": _with_id("put", "alice", "config", '{"a": 7}', version=2),
        "value delete": _with_id("delete", "alice", "old", 1),
        "value fork": _with_id("fork", "alice", "second", "config", "old"),
        "value merge": _with_id("merge", "alice", "draft"),
        "propose": _with_id("propose", "bob", "value:owned", '"once more"'),
        "proposal accept": _with_id("accept", "alice", proposal),
        "say": _with_id("say", "alice", "hello", to="bob"),
        "inbox": ("read_inbox", ("alice",), {}),
    }
