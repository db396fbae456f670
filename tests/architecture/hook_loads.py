"""The modules that a hook loads alone, and real hooks, each in a process of its own, that say so.

Only modules of this list keep their imports cheap; everywhere else we write ordinary Python.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from lineclear.wiring.setup import import_paths
from tests.hooked_repo import HookedRepo

# Below `lineclear.`, for a hook of Claude Code on SQLite; other clients load their own hook module instead.
HOOK_MODULES = (
    "app",
    "app.agents",
    "app.agents.dead_agents",
    "app.agents.heartbeat",
    "app.agents.membership",
    "app.agents.whoami",
    "app.claims",
    "app.hooks",
    "app.hooks.calls",
    "app.hooks.claims",
    "app.hooks.events",
    "app.hooks.judging",
    "app.hooks.ports",
    "app.hooks.repeated_calls",
    "app.hooks.call_context",
    "app.hooks.shell",
    "app.messages",
    "app.one_transaction",
    "app.operations",
    "app.ports",
    "app.free_text",
    "app.write_facts",
    "clients",
    "clients.claude",
    "clients.claude.hook",
    "clients.claude_protocol",
    "clients.hook_json",
    "clients.registry",
    "code",
    "code.outline",
    "core",
    "core.agents",
    "core.agents.hooks",
    "core.agents.identity",
    "core.agents.names",
    "core.claims",
    "core.claims.paths",
    "core.claims.resources",
    "core.claims.granting",
    "core.claims.leases",
    "core.claims.strategies",
    "core.claims.write_rule",
    "core.durations",
    "core.instants",
    "core.log",
    "core.log.codec",
    "core.log.epochs",
    "core.log.events",
    "core.log.fold",
    "core.log.fold_queue",
    "core.log.fold_radar",
    "core.log.queries",
    "core.log.tables",
    "core.messages",
    "core.messages.inbox",
    "core.queue",
    "core.queue.candidates",
    "core.quick_json",
    "core.runs",
    "core.runs.states",
    "core.tasks",
    "core.tasks.states",
    "core.words",
    "core.words.agent_rules",
    "core.words.computed",
    "core.words.computed.claims",
    "core.words.refusals",
    "core.words.row",
    "core.words.computed.settings",
    "core.worktrees",
    "core.worktrees.snapshots",
    "git",
    "git.hook_tree",
    "git.layout",
    "git.main_settings",
    "git.parse",
    "git.tree_states",
    "git.typed_paths",
    "git.run",
    "git.shell_watch",
    "git.snapshots",
    "git.snapshots.detached",
    "git.snapshots.marks",
    "git.status",
    "hook",
    "hook.answering",
    "hook.entry",
    "hook.on_error",
    "host",
    "host.bell",
    "host.bonds",
    "host.clock",
    "host.heartbeats",
    "host.locks",
    "host.host_names",
    "host.server_address",
    "host.session_marks",
    "host.sessions",
    "host.spawning",
    "settings",
    "settings.harmless",
    "settings.loading",
    "settings.other_variables",
    "settings.setting",
    "settings.table",
    "store",
    "store.migrations",
    "store.sql",
    "store.sqlite",
    "store.sqlite.engine",
    "store.sqlite.writer_lock",
    "wiring",
    "wiring.hooks",
    "wiring.repo",
)
# Each costs as much as, or a multiple of, starting the interpreter.
COSTLY = frozenset(
    (
        "argparse", "collections", "contextlib", "dataclasses", "enum", "fnmatch", "functools", "hashlib",
        "json", "logging", "pathlib", "re", "shutil", "signal", "subprocess", "tempfile", "threading",
        "tomllib", "typing",
    )
)  # fmt: skip

PROGRAM = """
import os, sys
sys.path[1:1] = {paths!r}
leave = os._exit
def tell(code):
    os.write(2, " ".join(sys.modules).encode())
    leave(code)
os._exit = tell
from lineclear.hook.entry import run
run(sys.argv[1:], os.environ)
"""
SHELL: dict[str, Any] = {"tool": "Bash", "given": {"command": "make"}}
# An agent's day: (event, what differs from an edit of a file). The end of a session and of a sub-agent, and a
# worktree that a client asks for, are not here: they run git for longer than an import takes.
EVENTS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("SessionStart", {"source": "startup"}),
    ("UserPromptSubmit", {"prompt": "go on"}),
    ("PostToolUse", {"tool": "Read"}),
    ("PreToolUse", {}),
    ("PostToolUse", {}),
    ("PreToolUse", SHELL),
    ("PostToolUse", SHELL),
    ("SubagentStart", {"agent_id": "sub-1"}),
    ("Stop", {}),
)


def modules_of_hook(repo: HookedRepo, event: str, path: Path, cwd: Path, **more: Any) -> set[str]:
    """The modules that are there when a hook of Claude Code has answered."""
    environ = repo.environ | more.pop("environ", {})
    program = PROGRAM.format(paths=import_paths())
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", program, "claude", event],
        input=json.dumps(repo.said(event, path, cwd=cwd, **more)).encode(),
        env=environ, cwd=cwd, capture_output=True, check=True,
    )  # fmt: skip
    errors = repo.state / "hook-errors.log"
    assert not errors.exists(), errors.read_text()
    return set(done.stderr.decode().split())


def modules_of_a_day(repo: HookedRepo) -> dict[str, set[str]]:
    """What every event loads, in a worktree of the session's own and in the tree that all share; a call with
    an id, which its stub may ask again, too."""
    loaded: dict[str, set[str]] = {}
    for cwd, session in ((repo.tree, "s1"), (repo.repo.path, "s2")):
        for event, more in EVENTS:
            if event == "PostToolUse" and more is SHELL:
                for name in ("src/c.py", ".env", "new.py"):
                    (cwd / name).write_text(f"changed by {session}\n")
            what = f"{event} {more.get('tool', '')} of {session}"
            loaded[what] = modules_of_hook(repo, event, cwd / "src/b.py", cwd, session=session, **more)
    again = {"LINECLEAR_CALL": "call-1"}
    path = repo.tree / "src/a.py"
    loaded["a repeated call"] = modules_of_hook(repo, "PreToolUse", path, repo.tree, environ=again)
    return loaded
