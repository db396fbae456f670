"""A repository with check trees, for tests of what runs in them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from lineclear.app.ports import Caller
from lineclear.app.queue.check_runner import CheckResult
from lineclear.core.queue.checks import Check
from lineclear.wiring.checks import check_runner, check_trees, repo_at
from lineclear.wiring.repo import Repo, open_repo
from lineclear.wiring.starting import init_repo
from lineclear.wiring.trust import trust_of
from tests.repository import TemporaryRepo

SAM = Caller("sam", is_person=True)

# A process of its own that runs one check on a commit in the first free tree, as the queue does.
PROGRAM = """
import os, sys, threading
from lineclear.core.queue.checks import Check
from lineclear.wiring.checks import check_runner, check_trees, repo_at
from lineclear.wiring.repo import open_repo
commit, count, command = sys.argv[1], int(sys.argv[2]), sys.argv[3]
repo = open_repo(os.getcwd(), dict(os.environ))
at_main = repo_at(repo, "main")
tree = check_trees(repo, at_main).hold_any(count)
check = Check(command, timeout_ms=60_000)
ended = check_runner(at_main).run(commit, tree, [check], cancel=threading.Event())
print(tree.name, *(one.code for one in ended), flush=True)
"""


def check(command: str, *, timeout_ms: int = 60_000, retries: int = 0) -> Check:
    """As a person states it in this clone: it needs no trust."""
    return Check(command, timeout_ms=timeout_ms, retries=retries)


class Range:
    """One clone. `state` writes this clone's own settings, which need no trust."""

    def __init__(self, git: TemporaryRepo, *, environment: Mapping[str, str] | None = None) -> None:
        self.git, self.path = git, git.path
        self.environment = {**git.environment, **(environment or {})}
        self.beside = git.path.parent / f"{git.path.name}.worktrees"
        self.first = self.beside / ".checks" / "check-1"
        init_repo(str(git.path), git.environment)
        self.repo: Repo = open_repo(str(git.path), self.environment)

    def open_again(self) -> None:
        self.repo.close()
        self.repo = open_repo(str(self.path), self.environment)

    def state(self, text: str) -> None:
        (self.path / ".git/lineclear/local.toml").write_text(text)
        self.open_again()

    def trust_all(self) -> None:
        self.open_again()
        trust_of(self.repo).record(SAM, trust_of(self.repo).judged())

    def candidate(self, files: Mapping[str, str | None]) -> str:
        """A commit on top of main that is on no branch; None takes a file out."""
        self.git.git("checkout", "--quiet", "--detach", "main")
        for name, text in files.items():
            if text is None:
                self.git.git("rm", "--quiet", "--", name)
            else:
                (self.path / name).parent.mkdir(parents=True, exist_ok=True)
                (self.path / name).write_text(text)
                self.git.git("add", "--force", "--", name)
        self.git.git("commit", "--quiet", "--allow-empty", "--message=Candidate")
        commit = self.git.git("rev-parse", "HEAD")
        self.git.git("checkout", "--quiet", "main")
        return commit

    def run(
        self,
        commit: str,
        *checks: Check | str,
        cancel: threading.Event | None = None,
        main: str = "main",
        env: Mapping[str, str] | None = None,
    ) -> list[CheckResult]:
        """In the first tree that is free, as the queue would."""
        wanted = [check(one) if isinstance(one, str) else one for one in checks]
        at_main = repo_at(self.repo, main)
        tree = check_trees(self.repo, at_main).hold_any(4)
        assert tree is not None
        with tree:
            return check_runner(at_main).run(
                commit, tree, wanted, cancel=cancel or threading.Event(), env=env
            )

    def tail(self, commit: str, command: str) -> str:
        (ended,) = self.run(commit, command)
        assert ended.is_green, ended.words
        return ended.tail.strip()

    def start(self, commit: str, command: str, *, count: int = 4) -> subprocess.Popen[str]:
        """The same in a process of its own, with a session of its own."""
        return subprocess.Popen(
            [sys.executable, "-c", PROGRAM, commit, str(count), command],
            cwd=self.path,
            env=self.environment,
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )


def kill(child: subprocess.Popen[str], *, with_all: bool = False) -> None:
    """As if the power of one process, or of its whole group, had been cut."""
    if with_all:
        os.killpg(child.pid, signal.SIGKILL)
    child.kill()
    child.wait()
    if child.stdout is not None:
        child.stdout.close()


@contextmanager
def open_range(git: TemporaryRepo, *, environment: Mapping[str, str] | None = None) -> Iterator[Range]:
    found = Range(git, environment=environment)
    try:
        yield found
    finally:
        found.repo.close()


def is_clean(git: TemporaryRepo, tree: Path, commit: str) -> bool:
    """Is the tree at the commit, file by file, with nothing untracked in it?"""
    head = git.git("rev-parse", "HEAD", at=tree)
    return head == commit and git.git("status", "--porcelain", at=tree) == ""
