"""When the stub may let a command in a shell pass: nothing changed, and nothing is to be told."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from lineclear.core.hooks import is_silent
from lineclear.git.pictures import take_picture
from tests.hushing import TwoWays
from tests.repository import TemporaryRepo


class Shell:
    """A session's commands, one after the other."""

    def __init__(self, ways: TwoWays) -> None:
        self.ways, self.tree, self._calls = ways, ways.tree, 0

    def said(self, event: str, call: str, **more: Any) -> dict[str, Any]:
        told: dict[str, Any] = {
            "session_id": "s1",
            "transcript_path": "/t",
            "cwd": str(self.tree),
            "hook_event_name": event,
        }
        told |= {"tool_name": "Bash", "tool_input": {"command": 'grep "x" a.py', "description": "look"}}
        return told | more | {"tool_use_id": call}

    def run(self, command: Callable[[], object] = lambda: None) -> tuple[bool, bool]:
        """Did the stub let it pass before, and after? What it does not is asked, as in life."""
        self._calls += 1
        call = f"toolu_{self._calls}"
        before = self._once("PreToolUse", call)
        command()
        return before, self._once(
            "PostToolUse", call, tool_response={"stdout": 'a "b"\n', "interrupted": False}
        )

    def _once(self, event: str, call: str, **more: Any) -> bool:
        said = self.said(event, call, **more)
        if self.ways.is_passed(event, said):
            return True
        self.ways.ask(event, said)
        return False


@pytest.fixture
def ways(repo: TemporaryRepo) -> TwoWays:
    return TwoWays(repo)


@pytest.fixture
def shell(ways: TwoWays) -> Shell:
    """After a first command; with a changed file and a new one, whose name has a space."""
    (ways.tree / "a.py").write_text("changed\n")
    (ways.tree / "a new one.txt").write_text("new\n")
    shell = Shell(ways)
    shell.run()
    assert shell.run() == (True, True)
    return shell


def test_the_first_command_is_asked_before_and_passes_after(ways: TwoWays) -> None:
    shell = Shell(ways)
    assert shell.run() == (False, True)
    assert shell.run() == (True, True)


def _keeping_its_time(path: Path, text: str) -> None:
    found = path.stat()
    path.write_text(text)
    os.utime(path, ns=(found.st_atime_ns, found.st_mtime_ns))


@pytest.mark.parametrize("name", ["two.txt", "two words.txt", "zw\u00f6lf.txt", 'a "quote".txt'])
def test_what_git_told_the_stub_is_handed_on_and_is_what_git_would_tell_us(shell: Shell, name: str) -> None:
    shell.run(lambda: (shell.tree / name).write_text("new\n"))
    handed = (shell.ways.state / "given-status").read_text()
    assert handed.startswith("# branch.oid ")
    before = take_picture(str(shell.tree), None, lambda _: False)
    after = take_picture(str(shell.tree), None, lambda _: False, handed)
    assert after.status == before.status
    assert name.encode() in after.paths


def test_what_only_looks_like_gits_words_is_not_handed_on(shell: Shell) -> None:
    said = shell.said("PreToolUse", "odd id")
    assert not shell.ways.is_passed("PreToolUse", said, LINECLEAR_STATUS="# branch.oid 1")
    assert (shell.ways.state / "given-status").read_text() == ""
    clean = take_picture(str(shell.tree), None, lambda _: False)
    for words in ("nonsense", '# branch.oid 1\n? "quoted"', "# branch.oid 1\n? \u00f6"):
        assert take_picture(str(shell.tree), None, lambda _: False, words).status == clean.status


CHANGES: dict[str, Callable[[Shell], object]] = {
    "a clean file": lambda shell: (shell.tree / "src/b.py").write_text("changed\n"),
    "a changed file": lambda shell: (shell.tree / "a.py").write_text("changed again\n"),
    "a changed file, its time kept": lambda shell: _keeping_its_time(shell.tree / "a.py", "other!!\n"),
    "a changed file, touched": lambda shell: os.utime(shell.tree / "a.py"),
    "an untracked file": lambda shell: (shell.tree / "a new one.txt").write_text("more\n"),
    "one more untracked file": lambda shell: (shell.tree / "two.txt").write_text("two\n"),
    "a file removed": lambda shell: (shell.tree / "src/b.py").unlink(),
    "an untracked file removed": lambda shell: (shell.tree / "a new one.txt").unlink(),
    "a changed file removed": lambda shell: (shell.tree / "a.py").unlink(),
    "a link in its place": lambda shell: _link(shell.tree / "a.py"),
    "a mode": lambda shell: (shell.tree / "src/b.py").chmod(0o755),
    "the index": lambda shell: shell.ways.repo.git("add", "a.py", at=shell.tree),
    "a commit": lambda shell: shell.ways.repo.git("commit", "-qam", "x", at=shell.tree),
    "no change": lambda shell: shell.ways.repo.git("commit", "-qm", "x", "--allow-empty", at=shell.tree),
    "back to HEAD": lambda shell: shell.ways.repo.git("checkout", "-q", "--", "a.py", at=shell.tree),
    "another branch": lambda shell: shell.ways.repo.git("checkout", "-q", "-b", "other", at=shell.tree),
}  # fmt: skip


