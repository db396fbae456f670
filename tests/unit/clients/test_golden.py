"""One page per client, golden.txt in its folder: every text that we write into a user's files, every answer
of a hook, every command line. What is installed is a stored format: an unwanted change shows up here.

`python -m tests.unit.clients.test_golden` writes the pages: read the difference before you keep it.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from difflib import unified_diff
from pathlib import Path

import pytest

from lineclear.app.setup.plan import Change, Found, Move
from lineclear.clients.git import setup as git_gate
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
from lineclear.core.hooks import HookAnswer
from lineclear.wiring.merge_driver import CONFIG

HERE = Path(__file__).parent
ROOT, HOME, STUB = "/srv/shop", "/home/sam", "/srv/shop/.git/lineclear/hook"


def titled(title: str, *lines: str) -> Iterator[str]:
    yield f"== {title}"
    yield from lines
    yield ""


def texts(changes: Sequence[Change | Move], first: dict[str, str]) -> Iterator[str]:
    """Each file in full where it comes first, then only the lines that differ."""
    for change in changes:
        assert isinstance(change, Change)
        text = (change.after or b"").decode()
        yield f"-- {change.verb} {change.path}{' (program)' * change.is_program}"
        if change.path in first:
            lines = unified_diff(first[change.path].split("\n"), text.split("\n"), n=0, lineterm="")
            yield from [line for line in lines if not line.startswith(("---", "+++", "@@"))]
        else:
            yield text.rstrip("\n")
        first.setdefault(change.path, text)


def set_up(name: str) -> Iterator[str]:
    places = [
        path for path in setup_of(name).files(Found(ROOT, home=HOME, stub=STUB)) if path.startswith(ROOT)
    ]
    ways: dict[str, Found] = {
        "nothing there yet": Found(ROOT, home=HOME, stub=STUB, has_server=True),
        "tracked files": Found(ROOT, home=HOME, stub=STUB, has_server=True, shared=places),
        "another worktree, no server": Found(ROOT, home=HOME, stub=STUB, is_main=False),
        "fail closed, no server": Found(ROOT, home=HOME, stub=STUB, is_closed=True),
    }
    first: dict[str, str] = {}
    for way, found in ways.items():
        found.files = dict.fromkeys(setup_of(name).files(found))
        plan = setup_of(name).plan_install(found)
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
    ways = {
        "beside the user's own hooks": git_gate.plan_beside("/hooks", {}, "refs/heads/main", {}),
        "before another directory": git_gate.plan_before("/hooks", {}, "refs/heads/main", "x", "'/x'"),
    }
    first: dict[str, str] = {}
    for way, plan in ways.items():
        guarded = [change for change in plan.changes if change.path.rpartition("/")[2] in git_gate.GUARDED]
        lines = [*texts(guarded, first), *(f"{change.verb} {change.path}" for change in plan.changes)]
        yield from titled(f"setup: {way}", *lines, json.dumps(plan.record))
    kept = git_gate.stub("post-merge", gate="../gate", kept="'/x'/post-merge", main_ref="refs/heads/main")
    yield from titled("setup: a hook that we only pass on", kept.decode().rstrip("\n"))


def page(client: Client) -> str:
    name = client.name
    lines: list[str] = []
    if name == "git":
        lines += git_hooks()
    if name == "git-merge":
        lines += titled("setup: git config", *(f"{key} = {value}" for key, value in CONFIG.items()))
    if client.guarantees is not None:
        lines += set_up(name)
    if HOOK in client.parts:
        lines += answers(name)
    if START in client.parts:
        lines += command_lines(name)
    if PROBE in client.parts:
        lines += probed(name)
    return "\n".join(lines)


MERGE = Client("git-merge", "")


@pytest.mark.parametrize("client", [*CLIENTS.values(), MERGE], ids=[*CLIENTS, MERGE.name])
def test_a_client_writes_what_it_always_wrote(client: Client) -> None:
    assert page(client) == (HERE / client.folder / "golden.txt").read_text()


if __name__ == "__main__":
    for client in CLIENTS.values():
        (HERE / client.folder).mkdir(exist_ok=True)
        (HERE / client.folder / "golden.txt").write_text(page(client))
    sys.exit(0)
