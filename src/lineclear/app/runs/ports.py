"""What the supervisor needs from outside: client processes, worktrees, snapshots, landing.

Each thread of a supervisor has its own `RunPorts`.
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
    from lineclear.core.runs.client_events import RunEnd, Sign, Usage

    class OutputReader(Protocol):
        """Parses one client's output."""

        def feed(self, line: bytes, /) -> list[Sign]:
            """What a line means; empty for a line that it does not know. Never raises."""

        def finish(self, exit_code: int | None) -> RunEnd:
            """How the run ended, once the process has exited."""

    class RunningClient(Protocol):
        """A started client and all processes that it has started."""

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
            """Make and provision a worktree and a branch for this agent and task. Removes the agent's old
            worktree if all its work is saved. A refusal leaves nothing behind."""

        def find(self, run: Run) -> RunPlace | None:
            """The worktree of an earlier run, if it is still as that run left it."""

        def place_of(self, run: Run) -> RunPlace:
            """Where a run works, even if its worktree is gone."""

        def shared(self) -> RunPlace:
            """The main worktree, to read, for a worker without its own."""

        def discard(self, caller: Caller, place: RunPlace, why: str) -> None:
            """Remove the worktree. Refuses if work in it would be lost."""

        def is_there(self, place: RunPlace) -> bool:
            """Is it still a worktree of this repository?"""

    class WorkSnapshots(Protocol):
        def take(self, agent: str, place: RunPlace, why: str, task: int) -> RunSnapshot | None:
            """Save everything in the worktree; None if nothing has changed since the last snapshot."""

        def latest(self, agent: str, place: RunPlace) -> RunSnapshot | None: ...

    class WorkLanding(Protocol):
        """Brings finished work to main."""

        def check(self, caller: Caller, task: Task, run: Run, place: RunPlace) -> CheckedRun:
            """Commit what was left uncommitted and compare the result with what the task asks for."""

        def land(self, caller: Caller, task: Task, branch: str) -> LandingResult:
            """Hand the branch to the queue; `run_queue` brings it to main, or sends it back."""

        def submit_again(self, caller: Caller) -> dict[int, str]:
            """Submit finished tasks that are not in the queue; returns those that still cannot be submitted
            here, and why. Those whose branch is in another clone are left to it."""

        def run_queue(
            self, caller: Caller, is_over: Callable[[], bool], tell: Callable[[QueueResult], None]
        ) -> int | None:
            """Run the queue until nothing more can be done, or `is_over`; `tell` gets each result. Returns
            the log position up to which nothing more can be done; None if another process runs it."""

        def returned(self, task: Task, place: RunPlace) -> str:
            """Why the task's work came back, with all that its author needs; "" if it did not."""

        def main_name(self) -> str: ...

        def settle(self, caller: Caller) -> list[str]:
            """Finish interrupted landings; returns the tasks that have landed."""

        def strays(self, agents: Sequence[str], *, is_end: bool = False) -> list[tuple[str, str]]:
            """(agent, what was done about it) for those that have moved main themselves, no matter which
            thread noticed it. With `is_end` they are forgotten: the agents' next runs are other runs."""

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
            """Start the slot's client, in the session `resume` if that is not "": (the client, its session or
            "" if not known yet). Raises OSError if its program cannot be started."""

        def find_again(self, run: Run) -> RunningClient: ...

        def reader(self, slot: WorkerSlot, place: RunPlace, before: Usage | None = None) -> OutputReader:
            """`before`: what a resumed session had used before; its client counts it again."""

        def hold_bond(self) -> tuple[str, RunBond]:
            """(its name in the store, a bond that the client inherits)."""

        def new_token(self) -> tuple[str, str]:
            """(a secret for the client, its hash for the log)."""

        def why_missing(self, slot: WorkerSlot, error: OSError) -> str:
            """Why its program could not be started, and how to get it."""

        def forget(self, run: int) -> None:
            """Remove what only a live run needs, and shorten its stored output."""

    class EarlierRuns(Protocol):
        """The traces that runs of an earlier supervisor of this clone left."""

        def is_of_this_clone(self, run: Run) -> bool: ...
        def is_of_earlier_boot(self, run: Run) -> bool: ...
        def is_bond_free(self, run: Run) -> bool:
            """Have all processes exited that inherited the run's bond?"""

        def is_unattended(self, bond: str) -> bool:
            """Does no live process hold the bond under which an agent joined?"""

        def age_ns(self, run: Run) -> int: ...
        def oom_kills(self) -> int:
            """How many processes this host has killed so far because it ran out of memory."""

    class SupervisorHost(Protocol):
        """Time, threads, and what the host knows about processes."""

        def now_ns(self) -> int: ...

        def submit(self, key: str, job: Callable[[RunPorts], Any], /) -> None:
            """Do the job in another thread, with its own ports; `wait` returns its answer."""

        def wait(self, timeout_s: float, /) -> list[tuple[str, Any]]:
            """(key, answer or exception) of finished jobs. Returns early when a job is done, a child has
            exited, or a signal came."""

        def interrupts(self) -> int:
            """How many times we were asked to stop (Ctrl-C, SIGTERM)."""

        def use(self, pids: list[int], /) -> dict[int, tuple[int, int]]:
            """pid -> (CPU time in ns, memory in bytes) of the process and all its descendants."""

        def is_worktree(self, path: str, /) -> bool: ...

        def free_disk_bytes(self) -> int: ...

        def disk_use_bytes(self, path: str, /) -> int: ...

    class SupervisorStatus(Protocol):
        """The supervisor's status, for other processes. It is only a hint: a failed write is not an error."""

        def write(self, status: dict[str, Any]) -> None: ...
        def read(self) -> dict[str, Any] | None: ...
        def remove(self) -> None: ...

    # -- what RunPlaces and RunLanding need ----------------------------------------------------

    class RunWorktrees(Protocol):
        def prepare(self, caller: Caller, task: int, base: str) -> RunPlace:
            """Make a worktree for the caller, from the commit `base`, or from main if that is ""."""

        def place_of(self, tree: str) -> RunPlace: ...

        def discard(self, caller: Caller, tree: str, why: str) -> None:
            """Remove it. Refuses if work in it would be lost."""

    class SnapshotTaker(Protocol):
        def take(self, agent: str, tree: str, path: str, why: str, task: int) -> RunSnapshot | None:
            """Save a worktree as it is; None if the agent's last snapshot holds exactly the same."""

        def latest(self, agent: str) -> RunSnapshot | None: ...

    class ReturnedWorkPort(Protocol):
        """Work that came back from the queue, for its next attempt."""

        def candidate(self, task: Task) -> Candidate | None:
            """The candidate of the last attempt, if it was sent back and its commits still exist."""

        def bring_main(self, caller: Caller, path: str, task: int) -> None:
            """Merge main into the worktree at `path` and leave conflicts open."""

        def end_sync(self, caller: Caller, path: str) -> None:
            """Repair an interrupted sync in the worktree at `path`."""

        def tell(self, task: Task, path: str) -> str:
            """Why the work came back, for the prompt; "" if it did not."""

    class RunQueue(Protocol):
        def submit(self, caller: Caller, branch: str, task: int) -> str:
            """Submit the caller's branch; returns the candidate's number as shown to people."""

        def submit_again(self, caller: Caller) -> dict[int, str]:
            """As `WorkLanding.submit_again`."""

        def run_once(
            self, caller: Caller, tell: Callable[[QueueNews], None], is_over: Callable[[], bool]
        ) -> int:
            """Like `WorkLanding.run_queue`. Refuses with queue.running while another process runs the
            queue."""

        def settle(self, caller: Caller, *, lands: bool) -> list[str]: ...

    class MainBranch(Protocol):
        """The branch that work lands on."""

        def name(self) -> str: ...

        def find_stray(self) -> Stray | None:
            """The agent that moved main last; None if a person or a landing did."""

        def restore(self, stray: Stray) -> str | NeedsYou:
            """Move main back, with its files; returns the ref that keeps the agent's commits."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunPorts:
    """Everything one thread of the supervisor needs to act. `scope`: the clone's prefix of worktree names in
    a team's store, else ""."""

    store: Store
    liveness: Liveness
    presence: Presence
    trees: WorkPlaces
    snapshots: WorkSnapshots
    landing: WorkLanding
    clients: ClientStarter
    traces: EarlierRuns
    scope: str
