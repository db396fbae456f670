"""One page per client, golden.txt in its folder: every text that we write into a user's files, every answer
of a hook, every command line. What is installed is a stored format: an unwanted change shows up here.

`python -m tests.unit.clients.test_golden` writes the pages: read the difference before you keep it.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from difflib import unified_diff
from pathlib import Path

import pytest

from lineclear.app.setup.plan import FileMove, SetupChange, SetupFacts
from lineclear.clients.git.setup import OTHERS
from lineclear.clients.git_merge.setup import config_for
from lineclear.clients.launch import PERMISSIONS, Launch
from lineclear.clients.registry import (
    CLIENTS,
    HOOK,
    PROBE,
    START,
    Client,
    hook_of,
    probe_of,
    setup_of,
    start_of,
)
from lineclear.core.agents.hooks import HookAnswer

HERE = Path(__file__).parent
ROOT, HOME, STUB = "/srv/shop", "/home/sam", "/srv/shop/.git/lineclear/hook"
# Hooks of git whose stubs differ in their names alone; one of them is shown.
PASSED_ON = tuple(f"/{name}" for name in OTHERS if name != "post-merge")


def titled(title: str, *lines: str) -> Iterator[str]:
    yield f"== {title}"
    yield from lines
    yield ""


def texts(changes: Sequence[SetupChange | FileMove], first: dict[str, str]) -> Iterator[str]:
    """Each file in full where it comes first, then only the lines that differ."""
    for change in changes:
        assert isinstance(change, SetupChange)
        text = (change.after or b"").decode()
        yield f"-- {change}{' (program)' * change.is_program}"
        if change.path in first:
            lines = unified_diff(first[change.path].split("\n"), text.split("\n"), n=0, lineterm="")
            yield from [line for line in lines if not line.startswith(("---", "+++", "@@"))]
        else:
            yield text.rstrip("\n")
        first.setdefault(change.path, text)


def set_up(name: str) -> Iterator[str]:
    places = [
        path for path in setup_of(name).files(SetupFacts(ROOT, home=HOME, stub=STUB)) if path.startswith(ROOT)
    ]
    ways: dict[str, SetupFacts] = {
        "nothing there yet": SetupFacts(ROOT, home=HOME, stub=STUB, has_server=True),
        "tracked files": SetupFacts(ROOT, home=HOME, stub=STUB, has_server=True, shared=places),
        "another worktree, no server": SetupFacts(ROOT, home=HOME, stub=STUB, is_main=False),
        "fail closed, no server": SetupFacts(ROOT, home=HOME, stub=STUB, is_closed=True),
    }
    first: dict[str, str] = {}
    for way, bare in ways.items():
        facts = replace(bare, files=dict.fromkeys(setup_of(name).files(bare)))
        plan = setup_of(name).plan_install(facts)
        lines = [*texts(plan.changes, first), *(f"note: {note}" for note in plan.notes)]
        if way == "nothing there yet":
            lines.append("record: " + json.dumps(plan.record))
        lines += [f"private: {path}" for path in plan.private]
        yield from titled(f"setup: {way}", *lines)


def answers(name: str) -> Iterator[str]:
    module = hook_of(name)
    assert module is not None
    told = {
        "denied": HookAnswer(is_denied=True, reason="no"),
        "told": HookAnswer(context="look"),
        "both": HookAnswer(is_denied=True, reason="no", context="look"),
    }
    lines = []
    for event, matcher in module.EVENTS.items():
        lines.append(f"-- {event} {matcher}".rstrip())
        for way, answer in told.items():
            lines.append(f"{way}: {module.write_answer(event, answer).decode().strip()}".rstrip())
    yield from titled("hook: answers", *lines)


def command_lines(name: str) -> Iterator[str]:
    for permissions in PERMISSIONS:
        for resumed in ("", "S1"):
            asked = Launch(
                prompt="Do it.", prompt_file="/runs/7/prompt.md", model="m-1", permissions=permissions,
                resume_session=resumed, session="S2", worktree="/srv/shop.worktrees/ada",
                common_dir="/srv/shop/.git", allowed_commands=["make test"],
                command=CLIENTS[name].program.split() or ["./agent", "{model}", "{session}"],
            )  # fmt: skip
            started = start_of(name).launch(asked)
            lines = [json.dumps(started.argv), json.dumps(started.env), started.stdin, started.session]
            yield from titled(f"start: {permissions}{', resumed' * bool(resumed)}", *lines)


def probed(name: str) -> Iterator[str]:
    probe = probe_of(name).probe("http://127.0.0.1:9")
    lines = [
        probe_of(name).EVENT,
        json.dumps(probe.argv),
        json.dumps(probe.env),
        json.dumps(probe.files),
        probe.hint,
    ]
    yield from titled("probe", *lines, str(probe.patience))


def git_hooks() -> Iterator[str]:
    bare = SetupFacts(ROOT, stub=STUB, main_ref="refs/heads/main", python="/usr/bin/python3")
    facts = replace(bare, files=dict.fromkeys(setup_of("git").files(bare)))
    ways = {
        "beside the user's own hooks": replace(facts, git_settings={"core.hooksPath": ""}),
        "before another directory": replace(
            facts, git_settings={"core.hooksPath": "~/x y"}, hooks_path="/home/sam/x y", is_closed=True
        ),
    }
    for way, found in ways.items():
        plan = setup_of("git").plan_install(found)
        shown = [change for change in plan.changes if not change.path.endswith(PASSED_ON)]
        lines = [*texts(shown, {}), *map(str, plan.changes), json.dumps(plan.own_record)]
        yield from titled(f"setup: {way}", *lines, json.dumps(plan.git_settings))


def merge_driver() -> Iterator[str]:
    module = setup_of("git-merge")
    python = "/srv/100% ours/python3"
    config = config_for(python)
    facts = SetupFacts(ROOT, git_settings=dict.fromkeys(config, ""), python=python)
    for way, plan in {
        "nothing there yet": module.plan_install(facts),
        "again": module.plan_install(replace(facts, git_settings=config)),
        "removed": module.plan_remove(replace(facts, git_settings=config)),
        "removed, another default": module.plan_remove(
            replace(facts, git_settings=config | {"merge.default": "theirs"})
        ),
    }.items():
        yield from titled(f"setup: {way}", *(f"{name} = {said}" for name, said in plan.git_settings.items()))


def page(client: Client) -> str:
    name = client.name
    lines: list[str] = []
    if name == "git":
        lines += git_hooks()
    if name == "git-merge":
        lines += merge_driver()
    if client.guarantees is not None:
        lines += set_up(name)
    if HOOK in client.parts:
        lines += answers(name)
    if START in client.parts:
        lines += command_lines(name)
    if PROBE in client.parts:
        lines += probed(name)
    return "\n".join(lines)


@pytest.mark.parametrize("client", CLIENTS.values(), ids=CLIENTS)
def test_a_client_writes_what_it_always_wrote(client: Client) -> None:
    assert page(client) == (HERE / client.folder / "golden.txt").read_text()


if __name__ == "__main__":
    for client in CLIENTS.values():
        (HERE / client.folder).mkdir(exist_ok=True)
        (HERE / client.folder / "golden.txt").write_text(page(client))
    sys.exit(0)
