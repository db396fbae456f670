"""What `setup --check` says for each thing that can come of starting a client."""

from __future__ import annotations

from dataclasses import replace

import pytest

from lineclear.app.setup.applying import apply_setup
from lineclear.app.setup.checking import Fired, check_client, check_git
from lineclear.app.setup.planning import plan_install
from tests.unit.app.setup.in_memory import MemoryClone

WELL = Fired(
    event="PreToolUse", events=["qwen PreToolUse"], exit_code=0, last_words="", hint="", shown={"claim"}
)


class FakeProbe:
    has_probe = has_tools = is_there = True

    def __init__(self, *fired: Fired, tools: list[str] | None = None) -> None:
        self._fired, self._tools = list(fired), ["claim", "release"] if tools is None else tools

    def is_installed(self) -> bool:
        return self.is_there

    def tools(self) -> list[str]:
        return self._tools

    def fire(self, *, waits_for_tools: bool) -> Fired:
        assert waits_for_tools == bool(self._tools)
        return self._fired.pop(0)


@pytest.fixture
def memory() -> MemoryClone:
    memory = MemoryClone()
    apply_setup(plan_install(memory.clone, "qwen", has_server=True))
    return memory


def state(memory: MemoryClone, probe: FakeProbe) -> str:
    said: str = check_client(memory.clone, "qwen", probe)["state"]
    return said


def test_a_hook_that_ran_and_tools_that_came(memory: MemoryClone) -> None:
    assert state(memory, FakeProbe(WELL)) == "fired"
    assert state(memory, FakeProbe(replace(WELL, shown=set(), may_search=True))) == "fired"


def test_tools_that_come_too_late_are_waited_for_once_more(memory: MemoryClone) -> None:
    toolless = replace(WELL, shown=set())
    assert state(memory, FakeProbe(toolless, WELL)) == "fired"
    assert state(memory, FakeProbe(toolless, toolless)) == "toolless"
    assert state(memory, FakeProbe(tools=[])) == "toolless"


def test_a_hook_that_did_not_run_is_silent_and_the_hint_is_given(memory: MemoryClone) -> None:
    silent = replace(WELL, events=["qwen SessionStart"], exit_code=3, last_words="no", hint="trust it")
    result = check_client(memory.clone, "qwen", FakeProbe(silent))
    assert result["state"] == "silent"
    assert result["lines"][1:] == ["it ran: qwen SessionStart", "trust it", "its last output: no"]


def test_without_the_program_or_a_probe_nothing_is_fired(memory: MemoryClone) -> None:
    probe = FakeProbe()
    probe.is_there = False
    assert state(memory, probe) == "absent"
    probe.has_probe = False
    assert state(memory, probe) == "untried"


def test_a_client_that_is_not_set_up_or_was_changed_since_is_missing(memory: MemoryClone) -> None:
    assert check_client(memory.clone, "claude", FakeProbe())["state"] == "missing"
    memory.disk.files["/srv/shop/.qwen/settings.json"] = b"{}"
    assert state(memory, FakeProbe()) == "missing"


def test_git_is_asked_to_run_its_hook(memory: MemoryClone) -> None:
    assert check_git(memory.clone, "/log")["state"] == "missing"
    apply_setup(plan_install(memory.clone, "git"))
    assert check_git(memory.clone, "/log") == {
        "client": "git",
        "state": "fired",
        "fired": ["pre-commit"],
        "tools": [],
        "lines": ["git ran the gate before a commit"],
    }
