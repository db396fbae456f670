"""The machines of the team, the lines to their store and remote, and their processes.

As root each machine is a network and process namespace of its own, joined to the others by a bridge. All of
them lie inside one namespace that `enter_namespaces` makes before anything else is started: when its first
process ends, in whatever way, the kernel ends the rest. Without root a machine is a clone whose line to the
store goes through a proxy; a shell that waits on our pipe ends what is left.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import lineclear
from lineclear.wiring.setup import stub_text
from tests.integration.postgres.slow_line import SlowLine, slow_line
from tests.postgres_server import Server
from tests.repository import TemporaryRepo

MARK = "TEAM_FAULTS_PLACE"
NETWORK = "10.77.0"
HUB = f"{NETWORK}.1"
SETTINGS = '[repo]\nid = "team"\n[queue]\nremote = "origin"\n'
APART = ["unshare", "--net", "--pid", "--fork", "--kill-child", "--mount-proc"]
# The first process of a namespace has to wait for orphans, which a shell does while it waits for a child.
_FIRST = ["sh", "-c", '"$@"; exit $?', "first"]
_KEEPER = f"""cat >/dev/null
exec 2>/dev/null
for process in /proc/[0-9]*; do
  tr '\\0' '\\n' <"$process/environ" | grep -qx "{MARK}=$1" && kill -9 "${{process#/proc/}}"
done"""


def can_have_namespaces() -> bool:
    if os.geteuid() != 0 or not all(shutil.which(name) for name in ("ip", "unshare", "nsenter")):
        return False
    trial = "ip link add br0 type bridge && ip link add one type veth peer name two"
    return subprocess.run([*APART, "sh", "-c", trial], capture_output=True, check=False).returncode == 0


def enter_namespaces(argv: list[str]) -> None:
    """Become this command inside new namespaces."""
    os.execvp(APART[0], [*APART, *_FIRST, *argv])


def show_processes(place: Path) -> dict[int, list[str]]:
    """All processes that the machines have started, with their words."""
    mark, found = f"{MARK}={place}".encode(), {}
    for entry in Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and mark in (entry / "environ").read_bytes().split(b"\0"):
                words = (entry / "cmdline").read_bytes().decode(errors="replace").split("\0")
                found[int(entry.name)] = words
        except OSError:
            continue
    return found


class Machine:
    """A clone, its `run` and its `serve`. `first` is the first process of its namespaces, if it has any."""

    def __init__(
        self, number: int, clone: TemporaryRepo, url: str, place: Path, *, first: int = 0,
        line: SlowLine | None = None,
    ) -> None:  # fmt: skip
        self.number, self.clone, self.place = number, clone, place
        self._first, self._line = first, line
        self.environment = {
            **{name: value for name, value in clone.environment.items() if not name.endswith("_DATE")},
            MARK: str(place), "LINECLEAR_STORE_URL": url, "LINECLEAR_RUN_GRACE": "2s",
            "PYTHONPATH": str(Path(lineclear.__file__).parents[1]),
        }  # fmt: skip
        self.running: dict[str, subprocess.Popen[bytes]] = {}
        self._log_bytes, self._run_started_at = 0, 0.0

    @property
    def name(self) -> str:
        return f"machine {self.number}"

    def log_of(self, what: str) -> Path:
        return self.place / f"{what}-{self.number}.log"

    def _argv(self, words: list[str]) -> list[str]:
        argv = [sys.executable, "-m", "lineclear", *words]
        if not self._first:
            return argv
        where = ["nsenter", f"--target={self._first}", "--net", "--pid", "--mount", f"--wd={self.clone.path}"]
        return [*where, "--", *argv]

    def ok(self, *words: str) -> None:
        done = subprocess.run(
            self._argv(list(words)), cwd=self.clone.path, env=self.environment, capture_output=True,
            text=True, check=False, timeout=120,
        )  # fmt: skip
        if done.returncode:
            raise RuntimeError(f"lineclear {' '.join(words)}: {done.returncode}\n{done.stdout}{done.stderr}")

    def start(self, what: str, *words: str) -> None:
        with self.log_of(what).open("ab") as log:
            if what == "serve":
                self._log_bytes = log.tell()
            else:
                self._run_started_at = time.time()
            self.running[what] = subprocess.Popen(
                self._argv([what, *words]), cwd=self.clone.path, env=self.environment,
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True,
            )  # fmt: skip

    def is_up(self, what: str) -> bool:
        """Has it taken over? Before, it may refuse to start without the store."""
        if what == "serve":
            return b"lineclear serves" in self.log_of(what).read_bytes()[self._log_bytes :]
        status = self.clone.path / ".git" / "lineclear" / "supervisor.json"
        return status.exists() and status.stat().st_mtime > self._run_started_at

    def pid_of(self, what: str) -> int:
        """Of the program itself; `nsenter` waits for it as its parent. 0 if it has ended."""
        process = self.running[what]
        if not self._first:
            return process.pid if process.poll() is None else 0
        try:
            children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
        except OSError:
            return 0
        return int(children[0]) if children else 0

    def send(self, what: str, number: signal.Signals) -> None:
        pid = self.pid_of(what)
        if pid:
            os.kill(pid, number)

    def kill(self, what: str) -> None:
        self.send(what, signal.SIGKILL)
        self.running[what].wait(60)

    def cut(self) -> None:
        """Drop every packet in both directions, without closing a connection."""
        if self._line is not None:
            self._line.freeze()
        else:
            set_line(self.number, "down")

    def repair(self) -> None:
        if self._line is not None:
            self._line.repair()
        else:
            set_line(self.number, "up")


def set_line(number: int, state: str) -> None:
    """Between a machine's namespaces and the bridge: "up", or "down" without a word to either side."""
    _ip("link", "set", f"to{number}", state)


