"""A supervisor at work on scripted agents, all real processes: started, watched, signalled, killed.

Agents are shell scripts that learn from LINECLEAR_TASK what is theirs to do. They wait for files in `marks`
instead of sleeping, so that a test decides the order of things.
"""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from lineclear.app.log import audit, entries_after
from lineclear.core.log.tables import RUN, TASK, LogEntry, Run, Task
from lineclear.core.tasks.states import show_id
from lineclear.wiring.repo import open_repo
from lineclear.wiring.runs import supervision_of
from tests.e2e.commandline import Answer, CommandLine
from tests.repository import TemporaryRepo
from tests.waiting import PATIENCE_S

# Short, so that a test of what happens in the end need not wait for it.
QUICK = {"LINECLEAR_RUN_GRACE": "1s", "LINECLEAR_TASKS_ATTEMPTS": "1"}


class Shift:
    """One `lineclear run`, going on by itself; what it says is in a file."""

    def __init__(self, argv: list[str], place: Path, environ: Mapping[str, str], log: Path) -> None:
        self._log = log
        with log.open("wb") as said:
            self.process = subprocess.Popen(
                argv,
                cwd=place,
                env=dict(environ),
                stdin=subprocess.DEVNULL,
                stdout=said,
                stderr=said,
                start_new_session=True,
            )

    @property
    def said(self) -> str:
        return self._log.read_text(errors="replace")

    def interrupt(self) -> None:
        """Ctrl-C: a terminal sends it to everybody in the foreground, the gits of a supervisor included."""
        os.killpg(self.process.pid, signal.SIGINT)

    def kill(self) -> None:
        """`kill -9`: nothing is told to anybody."""
        self.process.kill()
        self.process.wait()

    def code(self) -> int:
        """Its exit code, once it has ended."""
        try:
            return self.process.wait(PATIENCE_S)
        except subprocess.TimeoutExpired:
            raise AssertionError(f"it goes on and on:\n{self.said}") from None

    @property
    def is_over(self) -> bool:
        return self.process.poll() is not None


