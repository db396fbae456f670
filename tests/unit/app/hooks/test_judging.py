"""An edit, and what a shell command changed, are judged as every other write, in words for a model."""

from __future__ import annotations

import pytest

from lineclear.app.hooks.ports import ShellChange
from lineclear.app.ports import Caller
from lineclear.core.agents.hooks import BEFORE_EDIT, HookAnswer, HookCall
from lineclear.core.claims.strategies import LOCKED, READ_ONLY, SINGLE_WRITER, Rule
from tests.hook_sessions import FakeSession
from tests.world import MINUTE_MS, World, resource

CODE = """def load():
    return 0


class Login:
    def check(self):
        return 1
"""
CHECK = "symbol:a.py#Login.check"


@pytest.fixture
def world() -> World:
    return World()


def session(world: World, strategy: str = "", *, is_shared: bool = False, fence: int = 0) -> FakeSession:
    rules = [Rule(resource("a.py"), strategy)] if strategy else []
    caller = Caller("ada", tree="main" if is_shared else "ada")
    return FakeSession(world, caller, rules, is_shared=is_shared, fence=fence, texts={"a.py": CODE})


def edit(session: FakeSession, *replaced: str, is_whole: bool = False) -> HookAnswer:
    call = HookCall(
        "claude", BEFORE_EDIT, paths=("a.py",), replaced=replaced, is_whole_write=is_whole, can_tell=True
    )
    return session.answer(call)


@pytest.mark.parametrize("is_shared", [False, True])
def test_a_holder_whose_process_has_died_denies_no_edit(world: World, is_shared: bool) -> None:
    world.ask("ben", "a.py", bond="host/with-1", tree="ben")
    assert "ben holds file:a.py" in edit(session(world, is_shared=is_shared)).reason
    world.liveness.dead.add("host/with-1")
    answer = edit(session(world, is_shared=is_shared))
    assert (answer.is_denied, answer.context) == (False, "")


def test_a_dead_holder_makes_no_shell_command_wrong(world: World) -> None:
    changes = [ShellChange("a.py", "git restore a.py", True)]
    world.ask("ben", "a.py", bond="host/with-1", tree="ben")
    assert "ben holds file:a.py" in session(world).judge_changes(changes)[0]
    world.liveness.dead.add("host/with-1")
    assert session(world).judge_changes(changes) == []


@pytest.mark.parametrize("is_held", [False, True])
def test_a_read_only_file_is_called_read_only_whoever_holds_it(world: World, is_held: bool) -> None:
    if is_held:
        world.ask("ben", "a.py", tree="ben")
    reason = edit(session(world, READ_ONLY)).reason
    assert "Cannot write file:a.py: it is read-only for agents." in reason
    assert "--wait" not in reason


@pytest.mark.parametrize("is_shared", [False, True])
def test_a_held_symbol_denies_edits_inside_it_and_edits_of_an_unknown_place(
    world: World, is_shared: bool
) -> None:
    world.ask("ben", CHECK, tree="ben")
    asked = session(world, is_shared=is_shared)
    for answer in (
        edit(asked, "        return 1"),
        edit(asked, "    return 0\n\n\nclass Login:\n    def check(self):\n"),
        edit(asked, "    return 0", "        return 1"),
        edit(asked, "not in the file"),
        edit(asked),
        edit(asked, "    return 0", is_whole=True),
    ):
        assert f"ben holds {CHECK} (exclusive)" in answer.reason
    elsewhere = edit(asked, "    return 0")
    assert not elsewhere.is_denied
    assert f"ben is changing {CHECK}" in elsewhere.context


def test_an_edit_under_a_fence_that_somebody_else_has_passed_is_denied(world: World) -> None:
    fence = world.ask("ada", "a.py", ttl_ms=MINUTE_MS, tree="ada")["fence"]
    world.clock.advance(MINUTE_MS)
    assert not edit(session(world, fence=fence)).is_denied
    world.ask("ben", "./", tree="ben")
    world.release("ben", everything=True)
    assert f"Fence {fence} no longer covers file:a.py." in edit(session(world, fence=fence)).reason


@pytest.mark.parametrize(
    ("strategy", "words"),
    [(LOCKED, "is locked: only one agent"), (SINGLE_WRITER, "It has no owner now.")],
)
def test_what_one_agent_at_a_time_may_write_names_the_claim_as_the_next_step(
    world: World, strategy: str, words: str
) -> None:
    reason = edit(session(world, strategy)).reason
    assert words in reason
    assert "lineclear claim file:a.py --mode exclusive" in reason
    world.ask("ada", "a.py", tree="ada")
    assert not edit(session(world, strategy)).is_denied