def _link(path: Path) -> None:
    path.unlink()
    path.symlink_to("src/b.py")


@pytest.mark.parametrize("name", CHANGES)
def test_a_command_that_changed_something_is_asked_after(shell: Shell, name: str) -> None:
    assert shell.run(lambda: CHANGES[name](shell)) == (True, False)
    assert shell.run() == (True, True) or name == "another branch"


def test_what_git_ignores_is_no_change(shell: Shell) -> None:
    (shell.ways.repo.path / ".git/info/exclude").write_text("*.log\n")
    assert shell.run(lambda: (shell.tree / "out.log").write_text("x")) == (True, True)


def test_a_forbidden_change_is_reported_with_the_content_from_before(ways: TwoWays) -> None:
    (ways.tree / "a.py").write_text("mine, before\n")
    shell = Shell(ways)
    shell.run()
    ways.claim("eve", "file:a.py", "exclusive")
    shell.run()
    assert ways.is_passed("PreToolUse", shell.said("PreToolUse", "last"))
    (ways.tree / "a.py").write_text("by a command\n")
    said = shell.said("PostToolUse", "last")
    assert not ways.is_passed("PostToolUse", said)
    context = ways.ask("PostToolUse", said).context
    assert "eve holds file:a.py" in context
    oid = context.partition("cat-file blob ")[2].split()[0]
    assert ways.repo.git("cat-file", "blob", oid) == "mine, before"


def test_a_message_is_told_after_the_command(shell: Shell) -> None:
    said = shell.said("PostToolUse", "last")
    assert shell.ways.is_passed("PreToolUse", shell.said("PreToolUse", "last"))
    shell.ways.say("claude-1")
    assert not shell.ways.is_passed("PostToolUse", said)
    assert "> hello" in shell.ways.ask("PostToolUse", said).context


@pytest.mark.parametrize("by_stub", [True, False])
def test_after_an_edit_the_tree_is_looked_at_again(shell: Shell, by_stub: bool) -> None:
    ways = shell.ways
    ways.pre()
    (ways.tree / "a.py").write_text("edited\n")
    said = ways.said("PostToolUse", ways.tree / "a.py")
    if by_stub:
        assert ways.is_passed("PostToolUse", said)
    else:
        assert is_silent(ways.ask("PostToolUse", said))
    assert shell.run() == (False, True)
    assert shell.run() == (True, True)


def test_an_end_without_a_beginning_and_a_second_end_are_asked(shell: Shell) -> None:
    assert not shell.ways.is_passed("PostToolUse", shell.said("PostToolUse", "never"))
    assert shell.ways.is_passed("PreToolUse", shell.said("PreToolUse", "once"))
    assert shell.ways.is_passed("PostToolUse", shell.said("PostToolUse", "once"))
    assert not shell.ways.is_passed("PostToolUse", shell.said("PostToolUse", "once"))


@pytest.mark.parametrize("name", ["päth.txt", 'a"b.txt', "tab\t.txt"])
def test_names_that_git_quotes_are_compared_by_lineclear(ways: TwoWays, name: str) -> None:
    (ways.tree / name).write_text("x")
    shell = Shell(ways)
    shell.run()
    assert shell.run() == (False, False)


def test_a_git_that_is_pointed_elsewhere_is_not_believed(shell: Shell) -> None:
    said = shell.said("PreToolUse", "x")
    assert shell.ways.is_passed("PreToolUse", said)
    after = shell.said("PostToolUse", "x")
    assert not shell.ways.is_passed("PostToolUse", after, GIT_INDEX_FILE="/nowhere")


def test_marks_of_calls_that_passed_are_cleared_away(shell: Shell) -> None:
    for _ in range(3):
        shell.run()
    (shell.ways.state / "sessions/claude-s1.edited").touch()
    shell.run()
    assert len(list((shell.ways.state / "sessions").glob("*.call-*"))) <= 1
