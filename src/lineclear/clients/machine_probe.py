"""Starts the real client for `setup --check`, with a fake model; app/setup/checking.py judges the result."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import tempfile
from typing import TYPE_CHECKING

from lineclear.app.setup.checking import Fired
from lineclear.clients.mcp_entry import NAME, START_S
from lineclear.clients.probe_model import serving
from lineclear.clients.registry import CLIENTS, NO, PROBE, probe_of
from lineclear.core.agents.identity import SIGNS
from lineclear.host.commands import run_to_end
from lineclear.host.line_dialogue import ask

if TYPE_CHECKING:
    from typing import Any

    from lineclear.app.setup.clone import SetupClone
    from lineclear.clients.probe import Probe

# A client starts in seconds; the slowest one took thirty on a busy machine.
LIMIT_S = 120.0
# Variables that mark an agent or bind git to a repository: the probe must start as a person would start it.
_LEFT_OUT = (*SIGNS, "GIT_DIR", "GIT_INDEX_FILE", "GIT_WORK_TREE")
_LAST_WORDS = 300

# The first message of any MCP client, with a protocol revision that all current clients support.
_GREETING = {
    "protocolVersion": "2025-06-18",
    "capabilities": {},
    "clientInfo": {"name": "lineclear setup --check", "version": "1"},
}


class MachineProbe:
    """Probes a client of this machine, in the main worktree of a clone."""

    def __init__(self, clone: SetupClone, name: str) -> None:
        client = CLIENTS[name]
        self._clone, self._name, self._program = clone, name, client.program
        self.has_probe = PROBE in client.parts
        self.has_tools = client.guarantees is not None and client.guarantees.tools != NO

    def is_installed(self) -> bool:
        return shutil.which(self._program, path=self._clone.variables.get("PATH")) is not None

    def tools(self) -> list[str]:
        calls: list[dict[str, Any]] = [
            {"id": 1, "method": "initialize", "params": _GREETING},
            {"method": "notifications/initialized"},
            {"id": 2, "method": "tools/list"},
        ]
        said = ask(
            [self._clone.stub, "mcp"],
            [json.dumps({"jsonrpc": "2.0"} | call).encode() for call in calls],
            is_answer=lambda line: _answered(line).get("id") == 2,
            cwd=self._clone.root,
            env=self._as_person(),
            timeout_s=START_S,
        )
        return [tool["name"] for tool in _answered(said).get("result", {}).get("tools", [])]

    def fire(self, *, waits_for_tools: bool) -> Fired:
        module = probe_of(self._name)
        # Not below /tmp: Gemini CLI (0.61) ignores settings files in directories that others may write to.
        private = tempfile.TemporaryDirectory(prefix="probe-", dir=self._clone.state)
        with private as directory, serving() as model:
            probe = module.probe(model.url)
            model.awaited, model.patience = NAME if waits_for_tools else "", probe.patience
            log = os.path.join(directory, "fired")
            done = run_to_end(
                shlex.join(probe.argv),
                cwd=self._clone.root,
                env=self._environment(probe, directory) | {"LINECLEAR_PROBE": log},
                timeout_s=LIMIT_S,
            )
            events = (self._clone.files.read(log) or b"").decode("utf-8", "replace").splitlines()
        return Fired(
            event=module.EVENT,
            events=events,
            exit_code=done.code,
            last_words=done.tail.strip()[-_LAST_WORDS:],
            hint=probe.hint,
            shown=model.shown(NAME),
            may_search=model.may_search(NAME),
        )

    def _environment(self, probe: Probe, directory: str) -> dict[str, str]:
        env = self._as_person() | probe.env | {"PWD": self._clone.root}
        for variable, (name, text) in probe.files.items():
            env[variable] = os.path.join(directory, name)
            with open(env[variable], "w", encoding="utf-8") as file:
                file.write(text)
        return env

    def _as_person(self) -> dict[str, str]:
        return {name: value for name, value in self._clone.variables.items() if name not in _LEFT_OUT}


def _answered(line: bytes) -> dict[str, Any]:
    try:
        said = json.loads(line)
    except ValueError:
        return {}
    return said if isinstance(said, dict) else {}
