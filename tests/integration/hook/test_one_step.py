"""One call of a hook asks the store once: one transaction if something is written, else one read."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from lineclear.app.ports import Caller
from lineclear.core.agents.hooks import HookAnswer
from lineclear.core.log.tables import CLAIM
from lineclear.store.sqlite.engine import SqliteStore
from tests.hooked_repo import HookedRepo

READ, WRITE = ["read"], ["transact"]
SHELL: dict[str, Any] = {"tool": "Bash", "given": {"command": "make"}}


class Counted:
    """A session in its own worktree or in the shared main tree, and what its calls ask of the store."""

    def __init__(self, ways: HookedRepo, steps: list[str], *, is_shared: bool) -> None:
        self._ways, self._steps = ways, steps
        self.place, self._session = (ways.repo.path, "s2") if is_shared else (ways.tree, "s1")
        self.name = "claude-2" if is_shared else "claude-1"
        if is_shared:
            ways.ask("SessionStart", {"session_id": "s2", "cwd": str(self.place)})
        self.reply = HookAnswer()

    def __call__(self, event: str, path: str = "a.py", **more: Any) -> list[str]:
        said = self._ways.said(event, self.place / path, session=self._session, cwd=self.place, **more)
        self._steps.clear()
        self.reply = self._ways.ask(event, said)
        return list(self._steps)

    def write(self, path: str, text: str) -> None:
        (Path(self.place) / path).write_text(text)


@pytest.fixture
def steps(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What is asked of the store from now on."""
    asked: list[str] = []

    def counting(name: str, plain: Callable[..., Any]) -> Callable[..., Any]:
        def count(*given: Any) -> Any:
            asked.append(name)
            return plain(*given)

        return count

    for name in ("read", "transact"):
        monkeypatch.setattr(SqliteStore, name, counting(name, getattr(SqliteStore, name)))
    return asked


@pytest.fixture
def own(ways: HookedRepo, steps: list[str]) -> Counted:
    return Counted(ways, steps, is_shared=False)


@pytest.fixture
def shared(ways: HookedRepo, steps: list[str]) -> Iterator[Counted]:
    yield Counted(ways, steps, is_shared=True)
    assert not (ways.state / "hook-errors.log").exists()


def test_in_a_worktree_only_the_first_touch_of_a_file_writes(own: Counted) -> None:
    assert own("PreToolUse") == WRITE
    assert own("PostToolUse") == READ
    assert own("PreToolUse") == READ
    assert own("PostToolUse") == READ
    assert own("PreToolUse", "src/b.py") == WRITE


def test_in_a_shared_tree_an_edit_takes_a_claim_and_gives_it_back(shared: Counted) -> None:
    for _ in range(2):
        assert shared("PreToolUse") == WRITE
        assert shared("PostToolUse") == WRITE


@pytest.mark.parametrize("tree", ["own", "shared"])
def test_reading_prompts_and_a_stop_write_nothing(tree: str, request: pytest.FixtureRequest) -> None:
    session: Counted = request.getfixturevalue(tree)
    assert session("PostToolUse", tool="Read") == READ
    assert session("UserPromptSubmit", prompt="go") == READ
    assert session("Stop") == READ


@pytest.mark.parametrize("tree", ["own", "shared"])
def test_a_command_that_changes_nothing_writes_nothing(tree: str, request: pytest.FixtureRequest) -> None:
    session: Counted = request.getfixturevalue(tree)
    for call in ("t1", "t2"):
        assert session("PreToolUse", tool_use_id=call, **SHELL) == READ
        assert session("PostToolUse", tool_use_id=call, **SHELL) == READ


def test_a_change_by_a_command_is_announced_in_one_transaction(own: Counted) -> None:
    for call, step in (("t1", WRITE), ("t2", READ)):
        assert own("PreToolUse", tool_use_id=call, **SHELL) == READ
        for path in ("a.py", "src/b.py", "new.py"):
            own.write(path, call)
        assert own("PostToolUse", tool_use_id=call, **SHELL) == step


def test_in_a_shared_tree_a_change_by_a_command_writes_nothing(shared: Counted) -> None:
    assert shared("PreToolUse", **SHELL) == READ
    shared.write("a.py", "changed")
    assert shared("PostToolUse", **SHELL) == READ


def test_a_refused_edit_is_one_step_and_leaves_nothing(ways: HookedRepo, own: Counted) -> None:
    ways.claim("eve", "file:a.py", "exclusive")
    before = ways.head()
    assert own("PreToolUse") == WRITE
    assert own.reply.is_denied
    assert ways.head() == before


def test_a_message_is_told_in_one_read_and_marked_as_read_in_one_transaction(
    ways: HookedRepo, own: Counted
) -> None:
    ways.say("claude-1")
    assert own("UserPromptSubmit", prompt="go") == READ
    assert "> hello" in own.reply.context
    assert own("UserPromptSubmit", prompt="go") == WRITE
    assert "> hello" not in own.reply.context
    assert own("UserPromptSubmit", prompt="go") == READ


def test_a_session_that_is_new_joins_and_announces_its_first_file_in_one_transaction(
    ways: HookedRepo, steps: list[str]
) -> None:
    said = ways.said("PreToolUse", ways.side / "a.py", session="s9", cwd=ways.side)
    steps.clear()
    ways.ask("PreToolUse", said)
    assert steps == WRITE
    found = ways._with(lambda repo: repo.store.read(lambda view: view.scan(CLAIM, "key")))
    assert ("claude-2", "file:a.py") in [(claim.agent, claim.resource) for claim in found]


def test_a_heartbeat_that_is_due_goes_with_the_call(ways: HookedRepo, own: Counted) -> None:
    own("PreToolUse")
    (ways.state / "agents/claude-1~renewed").unlink()
    assert own("PostToolUse") == WRITE
    assert own("PostToolUse") == READ


def test_what_the_session_remembers_wrongly_costs_a_second_step_and_nothing_else(
    ways: HookedRepo, own: Counted
) -> None:
    own("PreToolUse")
    ways.release("claude-1")
    assert own("PreToolUse") == READ + WRITE
    found = ways._with(lambda repo: repo.store.read(lambda view: view.scan(CLAIM, "key")))
    assert ("claude-1", "file:a.py") in [(claim.agent, claim.resource) for claim in found]


def test_one_who_announces_the_file_between_two_steps_is_told_to_us(
    ways: HookedRepo, own: Counted, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = SqliteStore.transact
    came: list[str] = []

    def late(store: SqliteStore, caller: Caller, work: Callable[..., Any], near: Any = ()) -> Any:
        if not came:
            came.append("eve")
            ways.claim("eve", "file:a.py")
        return plain(store, caller, work, near)

    monkeypatch.setattr(SqliteStore, "transact", late)
    own("PreToolUse")
    assert "eve is changing file:a.py" in own.reply.context
