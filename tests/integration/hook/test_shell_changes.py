"""What a command in a shell changed: found by comparing the worktree, announced, judged like an edit."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from lineclear.core.agents.hooks import HookAnswer, is_silent
from lineclear.core.log.tables import CLAIM
from tests.hooked_repo import HookedRepo


class Shell:
    """A session's commands, one after the other."""

    def __init__(self, ways: HookedRepo) -> None:
        self.ways, self.tree, self._calls = ways, ways.tree, 0

    def said(self, event: str, call: str, **more: Any) -> dict[str, Any]:
        told: dict[str, Any] = {"session_id": "s1", "cwd": str(self.tree), "hook_event_name": event}
        told |= {"tool_name": "Bash", "tool_input": {"command": 'grep "x" a.py', "description": "look"}}
        return told | more | {"tool_use_id": call}

    def run(self, command: Callable[[], object] = lambda: None) -> HookAnswer:
        """The answer after the command."""
        self._calls += 1
        call = f"toolu_{self._calls}"
        assert is_silent(self.ways.ask("PreToolUse", self.said("PreToolUse", call)))
        command()
        return self.ways.ask("PostToolUse", self.said("PostToolUse", call))

    def announced(self) -> set[str]:
        found = self.ways._with(lambda repo: repo.store.read(lambda view: view.scan(CLAIM, "key")))
        return {claim.resource for claim in found if claim.agent == "claude-1"}


@pytest.fixture
def shell(ways: HookedRepo) -> Shell:
    """After a first command; with a changed file and a new one, whose name has a space."""
    (ways.tree / "a.py").write_text("changed\n")
    (ways.tree / "a new one.txt").write_text("new\n")
    shell = Shell(ways)
    assert is_silent(shell.run())
    assert shell.announced() == set()
    return shell


def _keeping_its_time(path: Path, text: str) -> None:
    found = path.stat()
    path.write_text(text)
    os.utime(path, ns=(found.st_atime_ns, found.st_mtime_ns))


def _link(path: Path) -> None:
    path.unlink()
    path.symlink_to("src/b.py")


