"""The supervisor's records: a slot per agent, where it works, and its live run.

one_run.py changes a single run, supervisor.py all of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from lineclear.core.runs.budgets import Amount, BudgetLimits
from lineclear.core.runs.client_events import Usage

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from lineclear.app.ports import Caller
    from lineclear.app.runs.ports import OutputReader, RunBond, RunningClient
    from lineclear.core.log.tables import Run
    from lineclear.core.runs.loops import LoopWatch
    from lineclear.core.runs.money import Price

NOTHING = Amount()
# Phases of a slot.
IDLE, STARTING, WORKING, ENDING, RESTING, CLOSED = (
    "idle",
    "starting",
    "working",
    "ending",
    "resting",
    "closed",
)


class RunPlace:
    """Where an agent works: its own worktree, or without one (`tree` is "") the main worktree, to read."""

    def __init__(
        self, tree: str, path: str, branch: str = "", base: str = "", env: dict[str, str] | None = None
    ) -> None:
        self.tree, self.path, self.branch, self.base, self.env = tree, path, branch, base, env or {}


class RunSnapshot:
    """A snapshot: its commit, its tree, and the files left out of it."""

    def __init__(self, commit: str, tree: str, left_out: Sequence[str] = ()) -> None:
        self.commit, self.tree, self.left_out = commit, tree, list(left_out)


class CheckedRun:
    """What the check of a finished run found: how the run ends, and notes for its task."""

    def __init__(
        self, how: str, reason: str = "", *, branch: str = "", result: str = "", notes: Sequence[str] = ()
    ) -> None:
        self.how, self.reason, self.branch, self.result, self.notes = how, reason, branch, result, list(notes)


LANDED, SENT_BACK, NEEDS_YOU, HANDED_OVER = "landed", "sent back", "needs you", "handed over"
# It waits for a claim that ends by itself; only as news.
DELAYED = "delayed"


@dataclass(frozen=True, slots=True)
class LandingResult:
    """What became of a branch; `state` is one of the four words above, or "dropped". `candidate`: its
    number in the queue, 0 if it is not there; `is_stranded`: it was handed over, but the queue did not get
    it."""

    state: str
    why: str = ""
    commit: str = ""
    candidate: int = 0
    is_stranded: bool = False


@dataclass(frozen=True, slots=True)
class QueueResult:
    """What became of a candidate; `task` is 0 if it has none."""

    candidate: int
    task: int
    landing: LandingResult


class WorkerSlot:
    """One agent that the supervisor keeps busy. The arguments are fixed, the other attributes change."""

    def __init__(
        self,
        agent: str,
        client: str,
        *,
        limits: BudgetLimits,
        labels: frozenset[str] = frozenset(),
        command: Sequence[str] = (),
        model: str = "",
        permissions: str = "edit",
        has_worktree: bool = True,
        env: dict[str, str] | None = None,
        stream: str = "",
        sandbox: str = "off",
        price: Price | None = None,
        tells_cost: bool = False,
    ) -> None:
        self.agent, self.client, self.limits, self.labels = agent, client, limits, labels
        self.command, self.model, self.permissions = list(command), model, permissions
        self.has_worktree, self.env, self.stream = has_worktree, env or {}, stream or client
        self.sandbox, self.price, self.tells_cost = sandbox, price, tells_cost
        self.phase, self.task, self.live = IDLE, 0, None
        self.rest_until_ns, self.rest_why, self.rests = 0, "", 0

    phase: str
    live: LiveRun | None


def slot_of(run: Run) -> WorkerSlot:
    """A slot for a run whose worker is no longer in the settings, to follow it to its end."""
    return WorkerSlot(
        run.agent, run.client, limits=BudgetLimits(), model=run.model, has_worktree=bool(run.tree)
    )


@dataclass(frozen=True, slots=True)
class Spent:
    """What the task and the day had used before this run began, as far as clients reported it."""

    task_tokens: Amount = NOTHING
    task_money_micros: Amount = NOTHING
    day_tokens: Amount = NOTHING
    day_money_micros: Amount = NOTHING


class LiveRun:
    """A run that has not ended, and what the supervisor knows about it."""

    def __init__(
        self, run: int, slot: WorkerSlot, caller: Caller, place: RunPlace, group: RunningClient,
        reader: OutputReader, bond: RunBond | None, *, task: int, title: str, attempt: int,
        watch: LoopWatch, now_ns: int,
    ) -> None:  # fmt: skip
        self.run, self.slot, self.caller, self.place = run, slot, caller, place
        self.group, self.reader, self.bond = group, reader, bond
        self.task, self.title, self.attempt, self.watch = task, title, attempt, watch
        self.usage, self.session, self.model, self.last_action = Usage(), "", "", "starting"
        self.named = ("", "")
        self.letters: list[int] = []
        self.has_spoken = False
        self.started_ns = self.active_ns = now_ns
        # -1: any CPU time makes the first snapshot due.
        self.saved_at_ns, self.saved_busy_ns, self.is_saving, self.tree_id = now_ns, -1, False, ""
        self.busy_ns = self.busy_seen_ns = self.memory_bytes = self.memory_peak_bytes = 0
        self.is_paused, self.paused_at_ns, self.paused_ns = False, 0, 0
        self.stopped_by, self.stop_detail, self.stop_hard_at_ns = "", "", 0
        self.strayed = ""
        self.spent = Spent()
        self.is_of_earlier_boot, self.oom_kills_before = False, 0
        self.is_bond_free: Callable[[], bool] = lambda: False

    def is_gone(self) -> bool:
        """Has the client exited? Our own child tells by its exit code. A predecessor's client tells by the
        end that it noted, or by its free bond; leftover daemons may hold the bond for ever."""
        if self.group.is_child():
            return self.group.exit_code() is not None
        return self.is_of_earlier_boot or self.group.has_ended() or self.is_bond_free()

    def worked_ms(self, now_ns: int) -> int:
        """How long it has worked, without pauses."""
        pause_ns = self.paused_ns + (now_ns - self.paused_at_ns if self.is_paused else 0)
        return (now_ns - self.started_ns - pause_ns) // 1_000_000


class SupervisorRules:
    """The rules that apply to all slots of a supervisor."""

    def __init__(
        self,
        *,
        silence_ms: int = 600_000,
        grace_ms: int = 10_000,
        lease_ms: int = 30 * 60_000,
        save_every_ms: int = 4_000,
        log_bytes: int = 256 << 20,
        prompt_bytes: int = 16 << 10,
        disk_floor_bytes: int = 256 << 20,
        heeds_loops: bool = True,
        only: Sequence[int] = (),
        is_staying: bool = False,
        lands: bool = False,
    ) -> None:
        self.silence_ns, self.grace_s, self.lease_ms = silence_ms * 1_000_000, grace_ms / 1000, lease_ms
        self.save_every_ns, self.log_bytes, self.prompt_bytes = (
            save_every_ms * 1_000_000,
            log_bytes,
            prompt_bytes,
        )
        self.disk_floor_bytes, self.heeds_loops = disk_floor_bytes, heeds_loops
        self.only, self.is_staying, self.lands = frozenset(only), is_staying, lands


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRequest:
    """What a person asked a supervisor for: how many agents, which client or command, which tasks.

    `lands` is None if the settings decide.
    """

    count: int = 0
    client: str = ""
    command: Sequence[str] = ()
    model: str = ""
    stream: str = ""
    tasks: Sequence[int] = ()
    is_staying: bool = False
    lands: bool | None = None
