"""`setup --check`, wired: starts the real client with a model that is none, and sees whether our hook ran and
whether that model was shown our tools; asks our server itself which it has.
"""

from __future__ import annotations

import json
import os
import shlex
import shutil
import tempfile

from lineclear.clients.mcp_entry import NAME, START_S
from lineclear.clients.probe_model import serving
from lineclear.clients.registry import CLIENTS, NO, PROBE, probe_of
from lineclear.core.identity import SIGNS
from lineclear.git.gate import run_hook
from lineclear.process.asking import ask
from lineclear.process.commands import run_to_end
from lineclear.wiring.setup import open_site, plan_install

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from lineclear.clients.probe import Probe
    from lineclear.clients.probe_model import Model
    from lineclear.wiring.setup import Site

# A client starts in seconds; the slowest of them took thirty on a busy machine.
LIMIT_S = 120.0
# What marks an agent, or binds git to a place: the probe is started as a person starts it.
_LEFT_OUT = (*SIGNS, "GIT_DIR", "GIT_INDEX_FILE", "GIT_WORK_TREE")


# As any client begins; the revision is one that every client of today understands.
_GREETING = {
    "protocolVersion": "2025-06-18",
    "capabilities": {},
    "clientInfo": {"name": "lineclear setup --check", "version": "1"},
}


def check_client(cwd: str, environ: Mapping[str, str], name: str) -> dict[str, Any]:
    """state: fired, silent, toolless (the hook ran, the tools did not come), absent (not installed), untried
    (no probe known), missing (not set up)."""
    site = open_site(cwd, environ)
    if name not in site.known():
        return _result(name, "missing", f"{name} is not set up here. Next: lineclear setup {name}")
    stale = [step for step in plan_install(site, name).steps() if not step.endswith("/info/exclude")]
    if stale:
        return _result(
            name, "missing", f"not as set-up would make it ({stale[0]}). Next: lineclear setup {name}"
        )
    has_server = bool(site.record(name).get("server")) and _shows_tools(name)
    tools = _tools_of(site) if has_server else []
    if has_server and not tools:
        words = "our MCP server was started and gave no list of its tools. Next: lineclear doctor"
        return _result(name, "toolless", words)
    is_installed = shutil.which(CLIENTS[name].program, path=environ.get("PATH")) is not None
    if PROBE not in CLIENTS[name].parts:
        words = f"{name}'s files are in place; no probe is known for it, so nothing was fired"
        return _result(
            name, "untried", words if is_installed else f"{words} ({name} is not on the PATH)", tools=tools
        )
    if not is_installed:
        words = f"{name} is not installed, or not on the PATH: its files are in place, and nothing was fired"
        return _result(name, "absent", words, *_offers(tools), tools=tools)
    result = _fire(site, name, tools)
    # Copilot (1.0.102) does not wait for a server; one that comes too late is no fault of the settings.
    return _fire(site, name, tools) if result["state"] == "toolless" else result


def _tools_of(site: Site) -> list[str]:
    """What our own server says it has, asked as a client does."""
    calls: list[dict[str, Any]] = [
        {"id": 1, "method": "initialize", "params": _GREETING},
        {"method": "notifications/initialized"},
        {"id": 2, "method": "tools/list"},
    ]
    said = ask(
        [site.stub, "mcp"],
        [json.dumps({"jsonrpc": "2.0"} | call).encode() for call in calls],
        is_answer=lambda line: _answered(line).get("id") == 2,
        cwd=site.root,
        env=_as_person(site),
        timeout_s=START_S,
    )
    tools = _answered(said).get("result", {}).get("tools", [])
    return [tool["name"] for tool in tools]


def _answered(line: bytes) -> dict[str, Any]:
    try:
        said = json.loads(line)
    except ValueError:
        return {}
    return said if isinstance(said, dict) else {}


def _offers(tools: list[str]) -> list[str]:
    return [f"the MCP server answers, with {len(tools)} tools"] if tools else []


