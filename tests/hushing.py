"""A hook's two ways to answer, side by side: the stub with its shell alone, and lineclear itself."""

from __future__ import annotations

import json
import os
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from lineclear.app import claims, messages
from lineclear.app.ports import Caller, NobodyDies
from lineclear.clients.registry import hook_of as client_of
from lineclear.core.claims import INTENT, Request
from lineclear.core.hooks import HookAnswer, is_silent
from lineclear.core.resources import parse_resource
from lineclear.core.tables import CLAIM
from lineclear.hook.serving import Hooks
from lineclear.process import hush
from lineclear.wiring import hooking
from lineclear.wiring.repo import open_repo
from lineclear.wiring.setup import stub_text
from lineclear.wiring.starting import init_repo
from tests.repository import TemporaryRepo

ASKED = "asked\n"


class TwoWays:
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
            f"printf '%s' \"$LINECLEAR_STATUS\" >{self.state}/given-status\n"
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

    # -- one call, both ways ------------------------------------------------------------------

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

    def is_passed(self, event: str, said: dict[str, Any] | str, client: str = "claude", **env: str) -> bool:
        """Does the stub let the call pass by itself? Then it has said nothing."""
        text = said if isinstance(said, str) else json.dumps(said, separators=(",", ":"), ensure_ascii=False)
        done = subprocess.run(
            [self.stub, client, event], input=text.encode(), cwd=self.tree, env=self.environ | env,
            capture_output=True, check=False, timeout=60,
        )  # fmt: skip
        assert done.returncode == 0, done
        assert done.stderr == b"", done
        assert done.stdout.decode() in ("", ASKED)
        if done.stdout:
            assert (self.state / "given").read_text().rstrip("\n") == text.rstrip("\n")
        return not done.stdout

    def ask(self, event: str, said: dict[str, Any], client: str = "claude", **env: str) -> HookAnswer:
        """lineclear's own answer, in this process."""
        found = client_of(client)
        assert found is not None
        call, environ = found.read_call(event, said), self.environ | env
        assert call is not None
        began_ns = time.time_ns()
        layout = hooking.layout_for(call, environ, str(self.tree))
        assert layout is not None
        settings = hooking.settings_for(layout, environ)
        return hooking.respond(layout, settings, call, environ, began_ns=began_ns)

    def pre(self, path: Path | str = "a.py", **more: Any) -> HookAnswer:
        return self.ask("PreToolUse", self.said("PreToolUse", self.tree / path, **more))

    def passes(self, path: Path | str = "a.py", event: str = "PreToolUse", **more: Any) -> bool:
        return self.is_passed(event, self.said(event, self.tree / path, **more))

    def agrees(self, event: str, path: str, tool: str = "Edit") -> bool:
        """Ask the stub; where it lets the call pass, lineclear must have nothing to say and nothing to do."""
        said = self.said(event, self.tree / path, tool=tool)
        if not self.is_passed(event, said):
            return False
        before = self.head()
        reply = self.ask(event, said)
        assert is_silent(reply), (event, path, reply.reason, reply.context)
        assert self.head() == before, "lineclear would have written an event"
        return True

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

    def time_passes(self, seconds: int) -> None:
        """For leases, signs of life and hushes alike: all that has a time becomes so much older."""
        past_ns = seconds * 1_000_000_000
        for file in [
            *self.state.glob("agents/*"),
            *self.state.glob("hush/g/*/live"),
            *self.state.glob("hush/g/*/e/**/*"),
        ]:
            if file.is_file():
                at_ns = max(0, file.stat().st_mtime_ns - past_ns)
                os.utime(file, ns=(at_ns, at_ns))

        def work(tx: Any) -> None:
            for claim in tx.scan(CLAIM, "key"):
                tx.put(CLAIM, claim.changed(until_ns=claim.until_ns - past_ns))

        self._with(lambda repo: repo.store.transact(Caller("time"), work))

    def _with(self, act: Callable[[Any], Any]) -> Any:
        repo = open_repo(str(self.repo.path), self.environ)
        try:
            return act(repo)
        finally:
            repo.close()


class Served:
    """The same calls, answered by the hooks of a server in this process."""

    def __init__(self, ways: TwoWays) -> None:
        self.ways, self.hooks = ways, Hooks(str(ways.repo.path / ".git"))

    def __call__(self, event: str, path: Path | str, **more: Any) -> str:
        told = self.ways.said(event, self.ways.tree / path, **more)
        env = {**self.ways.environ, "LINECLEAR_CALL": os.urandom(8).hex()}
        output, code = self.hooks.answer("claude", event, json.dumps(told).encode(), env, "/")
        assert code == 0
        return output.decode()


def settle_at_once(monkeypatch: Any) -> None:
    """Files of settings that were written a moment ago count as settled; their times are kept apart by us."""
    monkeypatch.setattr(hush, "_SETTLED_NS", 0)