class Crew:
    """A repository with tasks, a script for its agents, and whoever supervises them."""

    def __init__(self, git: TemporaryRepo) -> None:
        self.git = git
        # Several commits of one second must not be one commit.
        environ = {name: value for name, value in git.environment.items() if not name.endswith("_DATE")}
        git.environment = environ
        self.environ = {**environ, **QUICK}
        self.line = CommandLine(git.path, self.environ)
        self.line.ok("init")
        self.marks = git.path.parent / "marks"
        self.marks.mkdir()
        self.repo = open_repo(str(git.path), self.environ)
        self._shifts: list[Shift] = []

    def close(self) -> None:
        for shift in self._shifts:
            if not shift.is_over:
                shift.kill()
        for pid in self.processes():
            os.kill(pid, signal.SIGKILL)
        self.line.end_all()
        self.repo.close()

    # -- what is to be done -------------------------------------------------------------------

    def task(self, title: str, *options: str) -> int:
        return int(self.line.json("task", "add", title, *options)["task"]["id"][2:])

    def script(self, **parts: str) -> list[str]:
        """A command for all agents: `T1="..."` is what is done for task T-1; no part, nothing done."""
        cases = "\n".join(f"{name.replace('T', 'T-')})\n{body}\n;;" for name, body in parts.items())
        path = self.git.path.parent / f"agent-{len(list(self.git.path.parent.glob('agent-*')))}.sh"
        path.write_text(
            f"""cat >/dev/null
marks={shlex.quote(str(self.marks))}
lineclear() {{ {self.line.shell()} "$@"; }}
mark() {{ : >"$marks/$1"; }}
await() {{ until [ -e "$marks/$1" ]; do sleep 0.05; done; }}
commit() {{ echo "$2" >"$1"; git add -A; git commit --quiet --message="$1"; }}
case $LINECLEAR_TASK in
{cases}
esac
"""
        )
        return ["sh", str(path)]

    def write_workers(self, **workers: Mapping[str, object]) -> None:
        """Who works here, in the clone's own settings, which need no trust."""
        lines = []
        for name, settings in workers.items():
            lines.append(f"[workers.{name}]")
            lines += [f"{key} = {json.dumps(value)}" for key, value in settings.items()]
        (self.git.path / ".git" / "lineclear" / "local.toml").write_text("\n".join(lines) + "\n")

    def mark(self, name: str) -> None:
        (self.marks / name).touch()

    def is_marked(self, name: str) -> bool:
        return (self.marks / name).exists()

    # -- the supervisor -----------------------------------------------------------------------

    def run(self, *words: str, command: list[str], env: Mapping[str, str] | None = None) -> Shift:
        tail = ["--", *command] if command else []
        log = self.git.path.parent / f"said-{len(self._shifts)}"
        environ = {**self.line.environment, **(env or {})}
        shift = Shift(self.line.argv("run", *words, *tail), self.git.path, environ, log)
        self._shifts.append(shift)
        return shift

    def run_whole(
        self, *words: str, command: list[str], env: Mapping[str, str] | None = None, code: int = 0
    ) -> Shift:
        """One that ends by itself, as it should."""
        shift = self.run(*words, command=command, env=env)
        assert shift.code() == code, shift.said
        return shift

    def until_heeding(self, shift: Shift) -> None:
        """Until it has taken over: from then on Ctrl-C is a wish, not a death."""
        self.until(
            lambda: (supervision_of(self.repo).read_status() or {}).get("pid") == shift.process.pid, shift
        )

    def ask(self, *words: str, env: Mapping[str, str] | None = None) -> Answer:
        return self.line.run(*words, env=env)

    # -- what became of it --------------------------------------------------------------------

    def row(self, task: int) -> Task:
        found = self.repo.store.read(lambda view: view.get(TASK, (task,)))
        assert found is not None, task
        return found

    def runs(self, task: int) -> list[Run]:
        return self.repo.store.read(lambda view: view.scan(RUN, "task", (task,)))

    def ends(self, task: int) -> list[str]:
        return [run.how for run in self.runs(task)]

    def events(self, kind: str, task: int = 0) -> list[LogEntry]:
        entries = self.repo.store.read(lambda view: list(entries_after(view, 0)))
        subject = show_id(task) if task else ""
        return [e for e in entries if e.kind == kind and (not subject or e.subject == subject)]

    def until(self, is_so: Callable[[], object], shift: Shift | None = None) -> None:
        deadline = time.monotonic() + PATIENCE_S
        while not is_so():
            said = shift.said if shift is not None else ""
            assert time.monotonic() < deadline, f"it did not come to pass\n{said}"
            assert shift is None or not shift.is_over or is_so(), f"the run has ended before\n{said}"
            time.sleep(0.02)

    def until_marked(self, name: str, shift: Shift | None = None) -> None:
        self.until(lambda: self.is_marked(name), shift)

    def on_main(self, name: str) -> str | None:
        """The file as main has it."""
        found = self.git.git("ls-tree", "--name-only", "main", "--", name)
        return self.git.git("show", f"main:{name}") if found else None

    def tree_of(self, agent: str) -> Path:
        return self.git.path.parent / f"{self.git.path.name}.worktrees" / agent

    def rescued(self, commit: str, name: str) -> str:
        """What a person gets who brings this snapshot back as a branch."""
        branch = f"rescued-{commit[:12]}"
        if not self.git.git("branch", "--list", branch):
            self.line.ok("salvage", "restore", commit, "--branch", branch)
        return self.git.git("show", f"{branch}:{name}")

    def processes(self) -> list[int]:
        """Whoever still runs of all that runs of this repository have started."""
        mark = f"LINECLEAR_PROMPT={self.git.path}/".encode()
        found = []
        for entry in Path("/proc").iterdir():
            try:
                if entry.name.isdigit() and mark in (entry / "environ").read_bytes() and _is_alive(entry):
                    found.append(int(entry.name))
            except OSError:
                continue
        return found

    def findings(self) -> Any:
        return audit(self.repo.store)["findings"]


def _is_alive(process: Path) -> bool:
    return (process / "stat").read_text().rpartition(")")[2].split()[0] not in ("Z", "X")
