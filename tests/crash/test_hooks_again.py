"""A server that answers hooks is killed at every step of a call; the stub then asks directly.

What the client is told, and what the store and the session know afterwards, must be what they are when nobody
was killed: nothing is lost and nothing is done twice.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from lineclear.app import claims, messages
from lineclear.app.ports import Caller, NobodyDies
from lineclear.core.claims.granting import EXCLUSIVE, INTENT, Request
from lineclear.core.claims.resources import parse_resource
from lineclear.core.log.tables import LOG
from lineclear.hook import answering
from lineclear.hook.answering import Situation
from lineclear.hook.serving import Hooks
from lineclear.host.sessions import SessionFile, _parse, _read
from lineclear.store.sqlite.engine import SqliteStore
from lineclear.wiring.repo import open_repo
from lineclear.wiring.starting import init_repo
from tests.repository import TemporaryRepo, clean_environment
from tests.sampling import some_of

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]

KILLED, DONE = 9, 0
# What says that something was, or is about to be, changed outside of this process.
EFFECTS = frozenset(
    ("os.rename", "os.remove", "os.mkdir", "os.utime", "os.symlink", "os.truncate", "lineclear.effect")
)
# What a session knows and no two runs have alike: times, and names of files that are soon gone.
TIMELY = ("answer", "picture", "fresh", "looked")
SETTINGS = '[[strategy]]\nmatch = "logo.svg"\nstrategy = "locked"\n'


class World:
    """A repository with an agent's own worktree and a main tree that is shared, always at the same place."""

    def __init__(self, path: Path, environ: dict[str, str]) -> None:
        self.path, self.template = path / "world", path / "template"
        self.environ = environ | {"CLAUDECODE": "1", "USER": "ada"}
        self.client = "claude"
        repo = TemporaryRepo.create(self.path / "repo", environ)
        repo.commit("Files", {"a.py": "x = 1\n", "b.py": "y = 1\n", "logo.svg": "<svg/>\n"})
        (repo.path / "lineclear.toml").write_text(SETTINGS)
        init_repo(str(repo.path), self.environ)
        self.root, self.tree = repo.path, repo.add_worktree("desk")
        shutil.move(self.path, self.template)

    def begin(self) -> None:
        shutil.rmtree(self.path, ignore_errors=True)
        shutil.copytree(self.template, self.path, symlinks=True)

    # -- what others do -----------------------------------------------------------------------

    def with_repo(self, act: Callable[[Any], Any]) -> Any:
        repo = open_repo(str(self.root), self.environ)
        try:
            return act(repo)
        finally:
            repo.close()

    def claim(self, agent: str, text: str, mode: str = INTENT) -> None:
        request = Request(agent, "side", mode, [parse_resource(text)], ttl_ms=1_800_000)
        caller = Caller(agent, tree="side")
        self.with_repo(lambda repo: claims.ask(repo.store, NobodyDies(), caller, request))

    def say(self, text: str, *, urgent: bool = False) -> None:
        eve = Caller("eve", tree="side")
        self.with_repo(lambda repo: messages.say(repo.store, eve, text, to="claude-1", urgent=urgent))

    # -- one call -----------------------------------------------------------------------------

    def said(self, event: str, at: Path, **more: Any) -> bytes:
        told = {"session_id": "s1", "cwd": str(at), "hook_event_name": event, "tool_use_id": "t1"}
        return json.dumps(told | more).encode()

    def directly(self, event: str, body: bytes, call: str = "") -> bytes:
        """As the one-shot process does it; its errors are the test's."""
        environ = self.environ | ({"LINECLEAR_CALL": call} if call else {})
        now = Situation(self.client, event, environ, "/")
        return answering.answer(now, lambda: body)[0]

    def killed(self, event: str, body: bytes, call: str, at_effect: int) -> int:
        """A server that dies at this effect, or else after the work and before the answer; its exit code."""
        child = os.fork()
        if child:
            return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        try:
            _die_at(at_effect)
            Hooks(str(self.root / ".git")).answer(
                self.client, event, body, self.environ | {"LINECLEAR_CALL": call}, "/"
            )
            os._exit(DONE)
        finally:
            os._exit(1)

    # -- what is there afterwards ---------------------------------------------------------------

    def picture(self) -> dict[str, Any]:
        def look(view: Any) -> list[tuple[Any, ...]]:
            return [(e.actor, e.kind, e.subject, _timeless(e.body)) for e in view.scan(LOG, "key")]

        log = self.with_repo(lambda repo: repo.store.read(look))[1:]  # an epoch began
        sessions = self.root / ".git/lineclear/sessions"
        name = f"{self.client}-s1"
        facts = _parse(_read(str(sessions / name)))
        known = {key: value for key, value in facts.items() if value and key[0] not in TIMELY}
        files = sorted(file.name for file in sessions.glob(f"{name}.*") if ".picture." not in file.name)
        errors = self.root / ".git/lineclear/hook-errors.log"
        return {
            "log": "\n".join(map(str, log)),
            "session": known,
            "files": files,
            "errors": errors.read_text() if errors.exists() else "",
        }


