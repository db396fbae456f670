"""What the supervisor needs from outside: clients as processes, worktrees, snapshots, landing.

Each thread of a supervisor has `RunPorts` of its own.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from typing import Any, Protocol

    from lineclear.app.ports import Caller, Liveness, Presence, Store
    from lineclear.app.queue.runner import QueueNews
    from lineclear.app.runs.workers import (
        CheckedRun,
        LandingResult,
        QueueResult,
        RunPlace,
        RunSnapshot,
        WorkerSlot,
    )
    from lineclear.core.log.tables import Candidate, Run, Task
    from lineclear.core.queue.landing_results import NeedsYou, Stray
    from lineclear.core.runs.signs import RunEnd, Sign, Usage

    class OutputReader(Protocol):
        """Understands one client's output."""

        def feed(self, line: bytes, /) -> list[Sign]:
            """What a line says; nothing for a line that says nothing, never an exception."""

        def finish(self, exit_code: int | None) -> RunEnd:
            """The whole of it, once the process is gone."""

    class RunningClient(Protocol):
        """A started client with everybody it has started."""

        pid: int

        def exit_code(self) -> int | None: ...
        def is_child(self) -> bool: ...
        def was_started(self) -> bool: ...
        def has_ended(self) -> bool: ...
        def new_lines(self) -> list[bytes]: ...
        def skip_to_now(self) -> None: ...
        def last_words(self, most_bytes: int = 0, /) -> Iterable[bytes]: ...
        def output_bytes(self) -> int: ...
        def send(self, number: int, /) -> int: ...
        def sweep(self, grace_s: float, /) -> int: ...

    class RunBond(Protocol):
        name: str

        def inheritable(self) -> int: ...
        def release(self) -> None: ...

    class WorkPlaces(Protocol):
        """Worktrees of agents."""

        def prepare(self, caller: Caller, task: Task) -> RunPlace:
            """A worktree and a branch for this agent and task, provisioned. An old one of the same
            agent goes, if all that is in it is saved. Refuses with nothing left behind."""

        def find(self, caller: Caller, run: Run) -> RunPlace | None:
            """The place of an earlier run, when it is still there as that run left it."""

        def place_of(self, run: Run) -> RunPlace:
            """Where a run works, also when nothing is there any more."""

        def shared(self, caller: Caller) -> RunPlace:
            """For a worker without a worktree: the repository as it is, to read."""

        def discard(self, caller: Caller, place: RunPlace, why: str) -> None:
            """Remove it, if nothing in it would be lost; else leave it for a person."""

        def is_there(self, place: RunPlace) -> bool:
            """Is it still a worktree of this repository?"""

    class WorkSnapshots(Protocol):
        def take(self, agent: str, place: RunPlace, why: str, task: int) -> RunSnapshot | None:
            """Keep all that is in the worktree; None when nothing changed since the last time."""

        def latest(self, agent: str, place: RunPlace) -> RunSnapshot | None: ...

    class WorkLanding(Protocol):
        """The way of finished work to main."""

        def check(self, caller: Caller, task: Task, run: Run, place: RunPlace) -> CheckedRun:
            """Commit what was left uncommitted and hold the result against what the task asks for."""

        def land(self, caller: Caller, task: Task, branch: str) -> LandingResult:
            """Hand the branch to the queue; `run_queue` brings it to main, or sends it back."""

        def run_queue(
            self, caller: Caller, is_over: Callable[[], bool], tell: Callable[[QueueResult], None]
        ) -> int:
            """Run the queue until nothing more can be done, or `is_over`; `tell` gets what became of each.
            Gives the position of the log up to which all has been done that could be."""

        def returned(self, task: Task, place: RunPlace) -> str:
            """For the next attempt of work that came back: why, with all that its author needs."""

        def main_name(self) -> str: ...

        def settle(self, caller: Caller) -> list[str]:
            """Finish landings that were cut short; gives the tasks that have landed."""

        def strays(self, agents: Sequence[str], *, is_end: bool = False) -> list[tuple[str, str]]:
            """(agent, what was done about it) for those that have moved main themselves, whoever noticed
            it first. With `is_end` it is told for the last time: the agent's next run is another one."""

    class ClientStarter(Protocol):
        def start(
            self,
            slot: WorkerSlot,
            place: RunPlace,
            run: int,
            prompt: str,
            token: str,
            bond: RunBond,
            resume: str,
        ) -> tuple[RunningClient, str]:
            """Start the slot's client, in an earlier session if one is named: (it, its session if that is
            known already). OSError when its program cannot be started."""

        def find_again(self, run: Run) -> RunningClient: ...

        def reader(self, slot: WorkerSlot, place: RunPlace, before: Usage | None = None) -> OutputReader:
            """`before`: what the session had used when it was resumed; clients count it again."""

        def hold_bond(self) -> tuple[str, RunBond]:
            """A bond that the client inherits: (its name for the store, the bond)."""

        def new_token(self) -> tuple[str, str]:
            """(a secret that the client is given, its hash for the log)."""

        def why_missing(self, slot: WorkerSlot, error: OSError) -> str:
            """Why its program could not be started, and how to get it."""

        def forget(self, run: int) -> None:
            """Remove what only a live run needs; its output stays, as much as is to be kept."""

    class EarlierRuns(Protocol):
        """What is left of the runs of an earlier supervisor of this clone."""

        def is_of_this_clone(self, run: Run) -> bool: ...
        def is_of_earlier_boot(self, run: Run) -> bool: ...
        def is_bond_free(self, run: Run) -> bool:
            """Is everybody gone who had inherited the run's bond?"""

        def is_unattended(self, bond: str) -> bool:
            """Does no live process hold the bond under which an agent joined?"""

        def age_ns(self, run: Run) -> int: ...
        def oom_kills(self) -> int:
            """How often this host has killed a process for want of memory so far."""

    class SupervisorHost(Protocol):
        """Time, threads, and what the host tells about processes."""

        def now_ns(self) -> int: ...

        def submit(self, key: str, job: Callable[[RunPorts], Any], /) -> None:
            """Do the job beside us, with ports of its own; its answer comes with `wait`."""

        def wait(self, timeout_s: float, /) -> list[tuple[str, Any]]:
            """(key, answer or exception) of finished jobs; comes back early when one is done, a child
            ended, or a signal came."""

        def interrupts(self) -> int:
            """How often we were asked to stop (Ctrl-C, SIGTERM)."""

        def use(self, pids: list[int], /) -> dict[int, tuple[int, int]]:
            """Per leader: (time its family has been busy in ns, its memory in bytes)."""

        def is_worktree(self, path: str, /) -> bool: ...

        def free_disk_bytes(self) -> int: ...

        def disk_use_bytes(self, path: str, /) -> int: ...

    class SupervisorStatus(Protocol):
        """The supervisor's status, for other processes. A hint: a write that fails is not an error."""

        def write(self, status: dict[str, Any]) -> None: ...
        def read(self) -> dict[str, Any] | None: ...
        def remove(self) -> None: ...

    # -- what places and landing need in turn --------------------------------------------------

    class RunWorktrees(Protocol):
        def prepare(self, caller: Caller, task: int, base: str) -> RunPlace:
            """A fresh worktree for the caller, from the commit `base`, or from main without one."""

        def place_of(self, tree: str) -> RunPlace: ...

        def discard(self, caller: Caller, tree: str, why: str) -> None:
            """Remove it; refused when something in it would be lost."""

    class SnapshotTaker(Protocol):
        def take(self, agent: str, tree: str, path: str, why: str, task: int) -> RunSnapshot | None:
            """Save a worktree as it is; None when the agent's last snapshot holds exactly this."""

        def latest(self, agent: str) -> RunSnapshot | None: ...

    class ReturnedWorkPort(Protocol):
        """Work that came back from the queue, for its next attempt."""

        def candidate(self, task: Task) -> Candidate | None:
            """What the last attempt handed over, if it came back and its commits are still there."""

        def bring_main(self, caller: Caller, path: str, task: int) -> None:
            """Merge main into the worktree at `path` and leave conflicts open."""

        def end_sync(self, caller: Caller, path: str) -> None:
            """Repair a sync that was cut short there."""

        def tell(self, task: Task, path: str) -> str:
            """Why it came back, for the prompt; "" when nothing did."""

    class RunQueue(Protocol):
        def submit(self, caller: Caller, branch: str, task: int) -> str:
            """Hand in the caller's branch; gives the candidate's number as it is shown."""

        def run_once(
            self, caller: Caller, tell: Callable[[QueueNews], None], is_over: Callable[[], bool]
        ) -> int:
            """As `WorkLanding.run_queue`; refused with queue.running while another process runs it."""

        def settle(self, caller: Caller, *, lands: bool) -> list[str]: ...

    class MainBranch(Protocol):
        """The branch that work lands on."""

        def name(self) -> str: ...

        def find_stray(self) -> Stray | None:
            """The agent that moved it last; None when a person or a landing did."""

        def restore(self, stray: Stray) -> str | NeedsYou:
            """Move it back, with its files; says under which ref the agent's commits are kept."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunPorts:
    """Everything one thread of the supervisor needs to act."""

    store: Store
    liveness: Liveness
    presence: Presence
    trees: WorkPlaces
    snapshots: WorkSnapshots
    landing: WorkLanding
    clients: ClientStarter
    traces: EarlierRuns
