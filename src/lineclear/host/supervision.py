"""This host, for a supervisor: threads, processes, disk, its status file, and traces of earlier runs."""

from __future__ import annotations

import json
import os
import threading
from typing import TYPE_CHECKING

from lineclear.host import process_groups, processes
from lineclear.host.files import free_bytes, used_bytes, write_atomically

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from lineclear.app.ports import Liveness
    from lineclear.app.runs.ports import RunPorts
    from lineclear.core.log.tables import Run
    from lineclear.host.bonds import Bonds
    from lineclear.host.clock import HostClock
    from lineclear.host.threads import Jobs

THREADS_MAX = 40


class LocalHost:
    """Time, threads and processes of this host, for one supervisor. Each thread opens its own ports."""

    def __init__(
        self, jobs: Jobs, clock: HostClock, directory: str, open_ports: Callable[[], RunPorts]
    ) -> None:
        self._jobs, self._clock, self._directory, self._open_ports = jobs, clock, directory, open_ports
        self._own = threading.local()
        self._opened: list[RunPorts] = []

    def now_ns(self) -> int:
        return self._clock.now().tick_ns

    def submit(self, key: str, job: Callable[[RunPorts], Any], /) -> None:
        self._jobs.submit(key, lambda: job(self._ports()))

    def _ports(self) -> RunPorts:
        ports: RunPorts | None = getattr(self._own, "ports", None)
        if ports is None:
            ports = self._own.ports = self._open_ports()
            self._opened.append(ports)
        return ports

    def wait(self, timeout_s: float, /) -> list[tuple[str, Any]]:
        return self._jobs.wait(timeout_s)

    def interrupts(self) -> int:
        return self._jobs.interrupts

    def use(self, pids: list[int], /) -> dict[int, tuple[int, int]]:
        census, leaders = processes.take_census(), [pid for pid in pids if pid > 0]
        families = processes.families(
            census, leaders, processes.adopted(census, process_groups.MARK, leaders)
        )
        return {pid: (family.busy_ns, family.memory_bytes) for pid, family in families.items()}

    def is_worktree(self, path: str, /) -> bool:
        return is_worktree(path)

    def free_disk_bytes(self) -> int:
        return free_bytes(self._directory)

    def disk_use_bytes(self, path: str, /) -> int:
        return used_bytes(path)

    def close(self) -> None:
        for ports in self._opened:
            ports.store.close()


def is_worktree(path: str) -> bool:
    return bool(path) and os.path.lexists(os.path.join(path, ".git"))


class RunTraces:
    """What earlier supervisors of this clone left of their runs on this host.

    `host`: the part of this clone's bonds before "/"; it begins with the name of this boot.
    `directory_of(run)` is the directory of a run; `is_team`: other clones use the same store.
    """

    def __init__(
        self,
        host: str,
        bonds: Bonds,
        liveness: Liveness,
        clock: HostClock,
        directory_of: Callable[[int], str],
        *,
        is_team: bool,
    ) -> None:
        self._host, self._bonds, self._liveness, self._clock = host, bonds, liveness, clock
        self._directory_of, self._is_team = directory_of, is_team

    def is_of_this_clone(self, run: Run) -> bool:
        """A team's store also has the runs of other clones; their directories are elsewhere."""
        if not self._is_team:
            return True
        host, _, name = run.bond.partition("/")
        is_here = host == self._host and self._bonds.is_held(name)
        return is_here or os.path.isdir(self._directory_of(run.id))

    def is_of_earlier_boot(self, run: Run) -> bool:
        return not run.bond.startswith(self._host.partition(".")[0])

    def is_bond_free(self, run: Run) -> bool:
        return not self._bonds.is_held(run.bond.partition("/")[2])

    def is_unattended(self, bond: str) -> bool:
        """On this host a free bond counts at once, without the usual grace: only a supervisor restarts its
        agents, and it is not there."""
        host, _, name = bond.partition("/")
        if host == self._host:
            return not self._bonds.is_held(name)
        return self._liveness.is_dead(bond)

    def age_ns(self, run: Run) -> int:
        return self._clock.now().wall_ns - run.started_ns

    def oom_kills(self) -> int:
        return processes.oom_kills()


class StatusFile:
    """What the live supervisor last wrote about its agents."""

    def __init__(self, path: str) -> None:
        self._path = path

    def write(self, status: dict[str, Any]) -> None:
        text = json.dumps({"pid": os.getpid(), **status})
        try:
            write_atomically(self._path, text.encode(), is_durable=False, temporary=f"{self._path}.new")
        except OSError:
            pass  # a full disk must not end the supervisor

    def read(self) -> dict[str, Any] | None:
        try:
            with open(self._path, encoding="utf-8") as file:
                found = json.load(file)
        except (OSError, ValueError):
            return None
        return found if isinstance(found, dict) else None

    def remove(self) -> None:
        try:
            os.unlink(self._path)
        except OSError:
            pass