def _timeless(body: str) -> dict[str, Any]:
    """Without what depends on the moment: times, and which ports are free."""
    told = json.loads(body).items()
    return {name: value for name, value in told if not name.endswith("_ns") and name != "port_first"}


def _die_at(number: int) -> None:
    """Only ever called in a child."""
    seen = 0

    def watch(event: str, args: tuple[Any, ...]) -> None:
        nonlocal seen
        is_writing = (
            event == "open" and isinstance(args[2], int) and bool(args[2] & (os.O_WRONLY | os.O_RDWR))
        )
        if event in EFFECTS or is_writing:
            seen += 1
            if seen == number:
                os._exit(KILLED)

    for owner, name in ((SqliteStore, "transact"), (SessionFile, "save")):
        _announce(owner, name)
    sys.addaudithook(watch)


def _announce(owner: type, name: str) -> None:
    plain = getattr(owner, name)

    def announced(*args: Any) -> Any:
        sys.audit("lineclear.effect")
        result = plain(*args)
        sys.audit("lineclear.effect")
        return result

    setattr(owner, name, announced)


@pytest.fixture
def world(tmp_path: Path) -> World:
    (tmp_path / "home").mkdir()
    return World(tmp_path, clean_environment(tmp_path / "home"))


def _edit(world: World, name: str, *, is_shared: bool = False, tool: str = "Edit") -> dict[str, Any]:
    at = world.root if is_shared else world.tree
    return {"tool_name": tool, "tool_input": {"file_path": str(at / name), "old_string": "x", "content": "n"}}


BASH: dict[str, Any] = {"tool_name": "Bash", "tool_input": {"command": "make"}}
NEXT: dict[str, Any] = {"tool_name": "Bash", "tool_input": {"command": "make next"}, "tool_use_id": "t2"}


class Case:
    """`before` brings the world to where the event comes; `follow` are the session's next calls."""

    def __init__(
        self,
        event: str,
        given: Callable[[World], dict[str, Any]],
        before: Callable[[World], None],
        *,
        is_shared: bool = False,
        client: str = "claude",
    ) -> None:
        self.event, self.given, self.before, self.is_shared = event, given, before, is_shared
        self.client = client


def _call(world: World, event: str, *, is_shared: bool = False, **more: Any) -> bytes:
    return world.directly(event, world.said(event, world.root if is_shared else world.tree, **more))


def _start(world: World, *, is_shared: bool = False) -> None:
    world.claim("eve", "value:BEGUN")
    _call(world, "SessionStart", is_shared=is_shared)


def _with_message(world: World) -> None:
    _start(world)
    world.say("first")
    # Told now, and read with the next call, which has the second to tell.
    assert b"first" in _call(world, "PostToolUse", **_edit(world, "b.py"))
    world.say("second")


def _with_neighbour(world: World) -> None:
    _with_message(world)
    world.claim("eve", "file:a.py")


def _shell_begun(world: World, *, is_shared: bool = False) -> None:
    _start(world, is_shared=is_shared)
    at = world.root if is_shared else world.tree
    (at / "b.py").write_text("mine, before\n")
    _call(world, "PreToolUse", is_shared=is_shared, **BASH)
    (at / "b.py").write_text("by a command\n")
    (at / "logo.svg").write_text("changed\n")
    (at / "new.py").write_text("new\n")
    (at / "a.py").unlink()


def _to_stop(world: World) -> None:
    _start(world)
    world.say("at once", urgent=True)


def _shared_begun(world: World) -> None:
    _start(world, is_shared=True)
    request = Request("claude-1", "main", INTENT, [parse_resource("file:a.py")], ttl_ms=1_800_000)
    caller = Caller("claude-1", tree="main", client="claude", session="s1")
    world.with_repo(lambda repo: claims.ask(repo.store, NobodyDies(), caller, request))


def _shared_edit_begun(world: World) -> None:
    _shared_begun(world)
    _call(world, "PreToolUse", is_shared=True, **_edit(world, "a.py", is_shared=True))
    (world.root / "a.py").write_text("x = 2\n")


