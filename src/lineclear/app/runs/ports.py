"""What the supervisor needs from outside: clients as processes, worktrees, snapshots, landing.

Wiring implements these; each thread of a supervisor has a `Ground` of its own.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from typing import Protocol

    from lineclear.app.ports import Caller, Liveness, Presence, Store
    from lineclear.app.runs.workers import Came, Checked, Landed, Place, Saved, Slot
    from lineclear.core.log.tables import Run, Task
    from lineclear.core.runs.signs import RunEnd, Sign, Usage

    class Reader(Protocol):
        """Understands one client's output."""

        def feed(self, line: bytes, /) -> list[Sign]:
            """What a line says; nothing for a line that says nothing, never an exception."""

        def finish(self, exit_code: int | None) -> RunEnd:
            """The whole of it, once the process is gone."""

    class Group(Protocol):
        """A started client with everybody it has started."""

        pid: int

        def exit_code(self) -> int | None: ...
        def is_child(self) -> bool: ...
        def was_started(self) -> bool: ...
        def has_ended(self) -> bool: ...
        def new_lines(self) -> list[bytes]: ...
        def last_words(self, most_bytes: int = 0, /) -> Iterable[bytes]: ...
        def output_bytes(self) -> int: ...
        def send(self, number: int, /) -> int: ...
        def sweep(self, grace_s: float, /) -> int: ...

    class Bond(Protocol):
        name: str

        def inheritable(self) -> int: ...
        def release(self) -> None: ...

    class Trees(Protocol):
        """Worktrees of agents."""

        def prepare(self, caller: Caller, task: Task) -> Place:
            """A worktree and a branch for this agent and task, provisioned. An old one of the same
            agent goes, if all that is in it is saved. Refuses with nothing left behind."""

        def find(self, caller: Caller, run: Run) -> Place | None:
            """The place of an earlier run, when it is still there as that run left it."""

        def place_of(self, run: Run) -> Place:
            """Where a run works, also when nothing is there any more."""

        def shared(self, caller: Caller) -> Place:
            """For a worker without a worktree: the repository as it is, to read."""

        def discard(self, caller: Caller, place: Place, why: str) -> None:
            """Remove it, if nothing in it would be lost; else leave it for a person."""

        def is_there(self, place: Place) -> bool:
            """Is it still a worktree of this repository?"""

    class Snapshots(Protocol):
        def take(self, agent: str, place: Place, why: str, task: int) -> Saved | None:
            """Keep all that is in the worktree; None when nothing changed since the last time."""

        def latest(self, agent: str, place: Place) -> Saved | None: ...

    class Landing(Protocol):
        """The way of finished work to main."""

        def check(self, caller: Caller, task: Task, run: Run, place: Place) -> Checked:
            """Commit what was left uncommitted and hold the result against what the task asks for."""

        def land(self, caller: Caller, task: Task, branch: str) -> Landed:
            """Hand the branch to the queue; `run_queue` brings it to main, or sends it back."""

        def run_queue(self, caller: Caller, is_over: Callable[[], bool], tell: Callable[[Came], None]) -> int:
            """Run the queue until nothing more can be done, or `is_over`; `tell` gets what became of each.
            Gives the position of the log up to which all has been done that could be."""

        def returned(self, task: Task, place: Place) -> str:
            """For the next attempt of work that came back: why, with all that its author needs."""

        def main_name(self) -> str: ...

        def settle(self, caller: Caller) -> list[str]:
            """Finish landings that were cut short; gives the tasks that have landed."""

        def strays(self, agents: Sequence[str], *, is_end: bool = False) -> list[tuple[str, str]]:
            """(agent, what was done about it) for those that have moved main themselves, whoever noticed
            it first. With `is_end` it is told for the last time: the agent's next run is another one."""

    class Clients(Protocol):
        def start(
            self, slot: Slot, place: Place, run: int, prompt: str, token: str, bond: Bond, resume: str
        ) -> tuple[Group, str]:
            """Start the slot's client, in an earlier session if one is named: (it, its session if that is
            known already). OSError when its program cannot be started."""

        def find_again(self, run: Run) -> Group: ...

        def reader(self, slot: Slot, place: Place, before: Usage | None = None) -> Reader:
            """`before`: what the session had used when it was resumed; clients count it again."""

        def hold_bond(self, agent: str) -> tuple[str, Bond]:
            """A bond that the client inherits: (its name for the store, the bond)."""

        def new_token(self) -> tuple[str, str]:
            """(a secret that the client is given, its hash for the log)."""

        def why_missing(self, slot: Slot, error: OSError) -> str:
            """Why its program could not be started, and how to get it."""

        def forget(self, run: int) -> None:
            """Remove what only a live run needs; its output stays, as much as is to be kept."""

    class Traces(Protocol):
        """What is left of the runs of an earlier supervisor of this clone."""

        def is_of_this_clone(self, run: Run) -> bool: ...
        def is_of_earlier_boot(self, run: Run) -> bool: ...
        def is_bond_free(self, run: Run) -> bool:
            """Is everybody gone who had inherited the run's bond?"""

        def is_unattended(self, agent: str) -> bool:
            """Does no live process hold the bond under which the agent joined?"""

        def age_ns(self, run: Run) -> int: ...
        def oom_kills(self) -> int:
            """How often this host has killed a process for want of memory so far."""

        def slot_of(self, run: Run) -> Slot:
            """For a run whose worker is no longer among ours: enough to see it to its end."""

    class Ground(Protocol):
        """Everything one thread of the supervisor needs to act."""

        store: Store
        liveness: Liveness
        presence: Presence
        trees: Trees
        snapshots: Snapshots
        landing: Landing
        clients: Clients
        traces: Traces
