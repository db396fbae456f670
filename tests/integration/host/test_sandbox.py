"""The sandbox with real bubblewrap: what can be written, what cannot, and what passes through."""

from __future__ import annotations

import fcntl
import os
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from lineclear.host import sandbox
from tests.repository import TemporaryRepo

pytestmark = pytest.mark.usefixtures("bubblewrap")


class Box:
    """Two agents' worktrees; commands run in the sandbox of the first."""

    def __init__(self, repo: TemporaryRepo) -> None:
        self.repo = repo
        self.mine, self.other = repo.add_worktree("ada"), repo.add_worktree("ben")
        self.tmp = repo.path.parent / "private-tmp"
        self.cache = repo.path.parent / "cache"
        self.tmp.mkdir()
        self.cache.mkdir()

    def run(self, command: str, *, keep: tuple[int, ...] = ()) -> subprocess.CompletedProcess[str]:
        argv = sandbox.wrap(
            ["sh", "-c", command],
            worktree=str(self.mine),
            common_dir=str(self.repo.path / ".git"),
            git_dir=str(self.repo.path / ".git/worktrees/ada"),
            main_ref="refs/heads/main",
            tmp=str(self.tmp),
            writable=[str(self.cache)],
        )
        return subprocess.run(
            argv, env=self.repo.environment, capture_output=True, text=True, check=False, pass_fds=keep
        )

    def can_write(self, path: Path) -> bool:
        done = self.run(f"echo x > '{path}'")
        assert done.returncode == 0 or "Read-only file system" in done.stderr, done
        return done.returncode == 0


@pytest.fixture
def box(repo: TemporaryRepo) -> Iterator[Box]:
    """Outside of /tmp: what is there is hidden by the private one, not read-only."""
    with tempfile.TemporaryDirectory(prefix="lineclear-", dir="/var/tmp") as place:
        yield Box(TemporaryRepo.create(Path(place).resolve() / "repo", repo.environment))


def test_the_worktree_and_what_is_stated_can_be_written(box: Box) -> None:
    assert box.can_write(box.mine / "new")
    assert (box.mine / "new").read_text() == "x\n"
    assert box.can_write(box.cache / "new")
    assert box.run("echo x > /dev/null && cat /proc/self/status > /dev/null").returncode == 0


def test_all_else_can_be_read_but_not_written(box: Box) -> None:
    assert not box.can_write(box.other / "README.md")
    assert not box.can_write(box.repo.path / "README.md")
    for name in ("config", "new", "hooks/pre-commit", "info/attributes", "refs/lineclear/x"):
        assert not box.can_write(box.repo.path / ".git" / name)
    assert not box.can_write(Path("/etc/lineclear-test"))
    assert box.run(f"cat '{box.repo.path}/README.md'").stdout == "# Sample\n"
    assert (box.other / "README.md").read_text() == "# Sample\n"


def test_git_commits_in_the_sandbox(box: Box) -> None:
    done = box.run(
        "echo x > file && git add file && git commit --quiet --message=Inside && git status --short"
    )
    assert (done.returncode, done.stdout) == (0, "")
    assert box.repo.git("log", "-1", "--format=%s", "ada") == "Inside"


def test_a_repository_in_tmp_works_as_well(repo: TemporaryRepo) -> None:
    box = Box(repo)
    done = box.run("echo x > file && git add file && git commit --quiet --message=Inside")
    assert done.returncode == 0, done
    assert box.run(f"cat '{repo.path}/README.md'").stdout == "# Sample\n"
    assert box.run(f"echo x > '{repo.path}/README.md'").returncode != 0
    assert box.run(f"echo x > '{box.other}/README.md'").returncode != 0


def test_tmp_is_its_own(box: Box) -> None:
    name = f"lineclear-private-{os.getpid()}"
    assert box.run(f"echo x > /tmp/{name}").returncode == 0
    assert (box.tmp / name).exists()
    assert not Path(f"/tmp/{name}").exists()


def test_it_begins_in_the_worktree_and_ends_as_the_command_did(box: Box) -> None:
    done = box.run("pwd; exit 7")
    assert (done.returncode, done.stdout) == (7, f"{box.mine}\n")


def test_a_bond_passes_through(box: Box) -> None:
    """A lock on an inherited descriptor lasts as long as the command in the sandbox has it."""
    path = box.repo.path.parent / "bond"
    fd = os.open(path, os.O_RDWR | os.O_CREAT)
    fcntl.flock(fd, fcntl.LOCK_EX)
    argv = f"test -e /proc/self/fd/{fd} && echo held"
    assert box.run(argv, keep=(fd,)).stdout == "held\n"
    os.close(fd)
    again = os.open(path, os.O_RDWR)
    fcntl.flock(again, fcntl.LOCK_EX | fcntl.LOCK_NB)  # nothing of the sandbox has kept it
    os.close(again)


def test_nothing_outside_is_reached_through_other_processes(box: Box) -> None:
    assert box.run(f"ls /proc/{os.getpid()}").returncode != 0
    assert box.run("echo x > /proc/1/root/etc/lineclear-test").returncode != 0


@pytest.mark.parametrize("is_stated", [False, True])
@pytest.mark.parametrize("hidden", ["doors", "doors/socket"])
def test_sockets_of_programs_that_start_others_are_hidden(
    box: Box, monkeypatch: pytest.MonkeyPatch, hidden: str, is_stated: bool
) -> None:
    """A session's bus or Docker would run a command outside. A person may open one."""
    place = box.repo.path.parent
    (place / "doors").mkdir()
    monkeypatch.setattr(sandbox, "_DOORS", (str(place / hidden), "/not/there"))
    box.cache = place / "doors/socket" if is_stated else box.cache
    connect = "import socket, sys; socket.socket(socket.AF_UNIX).connect(sys.argv[1])"
    with socket.socket(socket.AF_UNIX) as door:
        door.bind(str(place / "doors/socket"))
        door.listen()
        done = box.run(f"{sys.executable} -c '{connect}' {place}/doors/socket")
    assert (done.returncode == 0) is is_stated, done


def test_what_it_left_in_the_background_ends_with_its_group(box: Box) -> None:
    """Also what began a session of its own: the sandbox's first process is in our group."""
    argv = sandbox.wrap(
        ["sh", "-c", "setsid sleep 600 & echo ready; exec sleep 600"],
        worktree=str(box.mine),
        common_dir=str(box.repo.path / ".git"),
        tmp=str(box.tmp),
    )
    child = subprocess.Popen(argv, stdout=subprocess.PIPE, start_new_session=True)
    assert child.stdout is not None
    with child.stdout:
        assert child.stdout.readline() == b"ready\n"
        os.killpg(child.pid, 9)
        child.wait(60)
        assert child.stdout.read() == b""  # all who held the pipe are gone


def test_without_the_program_the_reason_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    assert "not installed" in sandbox.why_unavailable()
