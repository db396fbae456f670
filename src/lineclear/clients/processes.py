"""Starts clients as processes of this host, for the supervisor. Each run has a directory for its files."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING
from uuid import uuid4

from lineclear.clients.launch import PROMPT_INPUT, Launch
from lineclear.clients.registry import CLIENTS, start_of, stream_of, why_missing
from lineclear.core.agents.identity import SIGNS
from lineclear.core.tasks.states import show_id
from lineclear.host import process_groups
from lineclear.host.files import write_atomically

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from lineclear.app.runs.ports import OutputReader, RunBond
    from lineclear.app.runs.workers import RunPlace, WorkerSlot
    from lineclear.core.log.tables import Run
    from lineclear.core.runs.client_events import Usage
    from lineclear.host.process_groups import ClientProcess

PROMPT = "prompt.md"
# Variables that would tell a client it runs inside another agent's session, or bind git to one repository.
_FOREIGN = frozenset(
    (*SIGNS, "LINECLEAR_TOKEN", "GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_COMMON_DIR", "GIT_PREFIX")
)


class ClientProcesses:
    """Starts clients, finds them again, and reads what they write.

    `git_dir_of(worktree)` is its git directory; `sandboxed(tree, argv, tmp, writable)` returns the command
    line inside a sandbox; `checks` are commands that an agent may run itself.
    """

    def __init__(
        self,
        directory: str,
        environ: Mapping[str, str],
        *,
        common_dir: str,
        git_dir_of: Callable[[str], str],
        checks: Sequence[str],
        log_bytes: int,
        sandboxed: Callable[[str, list[str], str, list[str]], list[str]],
        hold_bond: Callable[[], tuple[str, RunBond]],
        new_token: Callable[[], tuple[str, str]],
    ) -> None:
        self._directory, self._environ, self._common_dir = directory, environ, common_dir
        self._git_dir_of, self._checks, self._log_bytes = git_dir_of, list(checks), log_bytes
        self._sandbox, self.hold_bond, self.new_token = sandboxed, hold_bond, new_token

    def directory(self, run: int) -> str:
        return os.path.join(self._directory, str(run))

    def start(
        self,
        slot: WorkerSlot,
        place: RunPlace,
        run: int,
        prompt: str,
        token: str,
        bond: RunBond,
        resume: str,
    ) -> tuple[ClientProcess, str]:
        directory = self.directory(run)
        os.makedirs(directory, mode=0o700, exist_ok=True)
        prompt_file = os.path.join(directory, PROMPT)
        write_atomically(prompt_file, prompt.encode())
        launch = Launch(
            prompt=prompt,
            prompt_file=prompt_file,
            model=slot.model,
            permissions=slot.permissions,
            resume_session=resume,
            session="" if resume else str(uuid4()),
            allowed_commands=self._checks,
            worktree=place.path,
            git_dir=self._git_dir_of(place.path),
            common_dir=self._common_dir,
            command=slot.command or CLIENTS[slot.client].program.split(),
        )
        started = start_of(slot.client).launch(launch)
        env = {**self._environment(slot, place, token, prompt_file), **started.env}
        argv = self._sandboxed(slot, place, run, started.argv)
        group = process_groups.start(
            argv,
            cwd=place.path,
            env=env,
            directory=directory,
            mark=_mark(run, bond.name),
            stdin=prompt_file if started.stdin == PROMPT_INPUT else "",
            bond_fd=bond.inheritable(),
        )
        return group, started.session

    def _environment(self, slot: WorkerSlot, place: RunPlace, token: str, prompt_file: str) -> dict[str, str]:
        environ = {name: value for name, value in self._environ.items() if name not in _FOREIGN}
        ours = {
            "LINECLEAR_AGENT": slot.agent,
            "LINECLEAR_TOKEN": token,
            "LINECLEAR_TASK": show_id(slot.task),
            "LINECLEAR_PROMPT": prompt_file,
            # Names the agent in main's reflog if it moves main with git.
            "GIT_REFLOG_ACTION": f"lineclear:{slot.agent}",
            "PWD": place.path,
            "PATH": _path_with_us(environ),
        }
        return {**environ, **place.env, **slot.env, **ours}

    def _sandboxed(self, slot: WorkerSlot, place: RunPlace, run: int, argv: list[str]) -> list[str]:
        if slot.sandbox == "off" or not place.tree:
            return argv
        tmp = os.path.join(self.directory(run), "tmp")
        os.makedirs(tmp, mode=0o700, exist_ok=True)
        homes = [os.path.expanduser(path) for path in CLIENTS[slot.client].home_paths]
        return self._sandbox(place.tree, argv, tmp, [path for path in homes if os.path.exists(path)])

    def find_again(self, run: Run) -> ClientProcess:
        return process_groups.find_again(self.directory(run.id), _mark(run.id, run.bond))

    def reader(self, slot: WorkerSlot, place: RunPlace, before: Usage | None = None) -> OutputReader:
        return stream_of(slot.stream).reader(place.path, before)

    def why_missing(self, slot: WorkerSlot, error: OSError) -> str:
        if isinstance(error, FileNotFoundError) and error.filename:
            return why_missing(slot.client, str(error.filename))
        return f"{os.strerror(error.errno or 0)}: {error.filename or slot.client}"

    def forget(self, run: int) -> None:
        process_groups.cut_output(self.directory(run), self._log_bytes)
        for name in (process_groups.PID, process_groups.EXIT):
            try:
                os.unlink(os.path.join(self.directory(run), name))
            except OSError:
                pass


def _mark(run: int, bond: str) -> str:
    """The mark of a run's processes. The bond's random part makes it unique across repositories."""
    return f"{run}-{bond.rpartition('-')[2]}"


def _path_with_us(environ: Mapping[str, str]) -> str:
    """The PATH, with our own directory if needed: `lineclear` must work even from a virtual environment."""
    ours = os.path.dirname(os.path.abspath(sys.argv[0]))
    path = environ.get("PATH", os.defpath)
    if os.path.exists(os.path.join(ours, "lineclear")) and ours not in path.split(os.pathsep):
        return f"{path}{os.pathsep}{ours}"
    return path
