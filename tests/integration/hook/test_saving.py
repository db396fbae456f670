"""Work is put into snapshots by hooks alone, where neither a supervisor nor a server is there to do it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from lineclear.app import tasks
from lineclear.app.ports import Caller
from lineclear.app.runs import records
from lineclear.core.tasks.lists import TaskDraft
from lineclear.git.snapshots.refs import list_snapshots
from lineclear.hook.serving import Hooks
from lineclear.host.bonds import SUPERVISOR, Bonds
from lineclear.host.server_address import be_the_only_one
from lineclear.wiring.repo import open_repo
from lineclear.wiring.setup import import_paths
from tests.hooked_repo import HookedRepo
from tests.repository import TemporaryRepo
from tests.waiting import until

# As the stub starts it.
PROGRAM = """
import os, sys
sys.path[1:1] = {paths!r}
from lineclear.hook.entry import run
run(sys.argv[1:], os.environ)
"""
SHELL: dict[str, Any] = {"tool": "Bash", "given": {"command": "make"}}


class Hooked:
    """Hooks as a client starts them: one process each, all of lineclear."""

    def __init__(self, ways: HookedRepo) -> None:
        self.ways, self.tree, self.common = ways, ways.tree, str(ways.repo.path / ".git")
        self.mark = ways.state / "snapshots/desk.mark"

    def __call__(self, event: str, path: str = "a.py", **more: Any) -> str:
        told = self.ways.said(event, self.tree / path, **more)
        done = subprocess.run(
            [sys.executable, "-I", "-S", "-c", PROGRAM.format(paths=import_paths()), "claude", event],
            input=json.dumps(told).encode(), env=self.ways.environ, cwd=self.tree, capture_output=True,
            check=True,
        )  # fmt: skip
        assert done.stderr == b"", done.stderr
        assert not (self.ways.state / "hook-errors.log").exists()
        return done.stdout.decode()

    def time_passes(self) -> None:
        """The last snapshot, and what was seen to change before it, are a minute older."""
        session = self.ways.state / "sessions/claude-s1"
        for path in (self.mark, session.with_name(session.name + ".picture")):
            if path.exists():
                found = path.stat()
                os.utime(path, (found.st_mtime - 60, found.st_mtime - 60))

    def has_started(self) -> bool:
        """Was a snapshot begun within the last minute? The mark is set before the process is started."""
        return self.mark.exists() and time.time() - self.mark.stat().st_mtime < 30

    def has_saved(self, text: str) -> bool:
        return text in self.saved()

    def saved(self) -> list[str]:
        """What the newest snapshot holds of a.py, and so on back."""
        return [self.ways.repo.git("show", f"{kept.commit}:a.py") for kept in list_snapshots(self.common)]


@pytest.fixture
def hooked(repo: TemporaryRepo) -> Hooked:
    return Hooked(HookedRepo(repo))


def test_after_an_edit_the_work_is_saved_beside_the_hook(hooked: Hooked) -> None:
    (hooked.tree / "a.py").write_text("edited")
    assert hooked("PostToolUse") == ""
    until(hooked.saved)
    assert hooked.saved() == ["edited"]
    assert [kept.agent for kept in list_snapshots(hooked.common)] == ["claude-1"]


def test_a_supervisor_that_answers_for_a_worktree_not_its_own_saves_it_too(hooked: Hooked) -> None:
    hooks = Hooks(hooked.common, saves=True)
    for text in ("one", "two"):
        (hooked.tree / "a.py").write_text(text)
        told = json.dumps(hooked.ways.said("PostToolUse", hooked.tree / "a.py")).encode()
        assert hooks.answer("claude", "PostToolUse", told, hooked.ways.environ, str(hooked.tree)) == (b"", 0)
        until(partial(hooked.has_saved, text))
        hooked.time_passes()
    hooks.close()


def test_a_command_that_changed_something_is_saved_and_one_that_did_not_is_not(hooked: Hooked) -> None:
    (hooked.tree / "a.py").write_text("from before")
    hooked("PreToolUse", **SHELL)  # the first look at the tree is a change
    until(hooked.saved)
    hooked.time_passes()
    hooked("PostToolUse", **SHELL)
    hooked("PreToolUse", **SHELL, tool_use_id="t2")
    assert not hooked.has_started()
    (hooked.tree / "a.py").write_text("by a command")
    hooked("PostToolUse", **SHELL, tool_use_id="t2")
    assert hooked.has_started()
    until(lambda: "by a command" in hooked.saved())


def test_before_the_next_one_is_due_none_is_taken_and_what_changed_is_not_forgotten(hooked: Hooked) -> None:
    (hooked.tree / "a.py").write_text("one")
    hooked("PostToolUse")
    until(hooked.saved)
    os.utime(hooked.mark)  # it is of this very moment
    begun_ns = hooked.mark.stat().st_mtime_ns
    (hooked.tree / "a.py").write_text("two")
    hooked("PostToolUse")
    assert hooked.mark.stat().st_mtime_ns == begun_ns
    hooked.time_passes()
    hooked("Stop")
    assert hooked.has_started()
    until(lambda: hooked.saved()[0] == "two")


def test_two_hooks_at_once_start_one_snapshot(hooked: Hooked) -> None:
    hooked("PreToolUse")
    (hooked.tree / "a.py").write_text("edited")
    starts = hooked.ways.state / "starts"
    # Stands where the interpreter is that a hook starts beside itself.
    pretended = hooked.ways.state / "python"
    pretended.write_text(f'#!/bin/sh\necho "$@" >>{starts}\n')
    pretended.chmod(0o755)
    program = f"import sys\nsys.executable = {str(pretended)!r}\n" + PROGRAM.format(paths=import_paths())

    def edit(number: int) -> None:
        told = hooked.ways.said("PostToolUse", hooked.tree / "a.py", tool_use_id=f"t{number}")
        subprocess.run(
            [sys.executable, "-I", "-S", "-c", program, "claude", "PostToolUse"],
            input=json.dumps(told).encode(), env=hooked.ways.environ, cwd=hooked.tree, check=True,
        )  # fmt: skip

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(edit, range(8)))
    until(starts.exists)
    words = ["-P", "-m", "lineclear", "-C", str(hooked.tree), "salvage", "beside", "--as", "claude-1"]
    assert starts.read_text().splitlines() == [" ".join(words)]


@pytest.mark.parametrize("setting", ["true", "false"])
def test_where_a_server_saves_the_work_no_hook_does(hooked: Hooked, setting: str) -> None:
    (hooked.ways.repo.path / "lineclear.toml").write_text(f"[serve]\nsnapshots = {setting}\n")
    lock = be_the_only_one(str(hooked.ways.state))
    assert lock is not None
    try:
        (hooked.tree / "a.py").write_text("edited")
        hooked("PostToolUse")
        assert hooked.has_started() == (setting == "false")
    finally:
        os.close(lock)
    hooked("PostToolUse")
    assert hooked.has_started()


def test_what_a_supervisor_started_is_its_to_save_and_nothing_else(hooked: Hooked) -> None:
    def edit() -> bool:
        hooked.time_passes()
        hooked("PreToolUse")
        (hooked.tree / "a.py").write_text(f"at {time.monotonic_ns()}\n")
        hooked("PostToolUse")
        return hooked.has_started()

    bond = Bonds(str(hooked.ways.state / "bonds")).hold(SUPERVISOR)
    try:
        assert edit()  # it has no run here
        until(hooked.saved)
        start_run(hooked, tree="desk")
        assert not edit()
    finally:
        bond.release()
    assert edit()  # it is gone, whatever the log says of its run


def start_run(hooked: Hooked, tree: str) -> None:
    repo = open_repo(str(hooked.tree), hooked.ways.environ)
    try:
        worker = Caller("worker-1", tree=tree)
        tasks.add(repo.store, Caller("anna", is_person=True), TaskDraft("", "Work"))
        tasks.take(repo.store, repo.liveness, worker)
        start = records.Start(1, 1, client="plain", tree=tree, branch=tree)
        records.begin(repo.store, worker, start)
    finally:
        repo.close()


@pytest.mark.slow
def test_a_snapshot_that_is_killed_leaves_nothing_half_done(hooked: Hooked) -> None:
    words = [sys.executable, "-P", "-m", "lineclear", "-C", str(hooked.tree), "salvage", "take"]
    for turn in range(12):
        (hooked.tree / "a.py").write_text(f"turn {turn}")
        (hooked.tree / f"new{turn}.py").write_text("new" * 1000)
        started = subprocess.Popen(
            [*words, "--as", "claude-1"], env=hooked.ways.environ, cwd=hooked.tree,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        _wait_until_it_works(started.pid, turn)
        started.send_signal(signal.SIGKILL)
        started.wait()
        for kept in list_snapshots(hooked.common):
            hooked.ways.repo.git("rev-list", "--objects", kept.commit)  # whole, or git says so
    (hooked.tree / "a.py").write_text("after all")
    hooked.mark.unlink(missing_ok=True)
    hooked("PostToolUse")
    until(lambda: "after all" in hooked.saved())
    assert not list(Path(hooked.common).glob("refs/**/*.lock"))
    hooked.ways.repo.git("fsck", "--strict", "--no-dangling")


def _wait_until_it_works(pid: int, turn: int) -> None:
    """Until it has read so many files: a moment between its start and its end, another one each turn."""
    while os.path.exists(f"/proc/{pid}/io"):
        try:
            text = Path(f"/proc/{pid}/io").read_text()
        except OSError:
            return
        calls = int(text.partition("syscr: ")[2].split()[0] or 0)
        if calls >= 100 + 60 * turn or not _is_running(pid):
            return


def _is_running(pid: int) -> bool:
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"


def test_the_last_edit_of_a_burst_is_saved_without_another_call(hooked: Hooked) -> None:
    (hooked.tree / "a.py").write_text("one")
    hooked("PostToolUse")
    until(partial(hooked.has_saved, "one"))
    (hooked.tree / "a.py").write_text("two")
    hooked("PostToolUse")
    until(partial(hooked.has_saved, "two"))
