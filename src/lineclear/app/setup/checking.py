"""`setup --check`: do the client's hooks run, and does its model learn of our tools?"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from lineclear.app.setup.planning import MERGE_DRIVER, plan_install

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    from lineclear.app.setup.clone import SetupClone


@dataclass(frozen=True, slots=True, kw_only=True)
class Fired:
    """What came of starting the client once. `events`: the hooks that ran, as "client event".

    `event`: the one that had to run. `shown`: the tools that its model was shown; `may_search`: it may search
    them. `hint`: what may keep this client from running hooks.
    """

    event: str
    events: list[str]
    exit_code: int
    last_words: str
    hint: str
    shown: set[str] = field(default_factory=set)
    may_search: bool = False


class ClientProbe(Protocol):
    """The real client on this machine, with a model that is none."""

    has_probe: bool
    """Do we know how to start it?"""
    has_tools: bool
    """Can set-up give it our MCP server?"""

    def is_installed(self) -> bool: ...

    def tools(self) -> list[str]:
        """What our own server says it has, asked as a client does."""

    def fire(self, *, waits_for_tools: bool) -> Fired:
        """Start the client, let its model ask for one harmless command."""


def check_client(clone: SetupClone, name: str, probe: ClientProbe) -> dict[str, Any]:
    """state: fired, silent, toolless (the hook ran, the tools did not come), absent (not installed), untried
    (no probe known), missing (not set up)."""
    if name not in clone.installed():
        return _result(name, "missing", f"{name} is not set up here. Next: lineclear setup {name}")
    stale = [step for step in plan_install(clone, name).steps() if not step.endswith("/info/exclude")]
    if stale:
        words = f"its set-up is out of date ({stale[0]}). Next: lineclear setup {name}"
        return _result(name, "missing", words)
    has_server = bool(clone.record(name).get("server")) and probe.has_tools
    tools = probe.tools() if has_server else []
    if has_server and not tools:
        words = "the MCP server started but did not list its tools. Next: lineclear doctor"
        return _result(name, "toolless", words)
    if not probe.has_probe:
        words = (
            f"{name}'s files are in place; lineclear cannot start it for a test, so its hook was not tried"
        )
        missing = "" if probe.is_installed() else f" ({name} is not on the PATH)"
        return _result(name, "untried", words + missing, tools=tools)
    if not probe.is_installed():
        words = (
            f"{name} is not installed or not on the PATH; its files are in place, but its hook was not tried"
        )
        answers = [f"the MCP server answers with {len(tools)} tools"] if tools else []
        return _result(name, "absent", words, *answers, tools=tools)
    result = _fire(name, probe, tools)
    # Copilot (1.0.102) does not wait for a server; one that comes too late is no fault of the settings.
    return _fire(name, probe, tools) if result["state"] == "toolless" else result


def _fire(name: str, probe: ClientProbe, tools: list[str]) -> dict[str, Any]:
    fired = probe.fire(waits_for_tools=bool(tools))
    ran = ", ".join(sorted(set(fired.events)))
    if f"{name} {fired.event}" in fired.events:
        came, words = _came(name, fired, tools)
        state = "fired" if came else "toolless"
        return _result(name, state, f"{name} ran the hook: {ran}", *words, fired=fired.events, tools=tools)
    lines = [f"{name} was started but did not run the hook before its tool (exit code {fired.exit_code})"]
    lines += [f"it ran: {ran}"] if ran else []
    lines += [fired.hint] if fired.hint else []
    lines += [f"its last output: {fired.last_words}"] if fired.exit_code else []
    return _result(name, "silent", *lines, fired=fired.events, tools=tools)


def _came(name: str, fired: Fired, tools: list[str]) -> tuple[bool, list[str]]:
    """Did the model learn of the tools? True where there are none to learn of."""
    shown = sorted(fired.shown & set(tools))
    if not tools:
        return True, []
    if shown:
        return True, [f"its model was shown {len(shown)} of {len(tools)} tools: {', '.join(shown)}"]
    if fired.may_search:
        return True, [f"its model may search the {len(tools)} tools of the server: {', '.join(tools)}"]
    return False, [
        f"the MCP server has {len(tools)} tools, but {name}'s model saw none of them in two attempts"
    ]


def check_git(clone: SetupClone, log: str) -> dict[str, Any]:
    """Git itself starts the hook; the gate notes it in the file `log`, and the user's own hook is not
    reached."""
    if "git" not in clone.installed():
        return _result("git", "missing", "git's hooks are not set up here. Next: lineclear setup git")
    clone.git.run_hook("pre-commit", {"LINECLEAR_PROBE": log})
    fired = (clone.files.read(log) or b"").decode("utf-8", "replace").splitlines()
    if fired:
        return _result("git", "fired", "git ran the gate before a commit", fired=fired)
    words = "git did not run the gate: core.hooksPath was changed, or the hook was replaced"
    return _result("git", "silent", words, "Next: lineclear setup git")


def check_merge_driver(clone: SetupClone, merge: Callable[[Mapping[str, str]], str]) -> dict[str, Any]:
    """`merge` lets git merge, with these settings, two changes that git alone cannot and we can; it returns
    "" if the result was clean, else what git said."""
    name = MERGE_DRIVER
    module = clone.clients.module(name)
    facts = clone.facts(module, clone.root, {})
    if not facts.git_settings["merge.default"]:
        return _result(name, "missing", f"The merge driver is not set up here. Next: lineclear setup {name}")
    if plan_install(clone, name).steps():
        return _result(name, "missing", f"The merge driver is out of date. Next: lineclear setup {name}")
    words = merge(facts.git_settings)
    if not words:
        return _result(
            name, "fired", "git ran the merge driver, and lineclear merged", fired=["merge driver"]
        )
    words = f"git ran the merge driver, but lineclear did not merge: {words}"
    return _result(name, "silent", words, "Until this is repaired, git's own merge is used.")


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