CASES: dict[str, Case] = {
    "session start": Case("SessionStart", lambda _: {}, lambda world: world.claim("eve", "value:BEGUN")),
    "prompt, not welcomed yet": Case("UserPromptSubmit", lambda _: {"prompt": "go"}, lambda _: None),
    "prompt": Case("UserPromptSubmit", lambda _: {"prompt": "go"}, _with_message),
    "first touch": Case("PreToolUse", lambda world: _edit(world, "a.py"), _start),
    "first touch, with news": Case("PreToolUse", lambda world: _edit(world, "a.py"), _with_message),
    "first touch, another there": Case("PreToolUse", lambda world: _edit(world, "a.py"), _with_neighbour),
    "a locked file": Case("PreToolUse", lambda world: _edit(world, "logo.svg"), _with_message),
    "after an edit": Case("PostToolUse", lambda world: _edit(world, "a.py"), _with_message),
    "shared edit": Case(
        "PreToolUse", lambda world: _edit(world, "a.py", is_shared=True), _shared_begun, is_shared=True
    ),
    "shared edit, unread": Case(
        "PreToolUse", lambda world: _edit(world, "a.py", is_shared=True, tool="Write"), _shared_begun,
        is_shared=True,
    ),
    "after a shared edit": Case(
        "PostToolUse", lambda world: _edit(world, "a.py", is_shared=True), _shared_edit_begun, is_shared=True
    ),
    "after reading": Case(
        "PostToolUse", lambda world: _edit(world, "a.py", is_shared=True, tool="Read"), _shared_begun,
        is_shared=True,
    ),
    "before a command": Case("PreToolUse", lambda _: BASH, _with_message),
    "after a command": Case("PostToolUse", lambda _: BASH, _shell_begun),
    "after a command in a shared tree": Case(
        "PostToolUse", lambda _: BASH, lambda world: _shell_begun(world, is_shared=True), is_shared=True
    ),
    "before a command, one without an end": Case("PreToolUse", lambda _: NEXT, _shell_begun, client="droid"),
    "before a command that is held back": Case("PreToolUse", lambda _: NEXT, _shell_begun, client="kimi"),
    "before an edit, a command without an end": Case(
        "PreToolUse", lambda world: _edit(world, "b.py"), _shell_begun, client="droid"
    ),
    "before a command in a shared tree, one without an end": Case(
        "PreToolUse", lambda _: NEXT, lambda world: _shell_begun(world, is_shared=True), is_shared=True,
        client="droid",
    ),
    "stop, a command without an end": Case("Stop", lambda _: {}, _shell_begun, client="droid"),
    "stop": Case("Stop", lambda _: {}, _to_stop),
    "session end": Case("SessionEnd", lambda _: {}, _with_neighbour),
}  # fmt: skip
LEAST_EFFECTS, MOST_EFFECTS = 5, 400


def _after(world: World, case: Case) -> list[bytes]:
    """What the session hears next: at a command that changes one more file, at an edit, at its stop."""
    at = world.root if case.is_shared else world.tree
    said = [_call(world, "PreToolUse", is_shared=case.is_shared, **NEXT)]
    (at / "logo.svg").write_text("changed again\n")
    said.append(_call(world, "PostToolUse", is_shared=case.is_shared, **NEXT))
    edit = _edit(world, "b.py", is_shared=case.is_shared)
    said += [_call(world, event, is_shared=case.is_shared, **edit) for event in ("PreToolUse", "PostToolUse")]
    return [*said, _call(world, "Stop", is_shared=case.is_shared)]


@pytest.mark.parametrize("name", CASES)
def test_a_server_that_is_killed_at_any_step_leaves_what_the_one_asked_next_makes_right(
    world: World, name: str
) -> None:
    case = CASES[name]
    world.client = case.client

    def trial(at_effect: int | None) -> tuple[int, bytes, dict[str, Any], list[bytes], dict[str, Any]]:
        world.begin()
        case.before(world)
        at = world.root if case.is_shared else world.tree
        body = world.said(case.event, at, **case.given(world))
        ended = DONE if at_effect is None else world.killed(case.event, body, "call-1", at_effect)
        told = world.directly(case.event, body, "call-1")
        seen = world.picture()
        return ended, told, seen, _after(world, case), world.picture()

    _, told, seen, later, end = trial(None)
    assert seen["errors"] == ""
    if case.client != "claude":
        assert b"logo.svg" in b"".join((told, *later))
        assert case.is_shared or "file:a.py" in seen["log"], "what was removed"
    for at_effect in some_of(range(1, MOST_EFFECTS), share=2):
        ended, told_again, seen_again, later_again, end_again = trial(at_effect)
        assert ended in (KILLED, DONE), at_effect
        assert told_again == told, at_effect
        assert seen_again["log"] == seen["log"], at_effect
        assert seen_again == seen, at_effect
        assert later_again == later, at_effect
        assert end_again == end, at_effect
        if ended == DONE:
            assert at_effect > LEAST_EFFECTS, "nothing was watched"
            return
    pytest.fail("more effects than expected")


def test_a_later_call_of_the_same_kind_is_no_repeat(world: World) -> None:
    world.begin()
    _start(world)
    world.say("hello")
    body = world.said("PostToolUse", world.tree, **_edit(world, "b.py"))
    assert b"hello" in world.directly("PostToolUse", body, "call-1")
    assert b"hello" in world.directly("PostToolUse", body, "call-1")
    assert world.directly("PostToolUse", body, "call-2") == b""


def test_what_is_held_exclusively_is_asked_of_the_one_who_holds_it(world: World) -> None:
    """A denial is kept as it was told, though its words would be others a moment later."""
    world.begin()
    _start(world)
    world.claim("eve", "file:a.py", EXCLUSIVE)
    body = world.said("PreToolUse", world.tree, **_edit(world, "a.py"))
    assert world.killed("PreToolUse", body, "call-1", MOST_EFFECTS) == DONE
    told = world.directly("PreToolUse", body, "call-1")
    assert b"deny" in told
    assert told == world.directly("PreToolUse", body, "call-1")
