"""A repository whose hooks are called: by the installed stub, in this process, or through a server."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

from lineclear.app import claims, messages
from lineclear.app.ports import Caller, NobodyDies
from lineclear.clients.registry import hook_of as client_of
from lineclear.core.agents.hooks import HookAnswer
from lineclear.core.claims.granting import INTENT, Request
from lineclear.core.claims.resources import parse_resource
from lineclear.hook.serving import Hooks
from lineclear.wiring.hooks import HookContext, layout_for, respond
from lineclear.wiring.repo import open_repo, read_settings
from lineclear.wiring.setup import stub_text
from lineclear.wiring.starting import init_repo
from tests.repository import TemporaryRepo

ASKED = "asked\n"


class HookedRepo:
    """A repository with worktrees `desk` (the session's own) and `side`; `environ` is the client's."""

    def __init__(self, repo: TemporaryRepo) -> None:
        repo.commit("Files", {"a.py": "x = 1\n", "src/b.py": "y = 1\n", "src/c.py": "z = 1\n"})
        self.repo, self.environ = repo, {**repo.environment, "CLAUDECODE": "1"}
        init_repo(str(repo.path), self.environ)
        self.tree, self.side = repo.add_worktree("desk"), repo.add_worktree("side")
        self.state = repo.path / ".git/lineclear"
        slow = self.state / "slow"
        slow.write_text(
            f"#!/bin/sh\nsaid=$(cat)\nprintf '%s' \"$said\" >{self.state}/given\n"
            f"printf '%s' \"$LINECLEAR_CALL\" >{self.state}/given-call\nprintf '{ASKED[:-1]}\\n'\n"
        )
        slow.chmod(0o755)
        self.stub = self.state / "hook"
        self.stub.write_text(stub_text(str(slow)))
        self.stub.chmod(0o755)
        self.claim("eve", "value:BEGUN")
        self.start()

    def start(self, session: str = "s1", client: str = "claude", **env: str) -> None:
        """A session begins: its agent has joined, which is an event of its own."""
        self.ask("SessionStart", {"session_id": session, "cwd": str(self.tree)}, client, **env)

    # -- one call -----------------------------------------------------------------------------

    def said(self, event: str, path: Path | str, **more: Any) -> dict[str, Any]:
        """The host's words, as Claude Code orders them."""
        given = {"file_path": str(path), "old_string": 'x = "1"', "new_string": "x = 2", "replace_all": False}
        told = {
            "session_id": more.pop("session", "s1"), "transcript_path": "/t.jsonl",
            "cwd": str(more.pop("cwd", self.tree)), "permission_mode": "default",
        }  # fmt: skip
        told |= more.pop("head", {})
        told |= {
            "hook_event_name": event,
            "tool_name": more.pop("tool", "Edit"),
            "tool_input": given | more.pop("given", {}),
        }
        return told | {"tool_use_id": "t1"} | more

    def run_stub(self, event: str, said: dict[str, Any] | str, client: str = "claude", **env: str) -> str:
        """What the stub prints; "asked" when it has started lineclear, which then got the call unchanged."""
        text = said if isinstance(said, str) else json.dumps(said, separators=(",", ":"), ensure_ascii=False)
        done = subprocess.run(
            [self.stub, client, event], input=text.encode(), cwd=self.tree, env=self.environ | env,
            capture_output=True, check=False, timeout=60,
        )  # fmt: skip
        assert done.returncode == 0, done
        assert done.stderr == b"", done
        if done.stdout == ASKED.encode():
            assert (self.state / "given").read_text().rstrip("\n") == text.rstrip("\n")
        return done.stdout.decode()

    def ask(self, event: str, said: dict[str, Any], client: str = "claude", **env: str) -> HookAnswer:
        """lineclear's own answer, in this process."""
        found = client_of(client)
        assert found is not None
        call, environ = found.read_call(event, said), self.environ | env
        assert call is not None
        layout = layout_for(call, environ, str(self.tree))
        assert layout is not None
        settings = read_settings(layout, environ)
        return respond(HookContext(layout, settings, call, environ))

    def pre(self, path: Path | str = "a.py", **more: Any) -> HookAnswer:
        return self.ask("PreToolUse", self.said("PreToolUse", self.tree / path, **more))

    # -- what others do -----------------------------------------------------------------------

    def head(self) -> int:
        return int(self._with(lambda repo: repo.store.read(lambda view: view.head)))

    def claim(self, agent: str, text: str, mode: str = INTENT, ttl_ms: int = 1_800_000) -> None:
        request = Request(agent, "side", mode, [parse_resource(text)], ttl_ms=ttl_ms)
        self._with(lambda repo: claims.ask(repo.store, NobodyDies(), Caller(agent, tree="side"), request))

    def release(self, agent: str) -> None:
        self._with(lambda repo: claims.release(repo.store, Caller(agent, tree="side"), [], everything=True))

    def say(self, to: str = "", topic: str = "") -> None:
        self._with(
            lambda repo: messages.say(repo.store, Caller("eve", tree="side"), "hello", to=to, topic=topic)
        )

    def _with(self, act: Callable[[Any], Any]) -> Any:
        repo = open_repo(str(self.repo.path), self.environ)
        try:
            return act(repo)
        finally:
            repo.close()


class Served:
    """The same calls, answered by the hooks of a server in this process."""

    def __init__(self, ways: HookedRepo) -> None:
        self.ways, self.hooks = ways, Hooks(str(ways.repo.path / ".git"))

    def __call__(self, event: str, path: Path | str, **more: Any) -> str:
        told = self.ways.said(event, self.ways.tree / path, **more)
        env = {**self.ways.environ, "LINECLEAR_CALL": os.urandom(8).hex()}
        output, code = self.hooks.answer("claude", event, json.dumps(told).encode(), env, "/")
        assert code == 0
        return output.decode()