def _ip(*words: str, inside: int = 0) -> None:
    enter = ["nsenter", f"--target={inside}", "--net", "--"] if inside else []
    subprocess.run([*enter, "ip", *words], check=True)


@contextmanager
def open_machines(
    server: Server, database: str, origin: TemporaryRepo, place: Path, count: int, *, apart: bool
) -> Iterator[list[Machine]]:
    """Make the remote and the clones. `apart`: in namespaces of their own; we are inside the outer ones."""
    remote = place / "remote.git"
    origin.git("clone", "-q", "--bare", str(origin.path), str(remote))
    origin.git("config", "core.logAllRefUpdates", "always", at=remote)
    with ExitStack() as stack:
        machines = []
        if apart:
            stack.enter_context(_remote_at_the_hub(place))
        for number in range(1, count + 1):
            path = place / f"clone-{number}"
            origin.git("clone", "-q", f"git://{HUB}/remote.git" if apart else str(remote), str(path))
            clone = TemporaryRepo(path, origin.environment)
            if apart:
                first = stack.enter_context(namespaces(number))
                url = f"postgresql://postgres@{HUB}/{database}?sslmode=disable&gssencmode=disable"
                machine = Machine(number, clone, url, place, first=first)
            else:
                line = stack.enter_context(slow_line(server.url(database)))
                machine = Machine(number, clone, line.url, place, line=line)
            machines.append(machine)
        stack.enter_context(_swept(place))
        for machine in machines:
            machine.ok("init", "--store", machine.environment["LINECLEAR_STORE_URL"])
            machine.ok("trust")
            stub = machine.clone.path / ".git" / "lineclear" / "hook"
            stub.write_text(stub_text(sys.executable))
            stub.chmod(0o755)
        yield machines


def prepare_hub() -> None:
    """The bridge to which all machines are joined, at the address of the store and the remote."""
    _ip("link", "set", "lo", "up")
    _ip("link", "add", "br0", "type", "bridge")
    _ip("addr", "add", f"{HUB}/24", "dev", "br0")
    _ip("link", "set", "br0", "up")


@contextmanager
def _remote_at_the_hub(place: Path) -> Iterator[None]:
    words = [
        f"--listen={HUB}",
        f"--base-path={place}",
        "--export-all",
        "--enable=receive-pack",
        "--reuseaddr",
    ]
    daemon = subprocess.Popen(["git", "daemon", *words], start_new_session=True)
    try:
        _until_it_answers(f"git://{HUB}/remote.git")
        yield
    finally:
        os.killpg(daemon.pid, signal.SIGKILL)
        daemon.wait()


def _until_it_answers(url: str) -> None:
    deadline = time.monotonic() + 30
    while subprocess.run(["git", "ls-remote", url], capture_output=True, check=False).returncode:
        if time.monotonic() > deadline:
            raise RuntimeError("git daemon does not answer")
        time.sleep(0.1)


@contextmanager
def namespaces(number: int) -> Iterator[int]:
    """A machine's namespaces, until its first process, which reads our pipe, ends. Yields that one's pid."""
    argv = [*APART, "sh", "-c", "echo; cat; exit"]
    outer = subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    try:
        assert outer.stdout is not None
        outer.stdout.readline()
        first = int(Path(f"/proc/{outer.pid}/task/{outer.pid}/children").read_text().split()[0])
        _ip("link", "add", f"to{number}", "type", "veth", "peer", "name", "eth0", "netns", str(first))
        _ip("link", "set", f"to{number}", "master", "br0", "up")
        _ip("link", "set", "lo", "up", inside=first)
        _ip("addr", "add", f"{NETWORK}.{number + 1}/24", "dev", "eth0", inside=first)
        _ip("link", "set", "eth0", "up", inside=first)
        yield first
    finally:
        outer.kill()
        outer.communicate()


@contextmanager
def _swept(place: Path) -> Iterator[None]:
    """At the end, even if we are killed, no process of the machines is left."""
    keeper = subprocess.Popen(
        ["sh", "-c", _KEEPER, "keeper", str(place)], stdin=subprocess.PIPE, start_new_session=True
    )
    try:
        yield
    finally:
        keeper.communicate()
