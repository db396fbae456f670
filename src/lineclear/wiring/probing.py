"""`setup --check`, wired: starts the real client with a model that is none, and sees whether our hook ran."""

from __future__ import annotations

import os
import shlex
import shutil
import tempfile

from lineclear.clients.probe_model import serving
from lineclear.clients.probes import PROBES, PROGRAMS
from lineclear.clients.setup.registry import setup_of
from lineclear.clients.setup.values import Found
from lineclear.git.gate import run_hook
from lineclear.process.commands import run_to_end
from lineclear.wiring.setup import open_site, plan_install

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from lineclear.clients.probes import Probe
    from lineclear.wiring.setup import Site

# A client starts in seconds; the slowest of them took thirty on a busy machine.
LIMIT_S = 120.0
# What marks an agent, or binds git to a place: the probe is started as a person starts it.
_LEFT_OUT = ("CLAUDECODE", "CLAUDE_CODE_SESSION_ID", "CODEX_THREAD_ID", "GEMINI_CLI", "AI_AGENT", "GIT_DIR",
             "GIT_INDEX_FILE", "GIT_WORK_TREE")  # fmt: skip


def check_client(cwd: str, environ: Mapping[str, str], name: str) -> dict[str, Any]:
    """state: fired, silent, absent (not installed), untried (no probe known), missing (not set up)."""
    site = open_site(cwd, environ)
    if not setup_of(name).files(Found(site.root)):
        return _result(name, "untried", f"{name} has no hooks, so there is nothing to fire")
    if name not in site.known():
        return _result(name, "missing", f"{name} is not set up here. Next: lineclear setup {name}")
    stale = [step for step in plan_install(site, name).steps() if not step.endswith("/info/exclude")]
    if stale:
        return _result(
            name, "missing", f"not as set-up would make it ({stale[0]}). Next: lineclear setup {name}"
        )
    if name not in PROBES:
        return _untried(name, environ)
    make, event = PROBES[name]
    if shutil.which(make("").argv[0], path=environ.get("PATH")) is None:
        words = f"{name} is not installed, or not on the PATH: its files are in place, and nothing was fired"
        return _result(name, "absent", words)
    return _fire(site, name, event)


def _untried(name: str, environ: Mapping[str, str]) -> dict[str, Any]:
    is_there = shutil.which(PROGRAMS.get(name, name), path=environ.get("PATH")) is not None
    words = f"{name}'s files are in place; no probe is known for it, so nothing was fired"
    return _result(name, "untried", words if is_there else f"{words} ({name} is not on the PATH)")


def _fire(site: Site, name: str, event: str) -> dict[str, Any]:
    make, _ = PROBES[name]
    with _private_place(site) as place, serving() as url:
        probe = make(url)
        log = os.path.join(place, "fired")
        done = run_to_end(
            shlex.join(probe.argv),
            cwd=site.root,
            env=_environment(site, probe, place, log),
            timeout_s=LIMIT_S,
        )
        fired = _lines(log)
    if f"{name} {event}" in fired:
        return _result(name, "fired", f"{name} ran the hook: {', '.join(sorted(set(fired)))}", fired=fired)
    lines = [f"{name} was started and did not run the hook before its tool (it ended with {done.code})"]
    lines += [f"it ran: {', '.join(sorted(set(fired)))}"] if fired else []
    lines += [probe.hint] if probe.hint else []
    lines += [f"its last words: {done.tail.strip()[-300:]}"] if done.code else []
    return _result(name, "silent", *lines, fired=fired)


def _private_place(site: Site) -> tempfile.TemporaryDirectory[str]:
    """Not below /tmp: Gemini CLI (0.61) believes no settings file in a place that others may write to."""
    return tempfile.TemporaryDirectory(prefix="probe-", dir=site.state)


def _environment(site: Site, probe: Probe, place: str, log: str) -> dict[str, str]:
    env = {name: value for name, value in site.environ.items() if name not in _LEFT_OUT}
    env |= probe.env | {"LINECLEAR_PROBE": log, "PWD": site.root}
    for variable, (name, text) in probe.files.items():
        path = os.path.join(place, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        env[variable] = path
    return env


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


def _result(name: str, state: str, *lines: str, fired: list[str] | None = None) -> dict[str, Any]:
    return {"client": name, "state": state, "fired": fired or [], "lines": list(lines)}