def _shows_tools(name: str) -> bool:
    guarantees = CLIENTS[name].guarantees
    return guarantees is not None and guarantees.tools != NO


def _fire(site: Site, name: str, tools: list[str]) -> dict[str, Any]:
    module = probe_of(name)
    with _private_place(site) as place, serving() as model:
        probe = module.probe(model.url)
        model.awaited, model.patience = NAME if tools else "", probe.patience
        log = os.path.join(place, "fired")
        done = run_to_end(
            shlex.join(probe.argv),
            cwd=site.root,
            env=_environment(site, probe, place, log),
            timeout_s=LIMIT_S,
        )
        fired = _lines(log)
    if f"{name} {module.EVENT}" in fired:
        ran = f"{name} ran the hook: {', '.join(sorted(set(fired)))}"
        came, words = _came(name, model, tools)
        state = "fired" if came else "toolless"
        return _result(name, state, ran, *words, fired=fired, tools=tools)
    lines = [f"{name} was started and did not run the hook before its tool (it ended with {done.code})"]
    lines += [f"it ran: {', '.join(sorted(set(fired)))}"] if fired else []
    lines += [probe.hint] if probe.hint else []
    lines += [f"its last words: {done.tail.strip()[-300:]}"] if done.code else []
    return _result(name, "silent", *lines, fired=fired, tools=tools)


def _came(name: str, model: Model, tools: list[str]) -> tuple[bool, list[str]]:
    """Did the model learn of the tools? True where there are none to learn of."""
    shown = model.shown(NAME) & set(tools)
    if not tools:
        return True, []
    if shown:
        return True, [f"its model was shown {len(shown)} of {len(tools)} tools: {', '.join(sorted(shown))}"]
    if model.may_search(NAME):
        return True, [f"its model may search the {len(tools)} tools of the server: {', '.join(tools)}"]
    return False, [f"the MCP server has {len(tools)} tools, but {name}'s model was shown none of them, twice"]


def _private_place(site: Site) -> tempfile.TemporaryDirectory[str]:
    """Not below /tmp: Gemini CLI (0.61) believes no settings file in a place that others may write to."""
    return tempfile.TemporaryDirectory(prefix="probe-", dir=site.state)


def _environment(site: Site, probe: Probe, place: str, log: str) -> dict[str, str]:
    env = _as_person(site) | probe.env | {"LINECLEAR_PROBE": log, "PWD": site.root}
    for variable, (name, text) in probe.files.items():
        path = os.path.join(place, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        env[variable] = path
    return env


def _as_person(site: Site) -> dict[str, str]:
    return {name: value for name, value in site.environ.items() if name not in _LEFT_OUT}


def _lines(path: str) -> list[str]:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read().splitlines()
    except FileNotFoundError:
        return []


def check_git(cwd: str, environ: Mapping[str, str], name: str) -> dict[str, Any]:
    """Git itself starts the hook; the gate notes it, and the user's own hook is not reached."""
    site = open_site(cwd, environ)
    if name not in site.known():
        return _result(name, "missing", "git's hooks are not set up here. Next: lineclear setup git")
    with tempfile.TemporaryDirectory(prefix="lineclear-probe-") as place:
        log = os.path.join(place, "fired")
        run_hook(site.root, "pre-commit", {"LINECLEAR_PROBE": log})
        fired = _lines(log)
    if fired:
        return _result(name, "fired", "git ran the gate before a commit", fired=fired)
    words = "git did not run the gate: core.hooksPath was changed, or the hook was replaced"
    return _result(name, "silent", words, "Next: lineclear setup git")


def _result(
    name: str, state: str, *lines: str, fired: list[str] | None = None, tools: list[str] | None = None
) -> dict[str, Any]:
    """`fired`: the hooks that ran; `tools`: what our server offers."""
    return {
        "client": name,
        "state": state,
        "fired": fired or [],
        "tools": tools or [],
        "lines": list(lines),
    }