# What the command does, and the file that it has changed thereby; "" for none.
CHANGES: dict[str, tuple[str, Callable[[Shell], object]]] = {
    "a clean file": ("src/b.py", lambda shell: (shell.tree / "src/b.py").write_text("changed\n")),
    "a changed file": ("a.py", lambda shell: (shell.tree / "a.py").write_text("changed again\n")),
    "its time kept": ("a.py", lambda shell: _keeping_its_time(shell.tree / "a.py", "other!!\n")),
    "a changed file, touched": ("a.py", lambda shell: os.utime(shell.tree / "a.py")),
    "an untracked file": ("a new one.txt", lambda shell: (shell.tree / "a new one.txt").write_text("more\n")),
    "one more untracked file": ("two.txt", lambda shell: (shell.tree / "two.txt").write_text("two\n")),
    "a name that git quotes": ('a "b".txt', lambda shell: (shell.tree / 'a "b".txt').write_text("two\n")),
    "a name beyond ASCII": ("\u00e4.txt", lambda shell: (shell.tree / "\u00e4.txt").write_text("two\n")),
    "a file removed": ("src/b.py", lambda shell: (shell.tree / "src/b.py").unlink()),
    "an untracked file removed": ("a new one.txt", lambda shell: (shell.tree / "a new one.txt").unlink()),
    "a changed file removed": ("a.py", lambda shell: (shell.tree / "a.py").unlink()),
    # A link is the file that it leads to.
    "a link in its place": ("src/b.py", lambda shell: _link(shell.tree / "a.py")),
    "a mode": ("src/b.py", lambda shell: (shell.tree / "src/b.py").chmod(0o755)),
    "back to HEAD": ("a.py", lambda shell: shell.ways.repo.git("checkout", "-q", "a.py", at=shell.tree)),
    "the index": ("", lambda shell: shell.ways.repo.git("add", "a.py", at=shell.tree)),
    "a commit": ("", lambda shell: shell.ways.repo.git("commit", "-qam", "x", at=shell.tree)),
    "an empty commit": (
        "", lambda shell: shell.ways.repo.git("commit", "-qm", "x", "--allow-empty", at=shell.tree),
    ),
    "another branch": (
        "", lambda shell: shell.ways.repo.git("checkout", "-q", "-b", "other", at=shell.tree),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CHANGES)
def test_what_a_command_changed_is_announced(shell: Shell, name: str) -> None:
    path, change = CHANGES[name]
    assert is_silent(shell.run(lambda: change(shell)))
    assert shell.announced() == ({f"file:{path}"} if path else set())
    before = shell.ways.head()
    assert is_silent(shell.run())
    assert shell.ways.head() == before


def test_what_git_ignores_is_no_change(shell: Shell) -> None:
    (shell.ways.repo.path / ".git/info/exclude").write_text("*.log\n")
    shell.run(lambda: (shell.tree / "out.log").write_text("x"))
    assert shell.announced() == set()


def test_a_forbidden_change_is_reported_with_the_content_from_before(shell: Shell) -> None:
    (shell.tree / "a.py").write_text("mine, before\n")
    shell.ways.claim("eve", "file:a.py", "exclusive")
    shell.run()
    context = shell.run(lambda: (shell.tree / "a.py").write_text("by a command\n")).context
    assert "eve holds file:a.py" in context
    oid = context.partition("cat-file blob ")[2].split()[0]
    assert shell.ways.repo.git("cat-file", "blob", oid) == "mine, before"


def test_undo_after_a_second_forbidden_change_restores_the_content_from_before_the_first(
    shell: Shell,
) -> None:
    file = shell.tree / "a.py"
    file.write_text("mine, before\n")
    shell.ways.claim("eve", "file:a.py", "exclusive")
    shell.run()
    first = shell.run(lambda: file.write_text("by a command\n")).context
    undo = first.partition("Undo: run `")[2].partition("`")[0]
    second = shell.run(lambda: file.write_text("by another command\n")).context
    assert f"Undo: run `{undo}`" in second
    # To do so is not a third one; what comes after it is.
    given = {"tool_input": {"command": undo}}
    shell.ways.ask("PreToolUse", shell.said("PreToolUse", "u1", **given))
    subprocess.run(undo, shell=True, check=True, env=shell.ways.environ)
    assert file.read_text() == "mine, before\n"
    assert (
        "may not change"
        not in shell.ways.ask("PostToolUse", shell.said("PostToolUse", "u1", **given)).context
    )
    file.write_text("mine again\n")
    shell.run()
    later = shell.run(lambda: file.write_text("by a third command\n")).context
    oid = later.partition("cat-file blob ")[2].split()[0]
    assert shell.ways.repo.git("cat-file", "blob", oid) == "mine again"


def test_a_message_is_told_after_the_command(shell: Shell) -> None:
    assert "> hello" in shell.run(lambda: shell.ways.say("claude-1")).context


def test_an_edit_between_two_commands_is_not_taken_for_the_second_ones(shell: Shell) -> None:
    ways = shell.ways
    ways.pre()
    (ways.tree / "a.py").write_text("edited\n")
    ways.ask("PostToolUse", ways.said("PostToolUse", ways.tree / "a.py"))
    ways.release("claude-1")
    shell.run()
    assert shell.announced() == set()


def test_an_end_without_a_beginning_says_nothing(shell: Shell) -> None:
    (shell.tree / "a.py").write_text("by somebody\n")
    assert is_silent(shell.ways.ask("PostToolUse", shell.said("PostToolUse", "never")))
    assert shell.announced() == set()


def test_marks_of_calls_that_ended_are_gone(shell: Shell) -> None:
    for _ in range(3):
        shell.run()
    assert list((shell.ways.state / "sessions").glob("*.call-*")) == []
